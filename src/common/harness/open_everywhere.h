#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// What went wrong in a step that all processes take, before they go on together.
struct StepProblem {
  ExitStatus status = ExitStatus::kOk;
  std::string text;
};

/// Throws, on every process, the Error of the worst status and of the first process that had one, with its rank and
/// host unless all had the same. Collective.
void agree_on_problem(const mpi::Communicator& world, const std::string& host, const StepProblem& own);

/// Takes a step of opening on every process. Where something is wrong or missing on one, all throw the error of the
/// first such. Collective; `open` itself must not be.
template <typename Open>
[[nodiscard]] auto open_everywhere(const mpi::Communicator& world, const std::string& host, Open open)
    -> decltype(open()) {
  std::optional<decltype(open())> opened;
  StepProblem problem;
  try {
    opened.emplace(open());
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kMissing && error.status() != ExitStatus::kUsage) throw;
    problem = {error.status(), error.what()};
  }
  agree_on_problem(world, host, problem);
  return std::move(*opened);
}

/// Every rank's text on every rank, by rank. Collective.
[[nodiscard]] std::vector<std::string> all_gather(const mpi::Communicator& group, const std::string& text);

}  // namespace fabricbench
