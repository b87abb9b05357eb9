// Who keeps the others waiting, from what the ranks report.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/core/units.h"
#include "common/watch/process_table.h"

namespace fabricbench {

/// The most ranks that are named one by one.
inline constexpr std::size_t kMostNamed = 16;

/// What is said of a rank that sends nothing. `silences`: the time since each rank was heard, as far as known.
[[nodiscard]] std::string silent_text(int rank, const std::map<int, Seconds>& silences);

/// The findings from the process table, a line each. `reports`: of the processes that answered, by process. `names`: of
/// all processes. `silences`: as for silent_text.
[[nodiscard]] std::vector<std::string> who_is_missing(const std::map<int, ProcessReport>& reports,
                                                      const std::vector<std::string>& names,
                                                      const std::map<int, Seconds>& silences);

/// The ranks whose stack may show why, ascending, a few at most: those that are behind or asleep; if none is, the first
/// ones that wait. Only ranks that report can be asked.
[[nodiscard]] std::vector<int> ranks_to_ask(const std::map<int, ProcessReport>& reports);

}  // namespace fabricbench
