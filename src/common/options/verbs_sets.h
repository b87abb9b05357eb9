// What programs over RDMA verbs share: sets of options, and a limit.
#pragma once

#include <cstdint>

#include "common/options/option.h"

namespace fabricbench::verbs_sets {

inline constexpr std::int64_t kMostQueuePairs = 16384;

[[nodiscard]] OptionSet stall_timeout();  ///< --stall-timeout
[[nodiscard]] OptionSet port();           ///< -d -i -x

}  // namespace fabricbench::verbs_sets
