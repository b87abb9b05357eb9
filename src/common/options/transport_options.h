#pragma once

#include <cstdint>

#include "common/core/options.h"
#include "common/options/option_sets.h"

/// The type of connection of an RDMA program, and what depends on it.
namespace fabricbench {

inline constexpr Bytes kLargestDatagram = 4096;  ///< of UD: the largest MTU there is

/// -c, with the types that requests of this verb have.
[[nodiscard]] OptionSet transport_of(Verb verb);
/// Sets what the chosen type leaves no choice of, and limits default sizes to what it can send.
void complete_transport(Options& options, Verb verb);
/// Throws UsageError where an option means nothing with the chosen type.
void check_transport(const Options& options, Verb verb);

/// What programs over RDMA verbs share: sets of options, and a limit.
namespace verbs_sets {

inline constexpr std::int64_t kMostQueuePairs = 16384;

[[nodiscard]] OptionSet stall_timeout();  ///< --stall-timeout
[[nodiscard]] OptionSet port();           ///< -d -i -x

}  // namespace verbs_sets
}  // namespace fabricbench
