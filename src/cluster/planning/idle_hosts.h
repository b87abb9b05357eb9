// Hosts that a round leaves without a partner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/planning/survey.h"
#include "cluster/readings.h"
#include "cluster/schedule.h"

namespace fabricbench::cluster {

/// Hosts that take part and have nobody to meet among `meetings`; where these are to complete the last round, those
/// that were engaged in it are not idle either.
[[nodiscard]] std::vector<std::int32_t> idle_hosts(const Survey& survey, bool is_completed,
                                                   const std::vector<Meeting>& meetings);

/// Adds pairs of these hosts, each with the first that it has not met, up to `at_once` meetings in all.
void pair_idle_hosts(const Sweep& sweep, std::vector<std::int32_t> idle, std::size_t at_once,
                     std::vector<Meeting>& meetings);

}  // namespace fabricbench::cluster
