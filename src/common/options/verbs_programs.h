// Programs over RDMA verbs: their options, whose letters are perftest's.
#pragma once

#include "common/options/program.h"

namespace fabricbench {

/// What a program of messages over verbs measures.
struct VerbsTest {
  Verb verb = Verb::kWrite;
  bool latency = false;    ///< one message at a time
  bool seen_by = false;    ///< when a message counts is a choice (--seen-by), and the program chooses the requests
  bool by_memory = false;  ///< a message's arrival shows in memory alone, without an end of its own: rdma_write_lat
};

[[nodiscard]] Program verbs_program(std::string name, std::string summary, const VerbsTest& test);

/// Connections over rdma_cm between the ranks of pairs.
[[nodiscard]] Program connection_program(std::string name, std::string summary);

}  // namespace fabricbench
