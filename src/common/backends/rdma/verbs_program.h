#pragma once

#include <string>

#include "common/backends/rdma/rdma_test.h"
#include "common/backends/rdma/verbs_sessions.h"
#include "common/options/verbs_programs.h"
#include "common/programs/run_program.h"

namespace fabricbench {

/// Runs a program that measures requests over RDMA verbs. `MessageTest` determines the order of requests.
template <typename MessageTest>
[[nodiscard]] int run_verbs_program(const std::string& name, const std::string& summary, const VerbsTest& what,
                                    int argc, char** argv) {
  return run_program(verbs_program(name, summary, what), MessageTest(name, what.verb),
                     VerbsSessions(what.verb, what.seen_by), argc, argv);
}

}  // namespace fabricbench
