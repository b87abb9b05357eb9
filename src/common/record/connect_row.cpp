#include "common/record/connect_row.h"

#include <algorithm>

#include "common/core/statistics.h"

namespace fabricbench {

ConnectTimes summarize(ConnectStep step, std::span<const Seconds> times, Seconds took) {
  constexpr double kTail = 0.99;
  ConnectTimes result;
  result.step = step;
  result.samples = static_cast<std::int64_t>(times.size());
  if (times.empty()) return result;
  std::vector<Seconds> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  result.min = sorted.front();
  result.median = median(sorted);
  if (result.samples >= samples_needed(kTail)) result.p99 = quantile(sorted, kTail);
  result.max = sorted.back();
  if (took > 0) result.rate = static_cast<double>(result.samples) / took;
  return result;
}

}  // namespace fabricbench
