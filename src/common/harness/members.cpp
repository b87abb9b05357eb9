#include "common/harness/members.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/pairs.h"
#include "common/harness/first_process.h"
#include "common/host/files.h"
#include "common/host/identity.h"

namespace fabricbench {
namespace {

std::string read_pairs(const std::string& path) {
  const auto text = host::read_text(path);
  if (!text) throw UsageError(fmt::format("cannot read the pairs '{}'; give a file that exists, or a rule", path));
  return *text;
}

PairChoice choose(const std::string& rule, const std::vector<std::string>& hosts) {
  return choose_pairs(rule, hosts, names_a_file(rule) ? read_pairs(rule) : "");
}

/// 2k for the first of pair k, 2k+1 for the second; -1 for a process that is in none.
std::int64_t seat_of(int process, const std::vector<Pair>& pairs) {
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    if (pairs[pair].first == process) return static_cast<std::int64_t>(2 * pair);
    if (pairs[pair].second == process) return static_cast<std::int64_t>(2 * pair + 1);
  }
  return -1;
}

}  // namespace

Members choose_members(const mpi::Communicator& job, const Collective& collective, const Options& options) {
  const std::string rule = options.pairs.empty() ? std::string(collective.default_pairs()) : options.pairs;
  const std::vector<std::string> hosts = job.gather(host::host_name());
  const PairChoice choice = on_first_process(job, [&] { return choose(rule, hosts); });
  std::vector<std::int64_t> seats;
  for (int process = 0; job.is_root() && process < job.size(); ++process) {
    seats.push_back(seat_of(process, choice.pairs));
  }
  const std::int64_t seat = job.scatter(seats);
  Members members;
  members.communicator = job.split(seat < 0 ? std::nullopt : std::optional(0), static_cast<int>(seat));
  // The members' first process reports, and need not be the job's.
  std::istringstream lines(job.broadcast(fmt::format("Pairs: {}\n{}", choice.rule, fmt::join(choice.notices, "\n"))));
  for (std::string line; std::getline(lines, line);) members.notices.push_back(line);
  return members;
}

}  // namespace fabricbench
