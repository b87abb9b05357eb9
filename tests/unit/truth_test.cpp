// What reports of random sweeps say, sentence by sentence, held against the readings themselves.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/attribution/attribution.h"
#include "cluster/report/verdict_text.h"
#include "host_sentences.h"
#include "random_sweeps.h"

namespace fabricbench::cluster {
namespace truth_test {

class Truth : public HostSentences {
 public:
  using HostSentences::HostSentences;

  /// What is not true, a line each.
  std::vector<std::string> lies() {
    check_whole();
    for (const Block& block : blocks_) {
      block_ = &block;
      check_extent();
      check_certainty();
      check_sentence();
    }
    return lies_;
  }

 private:
  void check_extent() {
    const std::string extent = block_->line("how bad");
    static const std::regex kExtent(
        "^([0-9.e+-]+) GB/s where ([0-9.e+-]+) are expected: (\\d+) % of it(?: when it (sends|receives), (\\d+) % when "
        "it (?:sends|receives))?$");
    Match match;
    if (extent == "no figure at all") {
      const std::string evidence = block_->line("rests on");
      expect(evidence.find("none of them with a figure") != std::string::npos, extent);
      return;
    }
    if (extent == "no figure in these meetings") {
      expect(block_->tag == "UNSTEADY", extent);
      return;
    }
    expect(std::regex_match(extent, match, kExtent), "how bad: " + extent);
    const double rate = std::stod(match[1]);
    const double expected = std::stod(match[2]);
    expect(std::abs(100 * rate / expected - std::stod(match[3])) < 1.6, "percent: " + extent);
    expect(!match[4].matched || std::stod(match[3]) < std::stod(match[5]), "the worse direction first: " + extent);
    double least = 1e99;
    double most = 0;
    for (const float usual : verdict_.usual) {
      if (usual <= 0) continue;
      least = std::min(least, static_cast<double>(usual) / 1e9);
      most = std::max(most, static_cast<double>(usual) / 1e9);
    }
    for (const Stratum& stratum : verdict_.strata) {
      least = std::min(least, stratum.centre / 1e9);
      most = std::max(most, stratum.centre / 1e9);
    }
    // Of a path it is what its hosts allow, which may be slow themselves.
    const bool of_path =
        block_->sentence.find("etween ") != std::string::npos || block_->sentence.starts_with("the path");
    expect((of_path || expected > 0.99 * least) && expected < 1.01 * most, "nothing like that is expected: " + extent);
    expect(block_->tag == "CANNOT TELL" || block_->tag == "UNSTEADY" || rate < 0.97 * expected, "that is not slow");
  }

  void check_certainty() {
    const std::string certainty = block_->line("how sure");
    if (block_->tag != "CANNOT TELL" && block_->tag != "ALL SLOW") {
      expect(certainty.starts_with("fewer than 1 of "), "blamed, though " + certainty);
    }
    if (certainty.find("seen again when measured alone") == std::string::npos) return;
    static const std::regex kHosts(kHostPattern);
    std::vector<std::int32_t> hosts;
    const std::string subject = block_->sentence.substr(0, block_->sentence.find(';'));
    for (std::sregex_iterator it(subject.begin(), subject.end(), kHosts); it != std::sregex_iterator(); ++it) {
      hosts.push_back(host((*it)[1]));
    }
    expect(!hosts.empty(), "of whom is that?");
    if (hosts.empty()) return;
    About about{.host = hosts[0]};
    if (hosts.size() == 2) about.other = hosts[1];
    expect(recount_.seen_again_alone(about), certainty);
  }

  /// A sentence, and what it has to agree with.
  struct Pattern {
    std::regex regex;
    void (Truth::*check)(const Match&);
  };

