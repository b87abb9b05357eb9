// What planning the next round of a sweep costs, in process: a sweep of simulated hosts, all alike but one.
//
// usage: plan_round HOSTS [ROUNDS]
//
// Plans ROUNDS rounds for all hosts (12), each from all readings of those before, and prints the slowest and the median
// time of a round in ms, and once more with --find, as long as no verdict is asked for.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/pairs/planning/planner.h"
#include "common/core/clock.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

void measure(const PlannedRound& round, Sweep& sweep) {
  for (const Pair& meeting : round.meetings) {
    for (const auto& [from, to] :
         {std::pair(meeting.first, meeting.second), std::pair(meeting.second, meeting.first)}) {
      Reading reading{from, to};
      reading.round = static_cast<std::int32_t>(round.number);
      reading.concurrent = static_cast<std::int32_t>(round.meetings.size());
      reading.rate = to == 0 ? 5e9F : 10e9F;
      sweep.readings.push_back(reading);
    }
  }
}

void run(int hosts, int rounds, bool find) {
  Sweep sweep;
  for (int host = 0; host < hosts; ++host) sweep.hosts.push_back(fmt::format("node-{:05}", host));
  SweepPlan plan;
  plan.schedule.endpoints = hosts;
  plan.both_directions = true;
  plan.find = find;
  limit_rounds(plan, rounds);
  plan.least_rounds = rounds;
  const Planner planner(plan);
  std::vector<double> times;
  bool is_judged = false;  // judging is measured elsewhere
  const auto judge = [&] {
    is_judged = true;
    return Verdict();
  };
  while (true) {
    const Seconds began = now();
    const PlannedRound round = planner.next(sweep, judge);
    const Seconds took = now() - began;
    if (round.meetings.empty() || is_judged) break;
    times.push_back(took);
    measure(round, sweep);
  }
  fmt::print("{} hosts{}, {} rounds, {} readings: {:.2f} ms for the next round at most, {:.2f} ms the median\n", hosts,
             find ? " to find" : "", times.size(), sweep.readings.size(),
             1e3 * *std::max_element(times.begin(), times.end()), 1e3 * median(times));
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: plan_round HOSTS [ROUNDS]\n");
    return 2;
  }
  for (const bool find : {false, true}) {
    fabricbench::cluster::run(std::atoi(argv[1]), argc > 2 ? std::atoi(argv[2]) : 12, find);
  }
  return 0;
}
