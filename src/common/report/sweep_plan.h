// What a sweep tells that plans its rounds from what it has measured (pairwise_bw --find).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/heat_map.h"

namespace fabricbench {

/// A round that begins.
struct SweepRound {
  std::int64_t round = 0;  ///< PairReading::round of what it will measure
  std::size_t pairs = 0;   ///< at the same time
  std::string why;         ///< for people
};

/// Something that is slow or does not work. Endpoints are named as the table has them.
struct SweepFinding {
  std::string blame;                   ///< such as `host` or `pair`
  std::string direction;               ///< `both`, `sends` or `receives`
  std::vector<std::string> endpoints;  ///< one, two of a pair, or all suspects
  double ratio = 0;                    ///< rate over what is expected, the median; 0 where all failed
  double rate = 0;                     ///< bytes per second, the median; 0 where all failed
  double expected = 0;                 ///< bytes per second
  std::int64_t readings = 0;
  std::int64_t failed = 0;
  std::int64_t partners = 0;  ///< different ones
  std::string text;           ///< a sentence for people
};

/// What a whole sweep says.
struct SweepVerdict {
  std::string judged;                   ///< `clean`, `slow` or `unknown`
  std::string why_over;                 ///< for people: why nothing more was measured
  std::vector<SweepFinding> findings;   ///< the worst first
  std::vector<std::string> open;        ///< what the readings leave undecided, a line each
  std::vector<std::string> not_judged;  ///< endpoints of which too little is known
  HeatLayout layout = {};               ///< of the map, by endpoint; empty where there are too many to draw
};

/// Endpoints that did not report of a round, so that the job has to end.
struct SilentEndpoints {
  std::int64_t round = 0;
  std::vector<int> endpoints;
};

}  // namespace fabricbench
