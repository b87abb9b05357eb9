// Hosts that are slow now and then, in words: since when, with whom, in which direction, and whether it gets worse.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cluster/report/finding_words.h"
#include "cluster/report/verdict_lists.h"
#include "cluster/robust.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// What is said of times, partners or directions has this probability at most where they do not matter.
constexpr double kMostChance = 0.01;

/// The readings of a host with one partner in one round.
struct Meeting {
  std::vector<double> sent;  ///< rates as shares of the usual ones
  std::vector<double> received;
  bool is_slow = false;
};

/// By round and partner.
using Meetings = std::map<std::pair<std::int32_t, std::int32_t>, Meeting>;

Meetings meetings_of(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  Meetings meetings;
  const std::int32_t host = finding.hosts.at(0);
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    const bool sends = reading.from == host;
    if ((!sends && reading.to != host) || !has_worked_or_failed(reading)) continue;
    Meeting& meeting = meetings[{reading.round, sends ? reading.to : reading.from}];
    meeting.is_slow = std::binary_search(finding.slow_rounds.begin(), finding.slow_rounds.end(), reading.round);
    if (!has_rate(reading) || reading.both_ways || place >= verdict.usual.size() || verdict.usual[place] <= 0) continue;
    (sends ? meeting.sent : meeting.received).push_back(static_cast<double>(reading.rate / verdict.usual[place]));
  }
  return meetings;
}

/// Meetings with a property, and slow ones among all.
struct Subset {
  std::int64_t all = 0;
  std::int64_t slow = 0;
  std::int64_t with = 0;  ///< meetings with the property
  std::int64_t slow_with = 0;

  /// Whether only meetings with the property are slow, beyond chance: by drawing without replacement.
  [[nodiscard]] bool is_sure() const {
    double chance = 1;
    for (std::int64_t i = 0; i < slow; ++i) chance *= static_cast<double>(with - i) / static_cast<double>(all - i);
    return slow == slow_with && chance < kMostChance;
  }
  /// `every meeting`, or `25 of 26 meetings`.
  [[nodiscard]] std::string text() const {
    return slow_with == with ? "every meeting" : fmt::format("{} of {}", slow_with, counted(with, "meeting"));
  }
};

Subset subset(const Meetings& meetings, const std::function<bool(std::int32_t round, std::int32_t other)>& has_it) {
  Subset result;
  for (const auto& [of, meeting] : meetings) {
    const bool has = has_it(of.first, of.second);
    ++result.all;
    result.slow += meeting.is_slow ? 1 : 0;
    result.with += has ? 1 : 0;
    result.slow_with += has && meeting.is_slow ? 1 : 0;
  }
  return result;
}

/// `fine until round 9, slow in every meeting since`; empty: it comes and goes.
std::string since_when(const Meetings& meetings, const Finding& finding) {
  const std::int32_t onset = finding.slow_rounds.front();
  const Subset since = subset(meetings, [&](std::int32_t round, std::int32_t) { return round >= onset; });
  if (!since.is_sure()) return "";
  return fmt::format("fine until round {}, and {} in {} since", onset - 1, has_no_figure(finding) ? "failed" : "slow",
                     since.text());
}

/// `, only with hosts of its leaf`, or of other leaves; empty: with any partner.
std::string with_whom(const Meetings& meetings, const Verdict& verdict, const Finding& finding) {
  if (verdict.groupings.empty()) return "";
  const std::string_view word = verdict.groupings.front().is_given ? "leaf" : "group";
  for (const Group& group : verdict.groupings.front().groups) {
    const auto has = [&](std::int32_t host) {
      return std::find(group.hosts.begin(), group.hosts.end(), host) != group.hosts.end();
    };
    if (!has(finding.hosts.at(0))) continue;
    for (const bool inside : {true, false}) {
      const Subset with = subset(meetings, [&](std::int32_t, std::int32_t other) { return has(other) == inside; });
      if (with.is_sure())
        return fmt::format(", in {} with hosts {}, and in no other", with.text(),
                           inside ? fmt::format("of its {}", word) : fmt::format("outside its {}", word));
    }
  }
  return "";
}

