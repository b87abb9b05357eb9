#pragma once

#include <string>

#include "common/core/error.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// What only the first process can do, such as opening files; where it fails, every process throws its UsageError.
/// Collective. Other processes get a default value.
template <typename Action>
auto on_first_process(const mpi::Communicator& processes, Action action) {
  decltype(action()) result{};
  std::string problem;
  try {
    if (processes.is_root()) result = action();
  } catch (const UsageError& error) {
    problem = error.what();
  }
  problem = processes.broadcast(problem);
  if (!problem.empty()) throw UsageError(problem);
  return result;
}

}  // namespace fabricbench
