#include "common/engine/pair_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/schedule.h"
#include "common/core/wording.h"
#include "common/host/files.h"
#include "common/host/identity.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

std::string read_pairs(const std::string& path) {
  const auto text = host::read_text(path);
  if (text) return *text;
  throw UsageError(
      fmt::format("--pairs {}: there is no such rule, and no file of that name to read; write adjacent, halves, hosts, "
                  "loopback, many-to-one, one-to-many, all, shift:K, ranks such as 0-1,2-3, or a file that exists",
                  path));
}

/// The number of ranks of a process: 1, or 2 if the process drives both GPUs of its pair.
int ranks_of_process(const Options& options) {
  if (options.nccl.gpus <= 2) return static_cast<int>(options.nccl.gpus);
  throw UsageError(
      fmt::format("-g {}: a process drives the two GPUs of a pair, not more; write -g 2, or leave out -g "
                  "and start a process for each GPU",
                  options.nccl.gpus));
}

/// Checks -g 2: each pair must consist of the two ranks of one process.
void check_pairs(const std::vector<Pair>& pairs, int local_ranks) {
  if (local_ranks == 1) return;
  for (const auto& [first, second] : pairs) {
    if (first % 2 == 0 && second == first + 1) continue;
    throw UsageError(
        fmt::format("-g 2 pairs a process's first GPU with its second, and ranks {} and {} are not these; "
                    "write --pairs adjacent, or leave out -g and start a process for each GPU",
                    first, second));
  }
}

PairChoice choose(const std::string& rule, const std::vector<std::string>& hosts, int local_ranks) {
  std::vector<std::string> by_rank;
  by_rank.reserve(hosts.size() * static_cast<std::size_t>(local_ranks));
  for (const std::string& host : hosts) by_rank.insert(by_rank.end(), static_cast<std::size_t>(local_ranks), host);
  PairChoice choice = choose_pairs(rule, by_rank, names_a_file(rule) ? read_pairs(rule) : "");
  check_pairs(choice.pairs, local_ranks);
  return choice;
}

std::string rule_of(const Sessions* sessions, const Options& options, const std::vector<std::string>& hosts) {
  if (!options.pairs.empty()) return options.pairs;
  const bool one_host = std::all_of(hosts.begin(), hosts.end(), [&](const auto& host) { return host == hosts[0]; });
  return sessions == nullptr ? "" : std::string(sessions->default_pairs(options, one_host));
}

/// The first process's choice, for all other processes.
struct ChosenPairs {
  std::vector<Pair> pairs;
  std::vector<std::string> hosts;  // by process
  std::string rule;
  std::vector<std::string> notices;
};

template <typename Visitor, record::Of<ChosenPairs> Message>
void describe(Visitor& visitor, Message& chosen) {
  visitor.internal(chosen.pairs, chosen.hosts, chosen.rule, chosen.notices);
}

std::string rounds_line(const std::vector<std::vector<int>>& rounds) {
  std::size_t most = 0;
  for (const std::vector<int>& round : rounds) most = std::max(most, round.size());
  return fmt::format("Rounds: {}, one after the other, with at most {} at the same time", rounds.size(),
                     counted(most, "pair"));
}

/// The processes of these pairs without duplicates, in the order of the pairs.
std::vector<int> processes_of(const PairPlan& plan, const std::vector<int>& numbers) {
  std::vector<int> processes;
  std::set<int> known;
  for (const int number : numbers) {
    const auto [first, second] = plan.pairs[static_cast<std::size_t>(number)];
    for (const int rank : {first, second}) {
      if (known.insert(rank / plan.local_ranks).second) processes.push_back(rank / plan.local_ranks);
    }
  }
  return processes;
}

/// The processes of `among` that `processes` lists, in the order of that list.
std::optional<mpi::Communicator> take(const mpi::Communicator& among, int process, const std::vector<int>& processes) {
  const auto place = std::find(processes.begin(), processes.end(), process);
  return among.split(place == processes.end() ? std::nullopt : std::optional(0),
                     static_cast<int>(place - processes.begin()));
}

/// `sessions`: may supply the default rule; may be null.
PairPlan plan_for(const mpi::Communicator& job, const Sessions* sessions, const Options& options) {
  PairPlan plan;
  plan.local_ranks = ranks_of_process(options);
  const std::vector<std::string> hosts = job.gather(host::host_name());
  const auto own = on_first_process(job, [&]() -> ChosenPairs {
    PairChoice choice = choose(rule_of(sessions, options, hosts), hosts, plan.local_ranks);
    return {std::move(choice.pairs), hosts, std::move(choice.rule), std::move(choice.notices)};
  });
  ChosenPairs chosen = broadcast_from_first(job, own);
  plan.pairs = std::move(chosen.pairs);
  plan.hosts = std::move(chosen.hosts);
  plan.rounds = rounds_of(plan.pairs, job.size() * plan.local_ranks, options.concurrent);
  plan.notices.push_back(fmt::format("Pairs: {}", chosen.rule));
  plan.notices.insert(plan.notices.end(), chosen.notices.begin(), chosen.notices.end());
  if (plan.rounds.size() > 1) plan.notices.push_back(rounds_line(plan.rounds));
  return plan;
}

}  // namespace

PairPlan without_pairs(PairPlan plan, const std::set<int>& numbers) {
  std::vector<Pair> kept;
  std::vector<int> new_numbers(plan.pairs.size(), -1);
  for (std::size_t old = 0; old < plan.pairs.size(); ++old) {
    if (numbers.count(static_cast<int>(old)) > 0) continue;
    new_numbers[old] = static_cast<int>(kept.size());
    kept.push_back(plan.pairs[old]);
  }
  plan.pairs = std::move(kept);
  for (std::vector<int>& round : plan.rounds) {
    std::erase_if(round, [&](int number) { return numbers.count(number) > 0; });
    for (int& number : round) number = new_numbers[static_cast<std::size_t>(number)];
  }
  std::erase_if(plan.rounds, [](const std::vector<int>& round) { return round.empty(); });
  return plan;
}

PairPlan plan_pairs(const mpi::Communicator& job, const Sessions& sessions, const Options& options) {
  return plan_for(job, &sessions, options);
}

std::optional<mpi::Communicator> members_of_round(const mpi::Communicator& among, int process, const PairPlan& plan,
                                                  const std::vector<int>& round) {
  return take(among, process, processes_of(plan, round));
}

ActiveProcesses active_processes_of(const mpi::Communicator& job, const PairPlan& plan) {
  std::vector<int> numbers;
  for (const std::vector<int>& round : plan.rounds) numbers.insert(numbers.end(), round.begin(), round.end());
  return {false, take(job, job.rank(), processes_of(plan, numbers)), plan.notices};
}

ActiveProcesses choose_active_processes(const mpi::Communicator& job, const std::string& program,
                                        const Options& options) {
  const PairPlan plan = plan_for(job, nullptr, options);
  if (plan.rounds.size() == 1) return active_processes_of(job, plan);
  throw UsageError(
      fmt::format("--pairs {}: {} measures all pairs at the same time, so a rank can be in only one; "
                  "write hosts, halves or adjacent",
                  options.pairs, program));
}

}  // namespace fabricbench
