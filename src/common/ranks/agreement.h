// One process's error becomes everybody's: steps that all processes take, or only the first of them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// What went wrong in a step on this process; kOk: nothing.
struct StepProblem {
  ExitStatus status = ExitStatus::kOk;
  std::string text;
};

/// Throws, on every process, the Error of the worst status and of the first process that had one, with its rank and
/// host unless all had the same. Collective.
void throw_everywhere(const mpi::Communicator& processes, const StepProblem& own);

/// Throws the first process's problem on every process. Collective.
void throw_of_first(const mpi::Communicator& processes, const StepProblem& own);

/// Takes a step on every process. Where something is wrong or missing on one, all throw the error of the first such.
/// Collective; `action` itself must not be.
template <typename Action>
[[nodiscard]] auto everywhere(const mpi::Communicator& processes, Action action) -> decltype(action()) {
  std::optional<decltype(action())> result;
  StepProblem problem;
  try {
    result.emplace(action());
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kMissing && error.status() != ExitStatus::kUsage) throw;
    problem = {error.status(), error.what()};
  }
  throw_everywhere(processes, problem);
  return std::move(*result);
}

/// Takes a step that only the first process can, such as opening files. Where it fails there, all throw its error.
/// Collective. Other processes get a default value.
template <typename Action>
[[nodiscard]] auto on_first_process(const mpi::Communicator& processes, Action action) -> decltype(action()) {
  decltype(action()) result{};
  StepProblem problem;
  try {
    if (processes.is_root()) result = action();
  } catch (const Error& error) {
    problem = {error.status(), error.what()};
  }
  throw_of_first(processes, problem);
  return result;
}

/// Every rank's text on every rank, by rank. Collective.
[[nodiscard]] std::vector<std::string> all_gather(const mpi::Communicator& group, const std::string& text);

}  // namespace fabricbench
