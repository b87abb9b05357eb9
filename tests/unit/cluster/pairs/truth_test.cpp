// What the record of a verdict says of random sweeps, compared with the readings themselves; and what a report has to
// show of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/verdict_record.h"
#include "cluster/hosts/host_list.h"
#include "cluster/pairs/attribution/attribution.h"
#include "cluster/pairs/report/verdict_text.h"
#include "random_sweeps.h"
#include "recount.h"

namespace fabricbench::cluster {
namespace truth_test {

class Truth {
 public:
  Truth(const Sweep& sweep, const Verdict& verdict)
      : sweep_(sweep), verdict_(verdict), record_(record_of(sweep, verdict, {}, {})), recount_(sweep, verdict, 0.05) {}

  /// What is not true, a line each.
  std::vector<std::string> lies() {
    check_lists();
    check_readings();
    for (const FindingRecord& finding : record_.findings) check(finding);
    check_report();
    return lies_;
  }

 private:
  void expect(bool holds, const std::string& what) {
    if (!holds) lies_.push_back(what);
  }

  [[nodiscard]] std::int32_t host(const std::string& name) const {
    return static_cast<std::int32_t>(std::find(sweep_.hosts.begin(), sweep_.hosts.end(), name) - sweep_.hosts.begin());
  }

  void check_lists() {
    std::vector<std::string> all;
    const ListsRecord& lists = record_.lists;
    for (const HostSet* set : {&lists.slow, &lists.dead, &lists.cut_off, &lists.wrong_data, &lists.unsteady,
                               &lists.suspect, &lists.not_judged, &lists.fine}) {
      all.insert(all.end(), set->hosts.begin(), set->hosts.end());
    }
    std::sort(all.begin(), all.end());
    expect(all == sweep_.hosts, "lists have every host once");
    expect((record_.judged == Judged::kSlow) == !record_.findings.empty() || record_.judged == Judged::kUnknown,
           "the conclusion");
    expect(record_.judged != Judged::kClean || record_.questions.empty(), "nothing is slow, and something is open");
  }

  void check_readings() {
    std::int64_t readings = 0;
    std::int64_t failed = 0;
    for (const Reading& reading : sweep_.readings) {
      readings += reading.outcome == Outcome::kNotTried ? 0 : 1;
      failed += reading.outcome == Outcome::kFailed ? 1 : 0;
    }
    expect(record_.readings == readings && record_.failed == failed, "the number of readings");
  }

  void check(const FindingRecord& finding) {
    const bool decided = finding.blame != Blame::kUndecided && finding.blame != Blame::kAll;
    expect(!decided || finding.false_alarm <= 0.01, finding.text + " | blamed, though it may be chance");
    const bool of_meetings = finding.slow_meetings.has_value();  // of which each has several readings
    expect(of_meetings || finding.failed <= finding.readings, finding.text + " | failed");
    if (finding.ratio) {
      expect(std::abs(*finding.ratio * finding.expected - finding.rate) < 1e-3 * finding.expected,
             finding.text + " | its share");
      const bool may_be_small = !decided || finding.blame == Blame::kTransient;
      expect(may_be_small || *finding.ratio < 0.97, finding.text + " | that is not slow");
    }
    if (finding.hosts.size() == 1) check_host(finding);
    const bool of_path = finding.blame == Blame::kPair || finding.blame == Blame::kDeadPair;
    if (of_path) check_path(finding);
  }

  [[nodiscard]] std::int32_t rail(const std::string& name) const {
    const auto found = std::find(sweep_.rails.begin(), sweep_.rails.end(), name);
    return name.empty() || found == sweep_.rails.end() ? -1 : static_cast<std::int32_t>(found - sweep_.rails.begin());
  }

  static About::Way way_of(Direction direction) {
    return direction == Direction::kBoth    ? About::Way::kEither
           : direction == Direction::kSends ? About::Way::kSends
                                            : About::Way::kReceives;
  }

  void check_host(const FindingRecord& finding) {
    const About about{.host = host(finding.hosts[0]), .way = way_of(finding.direction), .rail = rail(finding.rail)};
    const Recount::Partners partners = recount_.partners(about);
    expect(finding.partners <= static_cast<std::int64_t>(sweep_.hosts.size()) - 1, finding.text + " | partners");
    if (finding.blame == Blame::kHost || finding.blame == Blame::kNic) {
      expect(finding.ratio.has_value() ? finding.readings <= recount_.measured(about)
                                       : finding.readings <= recount_.failed(about),
             finding.text + " | readings");
      if (finding.ratio)
        expect(finding.slow_partners.value_or(0) <= static_cast<std::int64_t>(partners.may_be_slow.size()),
               finding.text + " | slow partners");
    }
    if (finding.blame == Blame::kDead) {
      expect(finding.readings <= recount_.failed(about) && finding.readings > 0, finding.text + " | failures");
    }
    if (finding.blame == Blame::kTransient) check_meetings(finding, about);
    expect(!finding.confirmed || recount_.seen_again_alone({.host = about.host}), finding.text + " | confirmed");
  }

