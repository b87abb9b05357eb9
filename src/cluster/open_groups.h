// Which groups of hosts may be one, as far as was measured.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fabricbench::cluster {

/// What more readings have to tell of groups, a host of none being one by itself.
struct OpenGroups {
  std::vector<std::int32_t> group_of;                         ///< by host; below 0: not known
  std::vector<std::pair<std::int32_t, std::int32_t>> groups;  ///< that may be one: too little was measured between them
};

}  // namespace fabricbench::cluster
