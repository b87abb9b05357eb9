// What readings are expected to reach, where somebody has said so.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/attribution/model.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// What one direction of a reading has to reach, in bytes per second: what was given, or a share of the rate of the
/// port that is slower, as far as ports are known. 0: nobody knows.
[[nodiscard]] double expected_of(const Sweep& sweep, std::size_t place, const VerdictSettings& settings);

/// The rate of one direction of a reading.
[[nodiscard]] inline double one_direction(const Reading& reading) {
  const auto rate = static_cast<double>(reading.rate);
  return reading.both_ways ? rate / 2 : rate;
}

/// What readings have to reach by stratum, the medians; 0 where it is not known.
[[nodiscard]] std::vector<double> expected_by_stratum(const Model& model);

}  // namespace fabricbench::cluster