  /// Sentences on hosts and their rails.
  static const std::vector<Pattern>& patterns_of_hosts() {
    static const std::vector<Pattern> kPatterns = {
        {std::regex("^(?:rail (r\\d) of )?" + kHostPattern + " (is slow with|sends slowly to|receives slowly from) " +
                    kWhom +
                    "(, sending and receiving|, both directions taken together)?(?:, and receives slowly from " +
                    kWhom + ")?" + kKinds +
                    "(, and (?:receives|sends) as fast as others)?(?:; (?:(other rails)|(\\d+) of (\\d+) "
                    "other rails) of the host (?:are|is) fine)?$"),
         &Truth::check_unit},
        {std::regex("^" + kHostPattern +
                    " (?:(is slow|fails) now and then, with any partner|is slow or fails again and again): in "
                    "(\\d+) of (\\d+) "
                    "meetings \\((\\d+) %\\), "
                    "in rounds? ([0-9, -]+)( and later)?$"),
         &Truth::check_unsteady},
        {std::regex(
             "^nothing can be measured (?:with|over rail (r\\d) of) " + kHostPattern +
             "( any more)?(?:, though (?:(its partners work with others)|(\\d+) of its (\\d+) partners? works? with "
             "others|(other rails of the host work)|(\\d+) of (\\d+) other rails of the host works?))?$"),
         &Truth::check_dead},
        {std::regex("^nothing can be measured when (?:rail (r\\d) of )?" + kHostPattern +
                    " (sends|receives)(?:, though (?:its partners|(\\d+) of its (\\d+) partners?) works? with others, "
                    "and the other direction works)?$"),
         &Truth::check_silent_way},
        {std::regex("^(h.*) work with each other, and nothing can be measured between them and the others$"),
         &Truth::check_cut_off},
        {std::regex(
             "^(?:nothing could be measured|bandwidth is low) (?:with|between) (?:h\\d\\d(?:, | and )?)+(?: any "
             "more)?" +
             kOver +
             ", and the readings cannot tell whether (?:the host or its partners are|one of the hosts or a path is) to "
             "blame$"),
         &Truth::check_silent},
    };
    return kPatterns;
  }

  /// Sentences on paths, leaves, and rails of all hosts.
  static const std::vector<Pattern>& patterns_of_paths() {
    static const std::vector<Pattern> kPatterns = {
        {std::regex("^the path (between|from) " + kHostPattern + " (?:and|to) " + kHostPattern + kOver +
                    " (?:is slow|(?:is slow|fails) now and then, in (\\d+) of (\\d+) readings)(, both ways|, both "
                    "directions taken "
                    "together)?" +
                    kKinds + "(; the way back is fine)?(?:; (?:(both hosts are)|" + kHostPattern +
                    " is) fine with others)?$"),
         &Truth::check_pair},
        {std::regex("^nothing can be measured (between|from) " + kHostPattern + " (?:and|to) " + kHostPattern + kOver +
                    ", though (the way back works, and )?both work with others$"),
         &Truth::check_dead_pair},
        {std::regex("^(nothing could be measured|bandwidth is low) (between|from) " + kHostPattern + " (?:and|to) " +
                    kHostPattern + kOver + kKinds +
                    ", and the readings cannot tell whether (?:one of the hosts or the path|" + kHostPattern +
                    " or the path|(the path or chance)) is to blame$"),
         &Truth::check_undecided_pair},
        {std::regex("^the uplinks of (leaf L\\d|group \\d+) are slow, (outbound|inbound|in both directions): (?:its|at "
                    "least (\\d+) "
                    "of its (\\d+)) hosts \\((.*)\\) are slow with hosts of other (leaves|groups)(, and fine with each "
                    "other)?(; or they stand apart, as in another hall)?$"),
         &Truth::check_leaf},
        {std::regex(
             "^the path (?:between|from) (?:leaf )?(.*) is slow(; both are fine with other (?:leaves|groups))?$"),
         &Truth::check_leaf_path},
        {std::regex(
             "^nothing can be measured over rail (r\\d)( any more)?, though (\\d+) of (\\d+) hosts? work over other "
             "rails$"),
         &Truth::check_dead_rail},
        {std::regex("^rail (r\\d) is slower than other rails on (\\d+) of (\\d+) hosts?$"), &Truth::check_rail},
    };
    return kPatterns;
  }

  void check_sentence() {
    const std::string sentence = block_->sentence;
    for (const auto* patterns : {&patterns_of_hosts(), &patterns_of_paths()}) {
      for (const Pattern& pattern : *patterns) {
        Match match;
        if (!std::regex_match(sentence, match, pattern.regex)) continue;
        (this->*pattern.check)(match);
        return;
      }
    }
    expect(false, "no such sentence is known");
  }

  /// Between two hosts, as a sentence says it.
  [[nodiscard]] About path(const std::string& between, const std::string& first, const std::string& second,
                           const std::string& own_rail, const std::string& other_rail) const {
    About about{.host = host(first), .other = host(second), .rail = rail(own_rail), .other_rail = rail(other_rail)};
    if (about.other_rail < 0) about.other_rail = about.rail;
    about.way = between == "between" ? Way::kEither : Way::kSends;
    return about;
  }

