// Which pairs are measured in which round: how many at a time, in which order, and how often.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/core/names.h"
#include "common/core/pairs.h"

namespace fabricbench {

/// The order in which N endpoints are paired.
enum class ScheduleKind {
  kCircle,  ///< every pair once, in rounds of disjoint pairs: N-1 rounds for even N; N rounds for odd N, each with one
            ///< endpoint idle
  kShift,   ///< every ordered pair once, as in mpiGraph: in each of N-1 rounds all endpoints send and receive
  kRandom,  ///< random pairs of all endpoints in each round (one is idle if N is odd); pairs may repeat
};
constexpr auto names_of(ScheduleKind) { return std::to_array<std::string_view>({"circle", "shift", "random"}); }

/// What a schedule is to be. Nothing in it is negative.
struct SchedulePlan {
  ScheduleKind kind = ScheduleKind::kCircle;
  int endpoints = 0;  ///< N
  std::uint64_t seed =
      0;               ///< of the order of the endpoints, so that rounds do not follow racks, and of kRandom's pairs
  int rounds = 0;      ///< maximum number, before `concurrent` splits them; 0: all (of kRandom as many as of kCircle)
  int concurrent = 0;  ///< maximum number of meetings in a round; a round with more is split; 0: no limit
};

/// Which endpoints meet in which round. A round is computed when it is needed: 16384 endpoints have 134 million pairs,
/// and a schedule stores the order of the endpoints only. The same plan gives the same schedule on every machine and
/// with every C++ library. The numbers below are places in the order of the endpoints.
///
/// kCircle is the circle method of round-robin tournaments, a 1-factorisation of the complete graph of N endpoints, N
/// even. If N is odd, a virtual endpoint is added, and the endpoint that meets it is idle. Endpoint N-1 keeps its
/// place; the others stand in a circle and move on by one from round to round. In round r endpoint N-1 meets r, and r+i
/// meets r-i modulo N-1, for i from 1 to N/2-1. In any k rounds each endpoint meets k others, or k-1 if it was idle
/// once. Each endpoint is first in a meeting as often as second, give or take one.
///
/// kShift: in round d, counted from 1, i sends to i+d and receives from i-d modulo N.
class Schedule {
 public:
  explicit Schedule(const SchedulePlan& plan);

  /// The rounds, after splitting; 0 where fewer than two endpoints are.
  [[nodiscard]] std::int64_t rounds() const { return whole_rounds_ * parts_; }
  /// The rounds before splitting, how many meetings each of them has, and into how many it is split.
  [[nodiscard]] std::int64_t whole_rounds() const { return whole_rounds_; }
  [[nodiscard]] int meetings() const { return meetings_; }
  [[nodiscard]] int parts() const { return parts_; }

  /// The meetings of a round, from 0 on: disjoint pairs, but for kShift, whose flows have each endpoint send at most
  /// once and receive at most once. Throws std::out_of_range where there is no such round.
  [[nodiscard]] std::vector<Pair> round(std::int64_t number) const;

 private:
  /// The places in the order of the endpoints that meeting `index` of a round before splitting has.
  [[nodiscard]] Pair places(int round, int index) const;

  SchedulePlan plan_;
  std::vector<int> order_;         // of the endpoints
  std::int64_t whole_rounds_ = 0;  // before splitting
  int meetings_ = 0;               // in a whole round
  int parts_ = 1;                  // of a whole round
};

/// Divides pairs into rounds of pairs that are measured at the same time. Returns the numbers of each round's pairs,
/// ascending. No two pairs of a round have a rank in common, and a round has at most `concurrent` pairs (0: no limit).
/// The first round begins with pair 0. Every pair is in one round. `pairs` must either have no rank in common, and then
/// keep their order, or be all pairs that `ranks` ranks can form.
[[nodiscard]] std::vector<std::vector<int>> rounds_of(const std::vector<Pair>& pairs, int ranks,
                                                      std::int64_t concurrent);

}  // namespace fabricbench
