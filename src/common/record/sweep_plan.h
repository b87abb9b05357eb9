// What a sweep tells that plans its rounds from what it has measured (pairwise_bw --find).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/heat_map.h"
#include "common/record/field.h"

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
  std::vector<std::string> hosts;
};

template <typename Form, record::Of<SweepRound> Record>
void describe(Form& form, Record& round) {
  using namespace record;
  form.line("plan", "Of a sweep with `--find`, before each round");
  form("round", natural(round.round), "its number, from 0");
  form("pairs", natural(round.pairs), "at the same time");
  form("why", round.why, "for people: what it is for");
}

template <typename Form, record::Of<SweepFinding> Record>
void describe(Form& form, Record& finding) {
  using namespace record;
  form.part("finding", "Something that is slow or does not work");
  form("blame", finding.blame, "what is to blame, as in `slow_links`");
  form("direction", finding.direction,
       "`both`, `sends` or `receives`; of a pair, `sends` is from the first of `endpoints` to the second");
  form("endpoints", finding.endpoints, "by name: one, the two of a pair, or all suspects");
  form("percent_of_expected", null_if_none(percent(finding.ratio)),
       "the median share of what was expected of each reading; null where nothing was measured");
  form("bandwidth_gb_per_s", null_if_none(gb_per_s(finding.rate)), "that share of the expectation");
  form("expected_gb_per_s", null_if_none(gb_per_s(finding.expected)), "the expectation, the median");
  form("readings", natural(finding.readings), "on which it rests");
  form("failed_readings", natural(finding.failed), "of them, those without a figure");
  form("partners", natural(finding.partners), "different ones");
  form("text", finding.text, "a sentence for people");
}

template <typename Form, record::Of<SweepVerdict> Record>
void describe(Form& form, Record& verdict) {
  using namespace record;
  form.line("verdict", "Of a sweep with `--find`, last but for `end`");
  form("judged", verdict.judged, "`clean`, `slow` or `unknown`: too little was measured to say that nothing is slow");
  form("why_over", verdict.why_over, "for people: why no more was measured");
  form("findings", verdict.findings, "what is slow or does not work, the worst first");
  form("open", verdict.open, "for people, a line each: what the readings leave undecided");
  form("not_judged", verdict.not_judged, "endpoints of which too little is known, by name");
}

template <typename Form, record::Of<SilentEndpoints> Record>
void describe(Form& form, Record& silent) {
  using namespace record;
  form.line("silent", "Of a sweep that is about to break off, since endpoints did not report of a round in time");
  form("round", natural(silent.round), "");
  form("endpoints", silent.endpoints, "their numbers");
  form("hosts", silent.hosts, "their hosts");
}

}  // namespace fabricbench
