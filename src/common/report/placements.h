#pragma once

#include <vector>

#include "common/record/json.h"
#include "common/record/row.h"

namespace fabricbench {

/// The measurements of a row, one per placement: the fields of the measurement, those of the row as `row`, and `out` or
/// `in` as `placement`.
[[nodiscard]] std::vector<record::Json> placements(const Row& row);

}  // namespace fabricbench
