#pragma once

#include <span>
#include <string>

#include "common/record/context.h"
#include "common/record/row.h"

namespace fabricbench {

/// The table of --stats: a line for each row and placement that was run, all marked with `#`. Where there are several
/// groups, a line above those of each.
[[nodiscard]] std::string statistics_table(const Context& context, std::span<const Row> rows);

}  // namespace fabricbench
