#include "common/ranks/agreement.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/host/identity.h"

namespace fabricbench {
namespace {

/// The first problem of a process, with its rank and host unless all processes have the same one. Empty on processes
/// other than the job's first, which get no problems.
std::string first_problem(const std::vector<std::string>& problems, const std::vector<std::string>& hosts) {
  const auto first = std::find_if(problems.begin(), problems.end(), [](const auto& text) { return !text.empty(); });
  if (first == problems.end()) return "";
  if (std::count(problems.begin(), problems.end(), *first) == static_cast<std::ptrdiff_t>(problems.size()))
    return *first;
  const auto rank = static_cast<std::size_t>(first - problems.begin());
  return fmt::format("rank {}, host {}: {}", rank, hosts[rank], *first);
}

}  // namespace

void throw_everywhere(const mpi::Communicator& processes, const StepProblem& own) {
  const std::int64_t worst = processes.max(static_cast<std::int64_t>(own.status));
  if (worst == 0) return;
  throw Error(static_cast<ExitStatus>(worst),
              processes.broadcast(first_problem(processes.gather(own.text), processes.gather(host::host_name()))));
}

void throw_of_first(const mpi::Communicator& processes, const StepProblem& own) {
  const std::int64_t status = processes.broadcast(static_cast<std::int64_t>(own.status));
  if (status != 0) throw Error(static_cast<ExitStatus>(status), processes.broadcast(own.text));
}

std::vector<std::string> all_gather(const mpi::Communicator& group, const std::string& text) {
  return broadcast_from_first(group, group.gather(text));
}

}  // namespace fabricbench