  void check_pair(const Match& match) {
    About about = path(match[1], match[2], match[3], match[4], match[5]);
    about.kinds = kinds(match[9]);
    expect((block_->tag == "UNSTEADY") == match[6].matched, "tag " + block_->tag);
    const std::vector<std::int64_t> rests = numbers(block_->line("rests on"));
    const std::int64_t slow = rests.size() > 1 ? rests[1] : rests.at(0);
    const bool fails = block_->line("how bad") == "no figure in these meetings";
    const auto tried = fails ? static_cast<std::int64_t>(recount_.seen(about).size()) : recount_.measured(about);
    expect(rests.at(0) == tried && slow <= recount_.bad(about) && slow > 0,
           fmt::format("{}; there are {}, {} of them slow", block_->line("rests on"), tried, recount_.bad(about)));
    if (match[6].matched) expect(std::stoll(match[6]) == slow && std::stoll(match[7]) == rests[0], "in how many");
    const bool both_fine = match[11].matched;
    if (match[10].matched) {
      About back = about;
      back.way = Way::kReceives;
      expect(recount_.measured(back) > 0 && (!both_fine || recount_.is_fine(back, {}).value_or(false)), "the way back");
    }
    if (both_fine || match[12].matched) {
      for (const std::string& name : {match[2].str(), match[3].str()}) {
        if (both_fine || match[12] == name) expect_fine_with_others(name, name == match[2] ? match[3] : match[2]);
      }
    }
  }

  void expect_fine_with_others(const std::string& name, const std::string& but) {
    std::set<std::int32_t> leaving_out = accused(host(name), -1);
    leaving_out.insert(host(but));
    expect(recount_.is_fine({.host = host(name)}, leaving_out).value_or(true), name + " is not fine with others");
    expect(hosts_in("Fine").contains(name), name + " is not in the list of fine ones");
  }

  void check_dead_pair(const Match& match) {
    About about = path(match[1], match[2], match[3], match[4], match[5]);
    expect(recount_.measured(about) == 0, "something was measured");
    expect(numbers(block_->line("rests on")).at(0) == recount_.failed(about), block_->line("rests on"));
    expect(recount_.works(about.host, about.rail, about.other) &&
               recount_.works(about.other, about.other_rail, about.host),
           "they do not work with others");
    about.way = Way::kReceives;
    if (match[6].matched) expect(recount_.measured(about) > 0, "the way back does not work");
  }

  void check_undecided_pair(const Match& match) {
    About about = path(match[2], match[3], match[4], match[5], match[6]);
    about.kinds = kinds(match[7]);
    if (match[1] == "nothing could be measured") {
      expect(recount_.measured(about) == 0, "something was measured");
    } else {
      expect(numbers(block_->line("rests on")).at(0) == recount_.measured(about) && recount_.bad(about) > 0,
             block_->line("rests on"));
    }
    for (const std::string& name : {match[3].str(), match[4].str()}) {
      const bool is_cleared = match[9].matched || (match[8].matched && match[8] != name);
      const bool is_last = name == match[4];
      const std::vector<Recount::Seen> seen =
          recount_.seen({.host = host(name), .rail = is_last ? about.other_rail : about.rail});
      const bool is_fast = std::any_of(seen.begin(), seen.end(), [&](const Recount::Seen& one) {
        return one.other != host(is_last ? match[3] : match[4]) && !one.failed() && recount_.may_be_fine(one.share);
      });
      expect(!is_cleared || is_fast, name + " was fast with nobody else");
    }
  }

  /// The group that a sentence names.
  [[nodiscard]] const Group& group(const std::string& name) const {
    const std::vector<Group>& groups = verdict_.groupings.at(0).groups;
    const std::string plain = name.starts_with("leaf ") ? name.substr(5) : name;
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.name == plain; });
    return found == groups.end() ? groups.front() : *found;
  }

  void check_leaf(const Match& match) {
    const std::vector<std::int32_t>& hosts = group(match[1]).hosts;
    HostList named;
    named.add_list(match[5].str(), "a leaf");
    expect(named.hosts().size() == hosts.size(), "its hosts");
    if (match[4].matched) expect(std::stoul(match[4]) == hosts.size(), "how many hosts");
    if (sweep_.kinds.size() > 1 || verdict_.strata.empty()) return;
    static const std::regex kExpected("where ([0-9.e+-]+) are");
    Match extent;
    const std::string how_bad = block_->line("how bad");
    if (!std::regex_search(how_bad, extent, kExpected)) return;
    const double expected = std::stod(extent[1]) * 1e9;
    const std::set<std::int32_t> inside(hosts.begin(), hosts.end());
    std::size_t slow = 0;
    std::vector<double> within;
    for (const std::int32_t each : hosts) {
      const Way way = match[2] == "outbound" ? Way::kSends : match[2] == "inbound" ? Way::kReceives : Way::kEither;
      std::vector<double> outside;
      for (const Recount::Seen& one : recount_.seen({.host = each, .way = way})) {
        if (one.failed()) continue;
        const double share = std::min(one.share, static_cast<double>(one.reading->rate) / expected);
        (inside.contains(one.other) ? within : outside).push_back(inside.contains(one.other) ? one.share : share);
      }
      slow += !outside.empty() && recount_.may_be_slow(Recount::median(outside)) ? 1 : 0;
    }
    expect((match[3].matched ? std::stoul(match[3]) : hosts.size()) <= slow, fmt::format("{} hosts are slow", slow));
    if (match[7].matched) expect(!within.empty() && recount_.may_be_fine(Recount::median(within)), "within");
  }

