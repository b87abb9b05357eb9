// Groups of hosts that may be one group, as far as is known from the readings.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fabricbench::cluster {

/// Pairs of groups that more readings have to tell apart. A host without a group is a group by itself.
struct OpenGroups {
  std::vector<std::int32_t> group_of;  ///< by host; below 0: not known
  /// Pairs that may be one group: too little was measured between them.
  std::vector<std::pair<std::int32_t, std::int32_t>> groups;
};

}  // namespace fabricbench::cluster
