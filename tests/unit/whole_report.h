// What a report says of a sweep as a whole, held against its readings: headline, lists, order, what was measured,
// follow-ups.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/report/verdict_lists.h"
#include "read_report.h"

namespace fabricbench::cluster {

class WholeReport : public ReadReport {
 public:
  using ReadReport::ReadReport;

 protected:
  void check_whole() {
    check_headline();
    check_lists();
    check_measured();
    check_order();
    check_questions();
  }

 private:
  void check_headline() {
    const auto says = [&](const std::string& pattern, std::size_t expected) {
      Match match;
      static std::map<std::string, std::regex> known;
      const std::regex& regex = known.try_emplace(pattern, "(?:^|, )(\\d+) " + pattern + "(?=[,;])").first->second;
      const bool found = std::regex_search(headline_, match, regex);
      expect(found == (expected > 0) && (!found || std::stoul(match[1]) == expected),
             fmt::format("{} findings that it should count as '{}'", expected, pattern));
    };
    std::set<std::int32_t> said;  // each host counts once, by the worst that is said of it
    const auto says_of = [&](const std::string& pattern, const std::set<std::int32_t>& hosts) {
      const std::size_t before = said.size();
      said.insert(hosts.begin(), hosts.end());
      says(pattern, said.size() - before);
    };
    says_of("hosts? (?:is|are) dead", hosts_with(Blame::kDead));
    std::set<std::int32_t> cut_off;
    for (const Finding& finding : verdict_.findings) {
      if (finding.blame == Blame::kCutOff) cut_off.insert(finding.hosts.begin(), finding.hosts.end());
    }
    says_of("hosts? (?:is|are) cut off", cut_off);
    says_of("hosts? (?:is|are) slow", hosts_with(Blame::kHost));
    says_of("hosts? (?:has a dead NIC|have dead NICs)", hosts_with(Blame::kNic, true));
    says_of("hosts? (?:has a slow NIC|have slow NICs)", hosts_with(Blame::kNic));
    says_of("hosts? (?:is|are) unsteady", hosts_with(Blame::kTransient));
    says("paths? (?:is|are) slow", paths_with(Blame::kPair));
    says("paths? (?:is|are) unsteady", paths_with(Blame::kTransient));
    says("paths? (?:carries|carry) nothing", paths_with(Blame::kDeadPair));
    says("hosts? (?:is|are) suspect", list("Suspect").empty() ? 0 : hosts_in("Suspect").size());
    const auto named = [&](const std::string& tag, const std::string& word) {
      const bool any =
          std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.tag == tag; });
      expect(!any || headline_.find(word) != std::string::npos, tag + " is not in the headline");
    };
    named("CANNOT TELL", headline_.find("suspect") != std::string::npos ? "suspect" : "undecided");
    named("SLOW LEAF", "slow towards the others");
    named("SLOW GROUP", "slow towards the others");
    named("SLOW SPINE", "between");
    named("SLOW RAIL", "slow everywhere");
    const bool clean = headline_.starts_with("Nothing is slow");
    expect(clean == (verdict_.judged == Judged::kClean), "'Nothing is slow' is said where all is well only");
    expect(!clean || (blocks_.empty() && verdict_.follow_ups.empty()), "nothing is slow, and yet something is said");
    if (headline_.starts_with("Too little was measured")) {
      expect(!verdict_.not_judged.empty() || sweep_.hosts.size() < 2, "enough was measured");
    }
    Match match;
    static const std::regex kFine(
        "; (?:all (\\d+) hosts are fine|(\\d+) of (\\d+) hosts? (?:is|are) fine)(?:, (\\d+) not judged)?\\.$");
    expect(std::regex_search(headline_, match, kFine), "how many are fine");
    const std::size_t fine = list("Fine").empty() ? 0 : hosts_in("Fine").size();
    expect(std::stoul(match[1].matched ? match[1] : match[2]) == fine, "another list of fine hosts");
    expect(!match[1].matched || fine == sweep_.hosts.size(), "not all are fine");
    const std::size_t missing = list("Not judged").empty() ? 0 : hosts_in("Not judged").size();
    expect((match[4].matched ? std::stoul(match[4]) : 0) == missing, "another list of hosts not judged");
  }

  void check_lists() {
    std::vector<std::string> all;
    for (const char* title : {"Slow", "Dead", "Cut off", "Unsteady", "Suspect", "Not judged", "Fine"}) {
      if (list(title).empty() || list(title) == "everything") continue;
      for (const std::string& name : hosts_in(title)) all.push_back(name);
    }
    std::sort(all.begin(), all.end());
    expect(all == sweep_.hosts, "lists have every host once");
  }

  void check_measured() {
    std::int64_t readings = 0;
    std::int64_t failed = 0;
    std::int64_t bad = 0;
    std::set<std::int32_t> rounds;
    for (std::size_t i = 0; i < sweep_.readings.size(); ++i) {
      const Reading& reading = sweep_.readings[i];
      rounds.insert(reading.round);
      if (reading.outcome == Outcome::kNotTried) continue;
      ++readings;
      failed += reading.outcome == Outcome::kFailed ? 1 : 0;
      bad += reading.outcome == Outcome::kMeasured && recount_.may_be_slow(recount_.share_of(i)) ? 1 : 0;
    }
    const std::string expected = fmt::format("Measured: {} in {}{};", counted(readings, "reading"),
                                             counted(static_cast<std::int64_t>(rounds.size()), "round"),
                                             failed > 0 ? fmt::format(", {} of them without a figure", failed) : "");
    expect(text_.find("\n" + expected) != std::string::npos, "should be " + expected);
    Match match;
    static const std::regex kOutliers("\n    Of the readings outside all findings, ([0-9.e+-]+) % are slow");
    if (std::regex_search(text_, match, kOutliers)) {
      // All bad ones may be among these, which are as many as there are at most.
      expect(std::stod(match[1]) <= 100 && bad > 0, "so many readings are not slow: " + match[1].str());
    }
    static const std::regex kAlone("A pair alone reaches ([0-9.]+) times .* of (\\d+) directions?: (.*)");
    if (!std::regex_search(text_, match, kAlone)) return;
    const double ratio = std::stod(match[1]);
    const bool apart = match[3].str().find("pairs do not disturb") != std::string::npos;
    expect(apart == (ratio > 0.964 && ratio < 1.036) || (ratio > 0.96 && ratio < 1.04), "whether pairs disturb others");
    std::map<std::tuple<int, int, int, int, int>, std::pair<bool, bool>> flows;
    for (const Reading& reading : sweep_.readings) {
      if (reading.outcome != Outcome::kMeasured) continue;
      auto [from, to] = std::pair<int, int>(reading.from, reading.to);
      if (reading.both_ways && from > to) std::swap(from, to);
      auto& [alone, among] = flows[{from, to, reading.from_rail, reading.to_rail, reading.kind}];
      (reading.concurrent == 1 ? alone : among) = true;
    }
    const auto both = std::count_if(flows.begin(), flows.end(),
                                    [](const auto& flow) { return flow.second.first && flow.second.second; });
    expect(std::stoll(match[2]) <= both, "so many were not measured both ways");
  }

  void check_order() {
    double last = 0;
    for (const Block& block : blocks_) {
      const double share = share_in(block.line("how bad"));
      block_ = &block;
      expect(share >= last, "stands below what is less bad");
      double alike = share;
      for (const auto& [label, text] : block.lines) {
        if (label != "also" || text.find("more like these") != std::string::npos) continue;
        expect(share_in(text) >= alike, "more of it, less bad first");
        alike = share_in(text);
      }
      last = share;
    }
    block_ = nullptr;
  }

  void check_questions() {
    static const std::regex kQuestion("^    " + kHostPattern + " with (?:" + kHostPattern +
                                      "|any healthy host): (\\d+) more readings?; (.*)$");
    static const std::regex kPartners("^slow with (\\d+) of (\\d+) partners?( when it sends| when it receives)?,.*");
    static const std::regex kReadings("^slow in (\\d+) of (\\d+) readings,.*");
    static const std::regex kFailed("^failed (once|(\\d+) times)$");
    for (const std::string& line : all_) {
      Match match;
      if (!std::regex_match(line, match, kQuestion)) continue;
      const std::string why = match[4];
      About about{.host = host(match[1])};
      if (match[2].matched) about.other = host(match[2]);
      Match parts;
      if (std::regex_match(why, parts, kPartners)) {
        if (parts[3].matched) about.way = parts[3] == " when it sends" ? Way::kSends : Way::kReceives;
        const Recount::Partners partners = recount_.partners(about);
        expect(std::stoul(parts[2]) <= partners.met.size() && std::stoul(parts[1]) <= partners.may_be_slow.size(),
               line);
      } else if (std::regex_match(why, parts, kReadings)) {
        about.way = Way::kSends;
        expect(std::stoll(parts[2]) <= recount_.measured(about) && std::stoll(parts[1]) <= recount_.bad(about), line);
      } else if (std::regex_match(why, parts, kFailed)) {
        const std::int64_t times = parts[2].matched ? std::stoll(parts[2]) : 1;
        expect(times <= recount_.failed(about), line);
      }
    }
  }
};

}  // namespace fabricbench::cluster