  void check_leaf_path(const Match&) { expect(block_->tag == "SLOW SPINE", "tag " + block_->tag); }

  void check_dead_rail(const Match& match) {
    const About of_rail{.rail = rail(match[1])};
    std::int64_t failed = 0;
    std::int64_t measured = 0;
    std::size_t tried = 0;
    std::size_t elsewhere = 0;
    for (About about = of_rail; ++about.host < static_cast<std::int32_t>(sweep_.hosts.size());) {
      const auto seen = recount_.seen(about);
      if (seen.empty()) continue;
      ++tried;
      expect(seen.back().failed(), sweep_.hosts[static_cast<std::size_t>(about.host)] + " has been measured since");
      failed += recount_.failed(about);
      measured += recount_.measured(about);
      elsewhere += recount_.measured({.host = about.host}) > recount_.measured(about) ? 1 : 0;
    }
    expect(match[2].matched == (measured > 0), fmt::format("{} were measured", measured));
    expect(std::stoul(match[3]) <= elsewhere && std::stoul(match[4]) == tried,
           fmt::format("{} of {}", elsewhere, tried));
    expect(failed > 0 && numbers(block_->line("rests on")).at(0) > 0, block_->line("rests on"));
  }

  void check_rail(const Match& match) {
    std::map<std::pair<std::int32_t, std::int16_t>, std::pair<std::vector<double>, std::vector<double>>> rates;
    for (const Reading& reading : sweep_.readings) {
      if (reading.outcome != Outcome::kMeasured || reading.from_rail != reading.to_rail) continue;
      for (const std::int32_t each : {reading.from, reading.to}) {
        auto& [own, others] = rates[{each, reading.kind}];
        (reading.from_rail == rail(match[1]) ? own : others).push_back(static_cast<double>(reading.rate));
      }
    }
    std::set<std::int32_t> compared;
    std::set<std::int32_t> slower;
    for (const auto& [of, both] : rates) {
      if (both.first.empty() || both.second.empty()) continue;
      compared.insert(of.first);
      if (recount_.may_be_slow(Recount::median(both.first) / Recount::median(both.second))) slower.insert(of.first);
    }
    const std::size_t said = std::stoul(match[2]);
    expect(said <= slower.size() && std::stoul(match[3]) <= compared.size() && 2 * said > std::stoul(match[3]),
           fmt::format("slower on {} of {}", slower.size(), compared.size()));
  }
};

std::uint64_t sweeps_to_read() {
  const char* asked = std::getenv("FABRICBENCH_RANDOM_SWEEPS");
  return asked == nullptr ? 2000 : std::strtoull(asked, nullptr, 10);
}

TEST(Truth, OfEverySentenceOfReportsOfRandomSweeps) {
  std::size_t shown = 0;
  std::map<std::string, int> tags;
  std::size_t liars = 0;
  for (std::uint64_t seed = 1; seed <= sweeps_to_read(); ++seed) {
    const Sweep sweep = RandomSweep(seed).make();
    const Verdict verdict = judge(sweep);
    const std::string text = verdict_text(sweep, verdict, {}, {});
    std::vector<std::string> lies;
    try {
      lies = Truth(sweep, verdict, text).lies();
    } catch (const std::exception& error) {
      lies = {error.what()};
    }
    for (const Finding& finding : verdict.findings) ++tags[fmt::format("{}", static_cast<int>(finding.blame))];
    if (lies.empty()) continue;
    ++liars;
    if (shown++ < 10) ADD_FAILURE() << "sweep " << seed << "\n" << fmt::format("{}", fmt::join(lies, "\n"));
  }
  EXPECT_EQ(liars, 0U);
  std::string counts;
  for (const auto& [tag, count] : tags) counts += fmt::format(" {}:{}", tag, count);
  RecordProperty("findings", counts);
  fmt::print("findings:{}\n", counts);
}

}  // namespace truth_test
}  // namespace fabricbench::cluster
