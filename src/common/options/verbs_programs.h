// Programs over RDMA verbs, with perftest's option letters.
#pragma once

#include <cstdint>

#include "common/core/options.h"
#include "common/options/option_sets.h"
#include "common/options/program.h"

/// The type of connection of an RDMA program, and what depends on it.

namespace fabricbench {

/// The measurement of a program over verbs.
struct VerbsTest {
  Verb verb = Verb::kWrite;
  bool latency = false;    ///< one message at a time
  bool seen_by = false;    ///< --seen-by chooses the event at which a message counts, and the program the requests
  bool by_memory = false;  ///< a message's arrival shows only in memory, without a completion: rdma_write_lat
};

[[nodiscard]] Program verbs_program(const std::string& name, const std::string& summary, const VerbsTest& test);

/// Connections over rdma_cm between the ranks of pairs.
[[nodiscard]] Program connection_program(const std::string& name, const std::string& summary);

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
