// Records of a sweep that plans its rounds from earlier readings (pairwise_bw --find).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/heat_map.h"
#include "common/record/field.h"

namespace fabricbench {

/// The start of a round.
struct SweepRound {
  std::int64_t round = 0;  ///< PairReading::round of its readings
  std::size_t pairs = 0;   ///< measured at the same time
  std::string why;         ///< reason, for readers
};

/// Something slow or broken. Endpoints have their names of the table.
struct SweepFinding {
  std::string blame;                   ///< such as `host` or `pair`
  std::string direction;               ///< `both`, `sends` or `receives`
  std::vector<std::string> endpoints;  ///< one, the two of a pair, or all suspects
  double ratio = 0;                    ///< median of rate over expected rate; 0: all failed
  double rate = 0;                     ///< bytes per second, the median; 0: all failed
  double expected = 0;                 ///< bytes per second
  std::int64_t readings = 0;
  std::int64_t failed = 0;
  std::int64_t partners = 0;  ///< number of different peers
  std::string text;           ///< one sentence for readers
};

/// The verdict on a whole sweep.
struct SweepVerdict {
  std::string judged;                   ///< `clean`, `slow` or `unknown`
  std::string why_over;                 ///< for readers: why measuring ended
  std::vector<SweepFinding> findings;   ///< worst first
  std::vector<std::string> open;        ///< undecided questions, a line each
  std::vector<std::string> not_judged;  ///< endpoints with too few readings
  std::vector<std::string> said = {};   ///< what a table says of findings, alike ones in a line
  HeatLayout layout = {};               ///< of the map, by endpoint; empty if there are too many to draw
};

/// Endpoints that did not report on a round, which ends the job.
struct SilentEndpoints {
  std::int64_t round = 0;
  std::vector<int> endpoints;
  std::vector<std::string> hosts;
};

template <typename Visitor, record::Of<SweepRound> Record>
void describe(Visitor& visitor, Record& round) {
  using namespace record;
  visitor.line("plan", "In a sweep with `--find`, before each round");
  visitor("round", natural(round.round), "number of the round, from 0");
  visitor("pairs", natural(round.pairs), "pairs measured at the same time");
  visitor("why", round.why, "purpose of the round, for readers");
}

template <typename Visitor, record::Of<SweepFinding> Record>
void describe(Visitor& visitor, Record& finding) {
  using namespace record;
  visitor.part("finding", "Something slow or broken");
  visitor("blame", finding.blame, "the culprit, as in `slow_links`");
  visitor("direction", finding.direction,
          "`both`, `sends` or `receives`; for a pair, `sends` is from the first of `endpoints` to the second");
  visitor("endpoints", finding.endpoints, "names: one, the two of a pair, or all suspects");
  visitor("percent_of_expected", null_if_none(percent(finding.ratio)),
          "median over readings of the bandwidth relative to the expected one; null: nothing was measured");
  visitor("bandwidth_gb_per_s", null_if_none(gb_per_s(finding.rate)),
          "`percent_of_expected` of the expected bandwidth");
  visitor("expected_gb_per_s", null_if_none(gb_per_s(finding.expected)), "median of the expected bandwidth");
  visitor("readings", natural(finding.readings), "number of readings it is based on");
  visitor("failed_readings", natural(finding.failed), "those without a figure");
  visitor("partners", natural(finding.partners), "number of different partners");
  visitor("text", finding.text, "one sentence for readers");
}

template <typename Visitor, record::Of<SweepVerdict> Record>
void describe(Visitor& visitor, Record& verdict) {
  using namespace record;
  visitor.line("verdict", "In a sweep with `--find`, the last line before `end`");
  visitor("judged", verdict.judged,
          "`clean`, `slow` or `unknown`: too few measurements to rule out that something is slow");
  visitor("why_over", verdict.why_over, "why measuring ended, for readers");
  visitor("findings", verdict.findings, "slow or broken things, worst first");
  visitor("open", verdict.open, "undecided questions, a line each, for readers");
  visitor("not_judged", verdict.not_judged, "names of endpoints with too few readings");
}

template <typename Visitor, record::Of<SilentEndpoints> Record>
void describe(Visitor& visitor, Record& silent) {
  using namespace record;
  visitor.line("silent", "Before a sweep ends early because endpoints did not report on a round in time");
  visitor("round", natural(silent.round), "round in which they were silent");
  visitor("endpoints", silent.endpoints, "their numbers");
  visitor("hosts", silent.hosts, "their hosts");
}

}  // namespace fabricbench
