#include "common/engine/pair_rounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "cluster/schedule.h"

namespace fabricbench {
namespace {

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
  const cluster::Schedule schedule({.kind = ScheduleKind::kCircle, .endpoints = ranks, .concurrent = most});
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

Rounds rounds_of(const std::vector<Pair>& pairs, int ranks, std::int64_t concurrent) {
  const std::int64_t most = concurrent > 0 ? concurrent : std::numeric_limits<int>::max();
  if (are_disjoint(pairs)) return in_order(pairs.size(), static_cast<std::size_t>(most));
  return of_all(pairs, ranks, static_cast<int>(std::min<std::int64_t>(most, ranks)));
}

}  // namespace fabricbench
