#include "simulation/simulation.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/pairs/attribution/attribution.h"
#include "cluster/pairs/planning/open_questions.h"
#include "common/core/schedule.h"

namespace fabricbench::cluster {
namespace {

/// A thing that can be blamed: its kind, and which one.
enum class Thing : std::uint8_t { kHost, kPair, kBlock };

struct Named {
  Thing thing = Thing::kHost;
  std::int32_t first = 0;
  std::int32_t second = -1;
  Direction direction = Direction::kBoth;

  [[nodiscard]] auto key() const { return std::tuple(thing, first, second); }
};

/// The direction between two things, from the lower number to the higher.
Named between(Thing thing, std::int32_t first, std::int32_t second, Direction direction) {
  if (first <= second) return {thing, first, second, direction};
  if (direction == Direction::kSends) return {thing, second, first, Direction::kReceives};
  if (direction == Direction::kReceives) return {thing, second, first, Direction::kSends};
  return {thing, second, first, direction};
}

// Values in the place of the second leaf for things that are no pair of leaves.
constexpr std::int32_t kWholeLeaf = -1;
constexpr std::int32_t kWholeRail = -2;

Named name_of(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kPair: return between(Thing::kPair, fault.place, fault.other, fault.direction);
    case FaultKind::kDeadPair: return between(Thing::kPair, fault.place, fault.other, Direction::kBoth);
    case FaultKind::kLeaf: return {Thing::kBlock, fault.place, kWholeLeaf, fault.direction};
    case FaultKind::kLeafPair: return between(Thing::kBlock, fault.place, fault.other, fault.direction);
    case FaultKind::kSpine: return {Thing::kBlock, fault.place, kWholeLeaf, Direction::kBoth};
    case FaultKind::kRail: return {Thing::kBlock, fault.place, kWholeRail, Direction::kBoth};
    default: return {Thing::kHost, fault.place, -1, fault.direction};
  }
}

/// The thing that a finding blames for its deficit; nothing if it is undecided, or of another kind.
std::vector<Named> names_of(const Finding& finding) {
  if (is(finding, kOpen | kLostOthers | kOverDevices) || !has_deficit(finding)) return {};
  if (is_of_leaf(finding)) return {{Thing::kBlock, finding.leaf, kWholeLeaf, finding.direction}};
  if (finding.leaf >= 0) return {between(Thing::kBlock, finding.leaf, finding.other_leaf, finding.direction)};
  if (is_path(finding)) return {between(Thing::kPair, finding.hosts.at(0), finding.hosts.at(1), finding.direction)};
  if (finding.hosts.size() == 1) return {{Thing::kHost, finding.hosts.at(0), -1, finding.direction}};
  if (finding.rail >= 0) return {{Thing::kBlock, finding.rail, kWholeRail, Direction::kBoth}};
  return {};
}

/// How many things of a kind have a fault, were blamed, and were blamed without a fault.
struct Count {
  std::int64_t planted = 0;
  std::int64_t named = 0;
  std::int64_t wronged = 0;
};

Count count(Thing thing, const std::vector<Named>& planted, const std::vector<Named>& blamed) {
  Count count;
  for (const Named& fault : planted) {
    if (fault.thing != thing) continue;
    ++count.planted;
    const bool named = std::any_of(blamed.begin(), blamed.end(), [&](const Named& finding) {
      return finding.key() == fault.key() && finding.direction == fault.direction;
    });
    count.named += named ? 1 : 0;
  }
  std::set<std::tuple<Thing, std::int32_t, std::int32_t>> wronged;
  for (const Named& finding : blamed) {
    const bool guilty =
        std::any_of(planted.begin(), planted.end(), [&](const Named& fault) { return finding.key() == fault.key(); });
    if (finding.thing == thing && !guilty) wronged.insert(finding.key());
  }
  count.wronged = static_cast<std::int64_t>(wronged.size());
  return count;
}

void measure_round(const Fabric& fabric, const std::vector<Pair>& meetings, SimulatedSweep& result) {
  fabric.measure(meetings, static_cast<std::int32_t>(result.rounds), result.sweep);
  ++result.rounds;
  result.meetings += static_cast<std::int64_t>(meetings.size());
}

/// The pairs of open follow-ups. A follow-up on one host gets a partner that is no suspect, another one each time.
std::vector<Pair> asked_for(const SimulatedSweep& result) {
  const std::vector<std::int32_t> healthy = hosts_without_suspicion(result.verdict, result.sweep.hosts.size());
  std::vector<Pair> meetings;
  std::size_t turn = static_cast<std::size_t>(result.rounds);
  for (const FollowUp& follow_up : result.verdict.follow_ups) {
    std::int32_t other = follow_up.other;
    if (other < 0 && !healthy.empty()) other = healthy[turn++ % healthy.size()];
    if (other >= 0 && other != follow_up.host) meetings.push_back({follow_up.host, other});
  }
  return meetings;
}

/// Removes from `meetings`, and returns, as many as can take place at the same time.
std::vector<Pair> take_round(std::vector<Pair>& meetings, std::size_t hosts) {
  std::vector<char> busy(hosts, 0);
  std::vector<Pair> round;
  std::erase_if(meetings, [&](const Pair& meeting) {
    char& first = busy[static_cast<std::size_t>(meeting.first)];
    char& second = busy[static_cast<std::size_t>(meeting.second)];
    if (first != 0 || second != 0) return false;
    first = second = 1;
    round.push_back(meeting);
    return true;
  });
  return round;
}

}  // namespace

