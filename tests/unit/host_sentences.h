// The sentences of a report on hosts and their rails, compared with the readings.
#pragma once

#include <cmath>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "whole_report.h"

namespace fabricbench::cluster {

class HostSentences : public WholeReport {
 public:
  using WholeReport::WholeReport;

 protected:
  void check_unit(const Match& match) {
    expect(block_->tag == (match[1].matched ? "SLOW NIC" : "SLOW HOST"), "tag " + block_->tag);
    About about{.host = host(match[2]), .rail = rail(match[1]), .kinds = kinds(match[7])};
    const bool together = match[5].str().find("together") != std::string::npos;
    const bool both = match[3] == "is slow with" && !together;
    expect(!both || match[5] == ", sending and receiving", "which way");
    if (both) {
      for (const Way way : {Way::kSends, Way::kReceives}) {
        about.way = way;
        check_whom(about, match[4]);
      }
    } else {
      about.way = together ? Way::kEither : match[3] == "sends slowly to" ? Way::kSends : Way::kReceives;
      check_whom(about, match[4]);
    }
    if (match[6].matched) {
      about.way = Way::kReceives;
      check_whom(about, match[6]);
    }
    if (match[8].matched) {
      about.way = match[3] == "sends slowly to" ? Way::kReceives : Way::kSends;
      const std::optional<bool> fine = recount_.is_fine(about, accused(about.host));
      expect(fine.value_or(true) && !recount_.seen(about).empty(), "the other direction is slow");
    }
    check_other_rails(match, 9, about);
    about.way = Way::kEither;
    const std::vector<std::int64_t> rests = numbers(block_->line("rests on"));
    expect(rests.at(0) >= rests.at(1) && rests[0] <= recount_.measured(about), block_->line("rests on"));
    expect(rests[1] <= static_cast<std::int64_t>(recount_.partners(about).met.size()), block_->line("rests on"));
  }

  void check_unsteady(const Match& match) {
    const About about{.host = host(match[1])};
    const std::int64_t slow = std::stoll(match[3]);
    const std::int64_t meetings = std::stoll(match[4]);
    expect(!match[2].matched || (match[2] == "fails") == (block_->line("how bad") == "no figure in these meetings"),
           "slow, or fails");
    std::set<std::pair<std::int32_t, std::int32_t>> all;
    std::set<std::pair<std::int32_t, std::int32_t>> bad;
    std::set<std::int32_t> bad_rounds;
    std::set<std::int32_t> bad_partners;
    for (const Recount::Seen& one : recount_.seen(about)) {
      all.emplace(one.other, one.reading->round);
      if (!recount_.may_be_slow(one.share)) continue;
      bad.emplace(one.other, one.reading->round);
      bad_rounds.insert(one.reading->round);
      bad_partners.insert(one.other);
    }
    expect(slow <= meetings && slow <= static_cast<std::int64_t>(bad.size()) &&
               meetings <= static_cast<std::int64_t>(all.size()),
           fmt::format("{} of {} meetings are slow", bad.size(), all.size()));
    expect(std::abs(100.0 * static_cast<double>(slow) / static_cast<double>(meetings) - std::stod(match[5])) <= 0.51,
           "share");
    static const std::regex kSpan("(\\d+)(?:-(\\d+))?");
    const std::string rounds = match[6];
    std::int64_t listed = 0;
    for (std::sregex_iterator it(rounds.begin(), rounds.end(), kSpan); it != std::sregex_iterator(); ++it) {
      const int first = std::stoi((*it)[1]);
      for (int round = first; round <= ((*it)[2].matched ? std::stoi((*it)[2]) : first); ++round) {
        expect(bad_rounds.contains(round), fmt::format("round {}", round));
        ++listed;
      }
    }
    expect(listed <= slow, "more rounds than slow meetings");
    const std::vector<std::int64_t> rests = numbers(block_->line("rests on"));
    expect(rests.at(0) == meetings && rests.at(1) <= static_cast<std::int64_t>(bad_partners.size()),
           block_->line("rests on"));
    if (rests.size() > 2) expect(rests[2] <= recount_.failed(about), block_->line("rests on"));
  }

  void check_silent_way(const Match& match) {
    const About about{.host = host(match[2]), .rail = rail(match[1])};
    expect(block_->tag == (match[1].matched ? "SLOW NIC" : "DEAD HOST"), "tag " + block_->tag);
    std::set<std::int32_t> partners;
    std::int64_t failed = 0;
    bool other_way_works = false;
    for (const Recount::Seen& one : recount_.seen(about)) {
      if (one.reading->both_ways) continue;
      const bool is_its_way = (one.reading->from == about.host) == (match[3] == "sends");
      other_way_works = other_way_works || (!is_its_way && !one.failed());
      if (!is_its_way) continue;
      expect(one.failed(), "that way worked once");
      ++failed;
      partners.insert(one.other);
    }
    expect(other_way_works, "the other way does not work");
    const std::vector<std::int64_t> rests = numbers(block_->line("rests on"));
    expect(rests.at(0) == failed && rests.at(1) == static_cast<std::int64_t>(partners.size()),
           fmt::format("{}; there are {} with {}", block_->line("rests on"), failed, partners.size()));
  }

