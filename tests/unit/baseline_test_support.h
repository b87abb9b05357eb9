// Launches as baselines keep them, made up for tests.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/record/baseline.h"

namespace fabricbench::test {

inline constexpr std::time_t kFirstDay = 1'750'000'000;
inline constexpr std::time_t kDay = 86'400;

/// A launch with one row for each time: sizes 8, 16, 32 ... bytes.
inline baseline::Launch launch_with(const std::vector<Seconds>& times, std::time_t began = kFirstDay) {
  baseline::Launch launch;
  launch.start.began = began;
  launch.start.identity = {{"program", "all_reduce_perf"}, {"hosts", "node[01-04]"}, {"carried_by", "eth0"}};
  Bytes size = 4;
  for (const Seconds time : times) {
    baseline::RowTimes row;
    row.key.datatype = "float";
    row.key.size = size *= 2;
    row.time = time;
    row.epochs = {time, time};
    launch.rows.push_back(std::move(row));
  }
  launch.start.rows = static_cast<std::int64_t>(launch.rows.size());
  return launch;
}

/// Launches on `days` days, each time with a relative standard deviation of `spread`, and another of `shared` that all
/// rows of a launch have in common.
inline std::vector<baseline::Launch> launches_with(const std::vector<Seconds>& times, int launches, int days,
                                                   double spread, std::uint64_t seed = 1, double shared = 0) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> noise;
  std::vector<baseline::Launch> made;
  for (int launch = 0; launch < launches; ++launch) {
    std::vector<Seconds> own;
    const double of_all = shared > 0 ? shared * noise(generator) : 0;
    for (const Seconds time : times) own.push_back(time * std::exp(of_all + spread * noise(generator)));
    made.push_back(launch_with(own, kFirstDay + kDay * (launch * days / launches)));
  }
  return made;
}

}  // namespace fabricbench::test
