#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/report/connect_row.h"
#include "common/report/copy_row.h"
#include "common/report/row.h"

namespace fabricbench {

/// Rows and records as bytes, for a process of the same program on a like machine.
[[nodiscard]] std::string pack(const std::vector<Row>& rows);
[[nodiscard]] std::vector<Row> unpack(std::string_view packed);
[[nodiscard]] std::string pack(const std::vector<CopyRow>& rows);
[[nodiscard]] std::vector<CopyRow> unpack_copies(std::string_view packed);
[[nodiscard]] std::string pack(const ConnectRow& row);
[[nodiscard]] ConnectRow unpack_connections(std::string_view packed);
[[nodiscard]] std::string pack(EpochRecord record);
[[nodiscard]] EpochRecord unpack_epoch(std::string_view packed);

}  // namespace fabricbench
