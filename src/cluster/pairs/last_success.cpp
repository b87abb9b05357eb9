#include "cluster/pairs/last_success.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace fabricbench::cluster {

std::vector<std::int32_t> last_success(const Sweep& sweep, std::int32_t rails) {
  std::vector<std::int32_t> rounds(sweep.hosts.size() * static_cast<std::size_t>(rails), -1);
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome != Outcome::kMeasured) continue;
    for (const auto& [host, rail] :
         {std::pair(reading.from, reading.from_rail), std::pair(reading.to, reading.to_rail)}) {
      const std::int32_t unit = host * rails + (rails == 1 ? 0 : rail);
      std::int32_t& last = rounds[static_cast<std::size_t>(unit)];
      last = std::max(last, reading.round);
    }
  }
  return rounds;
}

}  // namespace fabricbench::cluster