SimulatedSweep simulate(const Fabric& fabric, const SweepPlan& plan, const VerdictSettings& settings) {
  SimulatedSweep result;
  result.sweep = fabric.empty_sweep();
  const Planner planner(plan);
  for (;;) {
    const PlannedRound round = planner.next(result.sweep, [&] { return judge(result.sweep, settings); });
    if (round.meetings.empty()) break;
    fabric.measure(round.meetings, static_cast<std::int32_t>(round.number), result.sweep);
    ++result.rounds;
    result.meetings += static_cast<std::int64_t>(round.meetings.size());
  }
  result.verdict = judge(result.sweep, settings);
  return result;
}

SimulatedSweep simulate_in_batches(const Fabric& fabric, const SweepPlan& plan, const VerdictSettings& settings) {
  SimulatedSweep result;
  result.sweep = fabric.empty_sweep();
  const Schedule schedule(plan.schedule);
  for (std::int64_t round = 0; round < schedule.rounds(); ++round) {
    measure_round(fabric, schedule.round(round), result);
  }
  result.verdict = judge(result.sweep, settings);
  const std::int64_t last = result.rounds + plan.most_extra_rounds;
  for (;;) {
    std::vector<Pair> meetings = asked_for(result);
    if (meetings.empty() || result.rounds >= last) return result;
    while (!meetings.empty() && result.rounds < last) {
      measure_round(fabric, take_round(meetings, result.sweep.hosts.size()), result);
    }
    result.verdict = judge(result.sweep, settings);
  }
}

Score score_of(const Fabric& fabric, const SimulatedSweep& sweep) {
  std::vector<Named> planted;
  for (const Fault& fault : fabric.plan().faults) planted.push_back(name_of(fault));
  std::vector<Named> blamed;
  for (const Finding& finding : sweep.verdict.findings) {
    for (const Named& name : names_of(finding)) blamed.push_back(name);
  }
  Score score;
  const Count hosts = count(Thing::kHost, planted, blamed);
  const Count pairs = count(Thing::kPair, planted, blamed);
  const Count blocks = count(Thing::kBlock, planted, blamed);
  score.sweeps = 1;
  std::tie(score.slow_hosts, score.slow_hosts_named, score.hosts_wronged) =
      std::tuple(hosts.planted, hosts.named, hosts.wronged);
  std::tie(score.slow_pairs, score.slow_pairs_named, score.pairs_wronged) =
      std::tuple(pairs.planted, pairs.named, pairs.wronged);
  std::tie(score.blocks, score.blocks_named, score.blocks_wronged) =
      std::tuple(blocks.planted, blocks.named, blocks.wronged);
  score.rounds = sweep.rounds;
  score.meetings = sweep.meetings;
  return score;
}

Score operator+(const Score& a, const Score& b) {
  Score sum = a;
  sum.sweeps += b.sweeps;
  sum.slow_hosts += b.slow_hosts;
  sum.slow_hosts_named += b.slow_hosts_named;
  sum.hosts_wronged += b.hosts_wronged;
  sum.slow_pairs += b.slow_pairs;
  sum.slow_pairs_named += b.slow_pairs_named;
  sum.pairs_wronged += b.pairs_wronged;
  sum.blocks += b.blocks;
  sum.blocks_named += b.blocks_named;
  sum.blocks_wronged += b.blocks_wronged;
  sum.rounds += b.rounds;
  sum.meetings += b.meetings;
  return sum;
}

}  // namespace fabricbench::cluster
