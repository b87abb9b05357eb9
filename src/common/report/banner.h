#pragma once

#include <string>
#include <string_view>

#include "common/record/context.h"
#include "common/record/row.h"

namespace fabricbench {

/// The lines marked with `#` that the tables have in common. Each text is whole lines, or empty.

/// The program and its version.
[[nodiscard]] std::string starting_lines(const Context& context);
[[nodiscard]] std::string backend_lines(const Context& context);
/// Those of the backend, and the method. `meaning`: one clause on what the times are.
[[nodiscard]] std::string method_lines(const Context& context, std::string_view meaning);
[[nodiscard]] std::string device_lines(const Context& context);
[[nodiscard]] std::string notice_lines(const Context& context);

/// `rank 0 of host a -> rank 4 of host b`, with the ports where they are known:
/// `rank 0 of host a (mlx5_0 port 1) -> rank 4 of host b (mlx5_1 port 1)`.
[[nodiscard]] std::string pair_text(const Context& context, int pair);
/// Names a group, or a pair where the rows are about those.
[[nodiscard]] std::string group_line(const Context& context, int group);
[[nodiscard]] std::string skipped_line(const Row& row);

/// How many checks found wrong data.
[[nodiscard]] std::string wrong_line(const Ending& ending);
/// All that follows the closing lines; `statistics` is the table of --stats.
[[nodiscard]] std::string concluding_lines(const Context& context, const Ending& ending, std::string_view statistics);

}  // namespace fabricbench
