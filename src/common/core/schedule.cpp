#include "common/core/schedule.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/core/random.h"

namespace fabricbench {
namespace {

/// A seed of its own for each `stream`.
std::vector<int> shuffled(int endpoints, std::uint64_t seed, std::uint64_t stream) {
  std::seed_seq seeds{seed & 0xffffffff, seed >> 32, stream};
  std::mt19937_64 random(seeds);
  std::vector<int> order(static_cast<std::size_t>(endpoints));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, random);
  return order;
}

int rounds_before_splitting(const SchedulePlan& plan) {
  if (plan.endpoints < 2) return 0;
  const bool one_is_idle = plan.kind != ScheduleKind::kShift && plan.endpoints % 2 == 1;
  const int all = one_is_idle ? plan.endpoints : plan.endpoints - 1;
  if (plan.rounds == 0) return all;
  return plan.kind == ScheduleKind::kRandom ? plan.rounds : std::min(plan.rounds, all);
}

/// The places of meeting `index` of a round of the circle method. With an odd number, the endpoint that would meet the
/// virtual endpoint has no meeting. The endpoint at the fixed place would be first in every round, so first and second
/// alternate.
Pair on_circle(int endpoints, int round, int index) {
  const bool odd = endpoints % 2 == 1;
  const int circle = odd ? endpoints : endpoints - 1;
  const int step = odd ? index + 1 : index;
  if (step > 0) return {(round + step) % circle, (round - step + circle) % circle};
  return round % 2 == 0 ? Pair{circle, round} : Pair{round, circle};
}

using Rounds = std::vector<std::vector<int>>;

bool are_disjoint(const std::vector<Pair>& pairs) {
  std::set<int> ranks;
  for (const auto& [first, second] : pairs) {
    if (!ranks.insert(first).second || !ranks.insert(second).second) return false;
  }
  return true;
}

Rounds in_order(std::size_t pairs, std::size_t most) {
  Rounds rounds;
  for (std::size_t number = 0; number < pairs; ++number) {
    if (number % most == 0) rounds.emplace_back();
    rounds.back().push_back(static_cast<int>(number));
  }
  return rounds;
}

Rounds of_all(const std::vector<Pair>& pairs, int ranks, int most) {
  std::map<std::pair<int, int>, int> numbers;
  for (std::size_t number = 0; number < pairs.size(); ++number) {
    numbers[std::minmax(pairs[number].first, pairs[number].second)] = static_cast<int>(number);
  }
  const Schedule schedule({.kind = ScheduleKind::kCircle, .endpoints = ranks, .concurrent = most});
  Rounds rounds;
  for (std::int64_t round = 0; round < schedule.rounds(); ++round) {
    rounds.emplace_back();
    for (const auto& [first, second] : schedule.round(round)) {
      rounds.back().push_back(numbers.at(std::minmax(first, second)));
    }
    std::sort(rounds.back().begin(), rounds.back().end());
  }
  const auto first = std::find_if(rounds.begin(), rounds.end(), [](const auto& round) { return round.front() == 0; });
  std::rotate(rounds.begin(), first, rounds.end());
  return rounds;
}

}  // namespace

Schedule::Schedule(const SchedulePlan& plan)
    : plan_(plan),
      order_(shuffled(plan.endpoints, plan.seed, 0)),
      whole_rounds_(rounds_before_splitting(plan)),
      meetings_(plan.kind == ScheduleKind::kShift ? plan.endpoints : plan.endpoints / 2) {
  if (plan.concurrent > 0 && meetings_ > plan.concurrent) parts_ = (meetings_ - 1) / plan.concurrent + 1;
}

std::vector<Pair> Schedule::round(std::int64_t number) const {
  if (number < 0 || number >= rounds()) {
    throw std::out_of_range(fmt::format("round {} of a schedule that has {}, from 0 on", number, rounds()));
  }
  const auto whole_round = static_cast<int>(number / parts_);
  // Parts differ by at most one meeting, so that they load the network equally and their results are comparable.
  const std::int64_t part = number % parts_;
  const auto begin = static_cast<int>(part * meetings_ / parts_);
  const auto end = static_cast<int>((part + 1) * meetings_ / parts_);
  const bool random = plan_.kind == ScheduleKind::kRandom;
  const std::vector<int> drawn =
      random ? shuffled(plan_.endpoints, plan_.seed, static_cast<std::uint64_t>(whole_round) + 1) : std::vector<int>();
  const std::vector<int>& order = random ? drawn : order_;
  std::vector<Pair> meetings;
  meetings.reserve(static_cast<std::size_t>(end - begin));
  for (int index = begin; index < end; ++index) {
    const auto [first, second] = places(whole_round, index);
    meetings.push_back({order[static_cast<std::size_t>(first)], order[static_cast<std::size_t>(second)]});
  }
  return meetings;
}

Pair Schedule::places(int round, int index) const {
  switch (plan_.kind) {
    case ScheduleKind::kCircle: return on_circle(plan_.endpoints, round, index);
    case ScheduleKind::kShift: return {index, (index + round + 1) % plan_.endpoints};
    case ScheduleKind::kRandom: break;
  }
  return {2 * index, 2 * index + 1};
}

Rounds rounds_of(const std::vector<Pair>& pairs, int ranks, std::int64_t concurrent) {
  const std::int64_t most = concurrent > 0 ? concurrent : std::numeric_limits<int>::max();
  if (are_disjoint(pairs)) return in_order(pairs.size(), static_cast<std::size_t>(most));
  return of_all(pairs, ranks, static_cast<int>(std::min<std::int64_t>(most, ranks)));
}

}  // namespace fabricbench
