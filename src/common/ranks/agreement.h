// Steps of all processes, or of the first one alone, whose errors are thrown on every process.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/mpi/communicator.h"
#include "common/record/packing.h"

namespace fabricbench {

/// The problem of a step on this process; kOk: none.
struct StepProblem {
  ExitStatus status = ExitStatus::kOk;
  std::string text;
};

/// Throws the same Error on every process: the worst status, and the text of the first process that has a problem with
/// it, with rank and host unless all have the same problem. Collective.
void throw_everywhere(const mpi::Communicator& processes, const StepProblem& own);

/// Throws the first process's problem on every process. Collective.
void throw_of_first(const mpi::Communicator& processes, const StepProblem& own);

/// Takes a step on every process. If it throws an Error (usage, missing) on some, all throw one of these, as
/// throw_everywhere chooses it. Collective; `action` itself must not be.
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

/// Takes a step on the first process only, such as opening files. If it throws there, all processes throw its error.
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

// Typed data between the processes of a job, of any type that record/packing.h can pack. All functions are collective.

/// Every process's value, by process, on the first one; empty on the others.
template <typename T>
[[nodiscard]] std::vector<T> gather_on_first(const mpi::Communicator& processes, const T& own) {
  std::vector<T> all;
  for (const std::string& packed : processes.gather(record::pack(own))) all.push_back(record::unpack<T>(packed));
  return all;
}

/// The same for lists, joined into one list.
template <typename T>
[[nodiscard]] std::vector<T> gather_lists_on_first(const mpi::Communicator& processes, const std::vector<T>& own) {
  std::vector<T> all;
  for (std::vector<T>& list : gather_on_first(processes, own)) {
    for (T& each : list) all.push_back(std::move(each));
  }
  return all;
}

/// The first process's value, on every process.
template <typename T>
[[nodiscard]] T broadcast_from_first(const mpi::Communicator& processes, const T& own) {
  return record::unpack<T>(processes.broadcast(processes.is_root() ? record::pack(own) : std::string()));
}

}  // namespace fabricbench
