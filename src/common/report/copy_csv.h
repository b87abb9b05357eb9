#pragma once

#include <string>

#include "common/report/copy_row.h"

namespace fabricbench {

/// The header of --csv where rows are copies, and the line of one.
[[nodiscard]] std::string copy_csv_header();
[[nodiscard]] std::string copy_csv_line(const CopyRow& row);

}  // namespace fabricbench
