#pragma once

#include <cstdint>
#include <vector>

#include "cluster/sweep/flow.h"
#include "common/core/options.h"
#include "common/core/schedule.h"

namespace fabricbench::sweep {

[[nodiscard]] SchedulePlan plan_of(const Options& options, int endpoints, std::uint64_t seed);

/// Flows at the same time: the meetings of a round in one direction. A round of mpiGraph has only one.
struct Step {
  std::int64_t number = 0;  ///< from 0
  std::int64_t round = 0;
  bool back = false;   ///< from the second endpoint of each meeting to the first
  bool pings = false;  ///< the latency is measured too
  std::vector<Meeting> meetings;
};

/// The steps of a sweep, computed one by one.
class Steps {
 public:
  Steps(const Options& options, int endpoints, std::uint64_t seed);

  [[nodiscard]] std::int64_t count() const { return schedule_.rounds() * per_round_; }
  [[nodiscard]] Step step(std::int64_t number) const;

 private:
  Schedule schedule_;
  std::int64_t per_round_;
};

/// What `endpoint` sends and receives in a step; empty if it is idle.
[[nodiscard]] Flows flows_of(const Step& step, int endpoint);
/// The same for all endpoints, by endpoint.
[[nodiscard]] std::vector<Flows> flows_of_all(const Step& step, int endpoints);

}  // namespace fabricbench::sweep