  void check_meetings(const FindingRecord& finding, const About& about) {
    std::set<std::pair<std::int32_t, std::int32_t>> all;
    std::set<std::int32_t> bad_rounds;
    for (const Recount::Seen& one : recount_.seen(about)) {
      all.emplace(one.other, one.reading->round);
      if (recount_.may_be_slow(one.share)) bad_rounds.insert(one.reading->round);
    }
    expect(*finding.slow_meetings <= finding.readings && finding.readings <= static_cast<std::int64_t>(all.size()),
           finding.text + " | meetings");
    for (const std::int32_t round : *finding.slow_rounds)
      expect(bad_rounds.contains(round), fmt::format("{} | round {}", finding.text, round));
  }

  void check_path(const FindingRecord& finding) {
    const About about{
        .host = host(finding.hosts[0]), .way = way_of(finding.direction), .other = host(finding.hosts[1])};
    const auto seen = static_cast<std::int64_t>(recount_.seen(about).size());
    expect(finding.readings <= seen && finding.readings > 0, finding.text + " | readings");
    if (finding.blame == Blame::kPair) expect(recount_.bad(about) > 0, finding.text + " | nothing is slow");
    expect(!finding.confirmed || recount_.seen_again_alone(about), finding.text + " | confirmed");
  }

  /// The report is short, and all of it is in --long; whoever has a deficit above a half is in both.
  void check_report() {
    const std::string text = verdict_text(sweep_, verdict_, {}, {});
    const auto lines = std::count(text.begin(), text.end(), '\n');
    const auto faults = std::count_if(verdict_.findings.begin(), verdict_.findings.end(),
                                      [](const Finding& each) { return each.blame != Blame::kUndecided; });
    expect(lines <= (faults < 2 ? 25 : 60), fmt::format("the report has {} lines", lines));
    expect(text.starts_with(record_.headline + ".\n"), "the headline");
    const std::string all = verdict_text(sweep_, verdict_, {}, {.all = true});
    for (const FindingRecord& finding : record_.findings) {
      expect(all.find("  " + finding.text + "\n") != std::string::npos, finding.text + " | not in --long");
      const bool is_large = finding.ratio.value_or(0) < 0.5 && finding.blame != Blame::kDevice;
      for (const std::string& name : finding.hosts)
        expect(!is_large || names_in(text).contains(name), name + " is not in the report");
    }
  }

  /// Names of hosts above the lists; folded ones too.
  static std::set<std::string> names_in(const std::string& text) {
    std::set<std::string> names;
    for (std::size_t at = text.find('\n'); (at = text.find('h', at)) != std::string::npos; ++at) {
      const std::size_t end = text.find_first_not_of("h0123456789[],-", at);
      std::string word = text.substr(at, end - at);
      while (!word.empty() && (word.back() == ',' || word.back() == '-')) word.pop_back();
      try {
        HostList list;
        list.add_list(word, "");
        for (const std::string& name : list.names()) names.insert(name);
      } catch (const std::exception&) {  // another word
      }
    }
    return names;
  }

  const Sweep& sweep_;
  const Verdict& verdict_;
  VerdictRecord record_;
  Recount recount_;
  std::vector<std::string> lies_;
};

std::uint64_t sweeps_to_read() {
  const char* asked = std::getenv("FABRICBENCH_RANDOM_SWEEPS");
  return asked == nullptr ? 2000 : std::strtoull(asked, nullptr, 10);
}

TEST(Truth, OfRecordsOnRandomSweeps) {
  std::size_t liars = 0;
  std::map<std::string, int> blames;
  for (std::uint64_t seed = 1; seed <= sweeps_to_read(); ++seed) {
    const Sweep sweep = RandomSweep(seed).make();
    const Verdict verdict = judge(sweep);
    const std::vector<std::string> lies = Truth(sweep, verdict).lies();
    for (const Finding& finding : verdict.findings) ++blames[std::string(name(finding.blame))];
    if (!lies.empty() && ++liars <= 10)
      ADD_FAILURE() << "sweep " << seed << "\n" << fmt::format("{}", fmt::join(lies, "\n"));
  }
  EXPECT_EQ(liars, 0U);
  fmt::print("findings: {}\n", fmt::join(blames, ", "));
}

}  // namespace truth_test
}  // namespace fabricbench::cluster