/// The median of shares, of slow meetings alone or of all from one place to another; nothing if there are none.
std::optional<double> median_share(const Meetings& meetings, const std::vector<double> Meeting::*way, bool only_slow,
                                   std::size_t first = 0, std::size_t last = std::numeric_limits<std::size_t>::max()) {
  std::vector<double> shares;
  for (std::size_t place = 0; const auto& [of, meeting] : meetings) {
    const bool wanted = place >= first && place < last && (meeting.is_slow || !only_slow);
    if (wanted) shares.insert(shares.end(), (meeting.*way).begin(), (meeting.*way).end());
    ++place;
  }
  return shares.empty() ? std::nullopt : std::optional(median_of(shares));
}

/// `, sending` or `, receiving` if the other direction is fine in slow meetings.
std::string which_way(const Meetings& meetings) {
  const double fine = 1 - VerdictSettings().tolerance;
  const auto sent = median_share(meetings, &Meeting::sent, true);
  const auto received = median_share(meetings, &Meeting::received, true);
  if (!sent || !received || (*sent < fine) == (*received < fine)) return "";
  return *sent < fine ? ", sending" : ", receiving";
}

/// `; it falls evenly, from 98 % to 55 %...` if each quarter of the meetings is slower than the last by the tolerance.
std::string trend(const Meetings& meetings) {
  constexpr std::size_t kParts = 4;
  std::vector<double> medians;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t first = part * meetings.size() / kParts;
    const std::size_t last = (part + 1) * meetings.size() / kParts;
    const auto sent = median_share(meetings, &Meeting::sent, false, first, last);
    const auto received = median_share(meetings, &Meeting::received, false, first, last);
    if (!sent || !received) return "";
    medians.push_back(std::min(*sent, *received));
    if (part > 0 && medians[part] > medians[part - 1] - VerdictSettings().tolerance) return "";
  }
  return fmt::format("; it falls evenly, from {:.0f} % to {:.0f} % of the bandwidth expected", 100 * medians.front(),
                     100 * medians.back());
}

/// `2, 5-7, 11`; only the first few of many.
std::string rounds_text(const std::vector<std::int32_t>& rounds) {
  constexpr std::size_t kMostSpans = 8;
  std::string text = folded({rounds.begin(), rounds.end()});
  std::size_t end = 0;
  for (std::size_t spans = 0; spans < kMostSpans && end != std::string::npos; ++spans) end = text.find(", ", end + 1);
  return end == std::string::npos ? text : text.substr(0, end) + " and later";
}

}  // namespace

std::string unsteady_text(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const std::string host = host_name(sweep, finding.hosts.at(0));
  const Meetings meetings = meetings_of(sweep, verdict, finding);
  const auto slow =
      std::count_if(meetings.begin(), meetings.end(), [](const auto& each) { return each.second.is_slow; });
  const bool is_known = slow == finding.slow && !finding.slow_rounds.empty();  // else rounds do not tell the meetings
  const std::string way = is_known ? which_way(meetings) : "";
  const std::string more = is_known ? with_whom(meetings, verdict, finding) + trend(meetings) : "";
  if (const std::string since = is_known ? since_when(meetings, finding) : ""; !since.empty())
    return fmt::format("{} was {}{}{}", host, since, way, more);
  const bool always = finding.slow == finding.readings;
  return fmt::format(
      "{} {}: in {} of {} meetings ({:.0f} %), in {} {}{}", host,
      always                   ? "is slow or fails again and again"
      : has_no_figure(finding) ? "fails now and then"
                               : "is slow now and then" + way,
      finding.slow, finding.readings,
      100.0 * static_cast<double>(finding.slow) / static_cast<double>(std::max<std::int64_t>(finding.readings, 1)),
      finding.slow_rounds.size() == 1 ? "round" : "rounds", rounds_text(finding.slow_rounds), more);
}

}  // namespace fabricbench::cluster
