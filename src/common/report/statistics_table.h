#pragma once

#include <span>
#include <string>

#include "common/record/context.h"
#include "common/record/row.h"

namespace fabricbench {

/// The table of --stats: a line for each row and placement that was run, all marked with `#`. With several groups, a
/// line above each group's part.
[[nodiscard]] std::string statistics_table(const Context& context, std::span<const Row> rows);

}  // namespace fabricbench
