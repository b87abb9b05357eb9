// The rates that readings have to reach, if the settings say so.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/attribution/model.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// The rate that one direction of a reading has to reach, in bytes per second: the given one, or a share of the rate of
/// the slower of its two ports, as far as these are known. 0: not known.
[[nodiscard]] double expected_of(const Sweep& sweep, std::size_t place, const VerdictSettings& settings);

/// The rate of one direction of a reading.
[[nodiscard]] inline double one_direction(const Reading& reading) {
  const auto rate = static_cast<double>(reading.rate);
  return reading.both_ways ? rate / 2 : rate;
}

/// By stratum, the median of the rates that its readings have to reach; 0: not known.
[[nodiscard]] std::vector<double> expected_by_stratum(const Model& model);

}  // namespace fabricbench::cluster
