// Programs over RDMA verbs, with perftest's option letters.
#pragma once

#include "common/options/program.h"

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

}  // namespace fabricbench
