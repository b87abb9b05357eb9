// What a verdict costs: judging a simulated sweep of many hosts.
//
// usage: judge_scale HOSTS [ROUNDS]
//
// Simulates a sweep of HOSTS hosts, 32 behind each leaf, over ROUNDS rounds or all pairs, with 1 % noise, outliers, a
// slow host, a NIC that is slow in one direction, and a slow pair. Prints hosts, rounds, readings, the processor time
// of one judgement in seconds, and the largest resident memory in MiB, of the sweep itself too.

#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

#include "cluster/pairs/attribution/attribution.h"
#include "common/core/schedule.h"
#include "common/host/usage.h"
#include "simulation/fabric.h"

namespace fabricbench::cluster {
namespace {

Sweep measure(int hosts, int rounds) {
  FabricPlan plan;
  plan.hosts = hosts;
  plan.leaf_size = 32;
  for (const char* fault : {"host:3:0.9", "nic:5:0:0.8:sends", "pair:1:2:0.7"})
    plan.faults.push_back(parse_fault(fault));
  const Fabric fabric(plan);
  SchedulePlan schedule_plan;
  schedule_plan.endpoints = hosts;
  schedule_plan.rounds = rounds;
  const Schedule schedule(schedule_plan);
  Sweep sweep = fabric.empty_sweep();
  sweep.readings.reserve(static_cast<std::size_t>(schedule.rounds()) * static_cast<std::size_t>(hosts));
  for (std::int64_t round = 0; round < schedule.rounds(); ++round) {
    fabric.measure(schedule.round(round), static_cast<std::int32_t>(round), sweep);
  }
  return sweep;
}

void run(int hosts, int rounds) {
  const Sweep sweep = measure(hosts, rounds);
  const std::clock_t began = std::clock();
  const Verdict verdict = judge(sweep);
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  fmt::print("{} hosts, {} rounds, {} readings: {:.2f} s of processor time, {:.0f} MiB resident at most, {} findings\n",
             hosts, sweep.readings.back().round + 1, verdict.readings, seconds,
             static_cast<double>(host::peak_resident_bytes().value_or(0)) / (1 << 20), verdict.findings.size());
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  const int hosts = argc > 1 ? std::atoi(argv[1]) : 0;
  if (hosts < 4) {
    fmt::print(stderr, "usage: judge_scale HOSTS [ROUNDS], with 4 hosts or more\n");
    return 2;
  }
  fabricbench::cluster::run(hosts, argc > 2 ? std::atoi(argv[2]) : 0);
  return 0;
}