  void check_dead(const Match& match) {
    const About about{.host = host(match[2]), .rail = rail(match[1])};
    expect(block_->tag == (match[1].matched ? "SLOW NIC" : "DEAD HOST"), "tag " + block_->tag);
    expect(match[3].matched == (recount_.measured(about) > 0), "any more");
    std::set<std::int32_t> partners;
    std::set<std::int32_t> working;
    std::int32_t last_failed = -1;
    std::int32_t last_measured = -1;
    std::int64_t failed = 0;  // since it last worked
    for (const Recount::Seen& one : recount_.seen(about)) {
      (one.failed() ? last_failed : last_measured) = one.reading->round;
      if (!one.failed()) {
        failed = 0;
        partners.clear();
        working.clear();
        continue;
      }
      ++failed;
      partners.insert(one.other);
      if (recount_.works(one.other, one.other_rail, about.host)) working.insert(one.other);
    }
    expect(last_measured <= last_failed, "it has been measured since");
    const std::vector<std::int64_t> rests = numbers(block_->line("rests on"));
    expect(rests.at(0) == failed && rests.at(1) == static_cast<std::int64_t>(partners.size()),
           fmt::format("{}; there are {} with {}", block_->line("rests on"), failed, partners.size()));
    if (match[4].matched) expect(working == partners, "not all partners work");
    if (match[5].matched) {
      expect(std::stoul(match[5]) == working.size() && std::stoul(match[6]) == partners.size(), "partners");
    }
    std::int64_t rails = 0;
    for (std::int32_t rail = 0; rail < static_cast<std::int32_t>(sweep_.rails.size()); ++rail) {
      rails += rail != about.rail && recount_.measured({.host = about.host, .rail = rail}) > 0 ? 1 : 0;
    }
    if (match[7].matched) expect(rails > 0, "no other rail works");
    if (match[8].matched) expect(std::stoll(match[8]) <= rails, "so many rails do not work");
  }

  void check_silent(const Match& match) {
    static const std::regex kHosts(kHostPattern);
    const std::string sentence = block_->sentence;
    const About about{.rail = rail(match[1])};
    if (sentence.starts_with("bandwidth is low")) return;
    std::vector<std::int32_t> hosts;
    for (std::sregex_iterator it(sentence.begin(), sentence.end(), kHosts); it != std::sregex_iterator(); ++it) {
      hosts.push_back(host((*it)[1]));
    }
    for (const std::int32_t each : hosts) {
      for (const std::int32_t other : hosts) {
        if (each == other) continue;
        expect(recount_.measured({.host = each, .other = other, .rail = about.rail, .other_rail = about.rail}) == 0,
               "something was measured between them");
      }
    }
    if (hosts.size() == 1) expect(recount_.failed({.host = hosts[0], .rail = about.rail}) > 0, "it did not fail");
  }

  void check_cut_off(const Match& match) {
    expect(block_->tag == "CUT OFF", "tag " + block_->tag);
    HostList named;
    named.add_list(match[1].str(), "hosts that are cut off");
    std::set<std::int32_t> inside;
    for (const std::string& name : named.names()) inside.insert(host(name));
    std::int64_t failed = 0;
    for (const std::int32_t each : inside) {
      bool works = false;
      for (const Recount::Seen& one : recount_.seen({.host = each})) {
        if (inside.contains(one.other)) {
          works = works || !one.failed();
          continue;
        }
        expect(one.failed(), fmt::format("host {} works with host {}", each, one.other));
        ++failed;
      }
      expect(works, fmt::format("host {} works with none of them", each));
    }
    const std::int64_t rests = numbers(block_->line("rests on")).at(0);
    expect(rests > 0 && rests <= failed, fmt::format("{} readings failed", failed));
  }

 private:
  void check_other_rails(const Match& match, std::size_t first, const About& about) {
    if (!match[first].matched && !match[first + 1].matched) return;
    std::int64_t tried = 0;
    std::int64_t fine = 0;
    for (std::int32_t rail = 0; rail < static_cast<std::int32_t>(sweep_.rails.size()); ++rail) {
      const About other{.host = about.host, .rail = rail};
      if (rail == about.rail || recount_.measured(other) == 0) continue;
      ++tried;
      fine += recount_.is_fine(other, accused(about.host)).value_or(true) ? 1 : 0;
    }
    const std::int64_t said = match[first].matched ? tried : std::stoll(match[first + 1]);
    expect(said <= fine && tried > 0, fmt::format("{} of {} other rails are fine", fine, tried));
    expect(match[first].matched || std::stoll(match[first + 2]) == tried, fmt::format("{} other rails", tried));
  }

  void check_whom(const About& about, const std::string& whom) {
    const Recount::Partners partners = recount_.partners(about);
    const std::vector<std::int64_t> said = numbers(whom);
    const auto met = static_cast<std::int64_t>(partners.met.size());
    const auto slow = static_cast<std::int64_t>(partners.may_be_slow.size());
    const auto fine = static_cast<std::int64_t>(partners.may_be_fine.size());
    if (whom == "all partners") {
      expect(slow == met && met > 0, fmt::format("slow with {} of {}", slow, met));
    } else if (whom.find("would show") != std::string::npos) {
      const std::int64_t shown = said.size() == 3 ? said[1] : said.at(0);
      expect(said.back() == met && shown <= slow && shown < met, fmt::format("slow with {} of {}", slow, met));
    } else {
      expect(said.at(1) <= met && said.at(0) <= slow && said.at(1) - said.at(0) <= fine && said.at(0) < said.at(1),
             fmt::format("slow with {} and fine with {} of {}", slow, fine, met));
    }
  }
};

}  // namespace fabricbench::cluster
