// The sentences on findings.

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/pairs/report/verdict_text.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "common/core/plain_text.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {

/// What a sentence is about.
struct Told {
  const Sweep& sweep;
  const Verdict& verdict;
  const Finding& finding;  ///< the worst of those that are reported as one
  std::string over;        ///< their rails: ` over rail 2`; empty if there is only one rail
  std::int64_t findings = 1;

  [[nodiscard]] std::string host(std::size_t which) const { return host_name(sweep, finding.hosts.at(which)); }
};

namespace {

using Text = std::string;

Text directions(Direction direction) {
  return direction == Direction::kBoth    ? "sending and receiving"
         : direction == Direction::kSends ? "sending"
                                          : "receiving";
}

std::string_view adjective(const Told& told) { return form_of(told.sweep, told.verdict, told.finding).adjective; }

/// `between a and b`, or `from a to b`.
Text ends(Direction direction, const Text& first, const Text& second) {
  if (direction == Direction::kBoth) return fmt::format("between {} and {}", first, second);
  const bool sends = direction == Direction::kSends;
  return fmt::format("from {} to {}", sends ? first : second, sends ? second : first);
}

/// `leaf rack7 (node[01-08])`, or `group 2 (node[01-08])` if it was found in the readings.
Text group_name(const Told& told, std::int32_t place) {
  const Group& group = leaf_at(told.verdict, place);
  return fmt::format("{}{} ({})", told.verdict.groupings[0].is_given ? "leaf " : "", printable(group.name),
                     hosts_text(told.sweep, group.hosts));
}

std::string_view groups_word(const Told& told) { return told.verdict.groupings.at(0).is_given ? "leaves" : "groups"; }

/// ` over rail 2`, ` over rails mlx5_[0-3]`, or ` over rail 1 of a and rail 2 of b`. Empty: there is only one rail.
Text over_rails(const Sweep& sweep, const Alike& alike) {
  const Finding& first = *alike.front();
  if (first.other_rail >= 0)
    return fmt::format(" over {} of {} and {} of {}", rails_text(sweep, {first.rail}),
                       host_name(sweep, first.hosts.at(0)), rails_text(sweep, {first.other_rail}),
                       host_name(sweep, first.hosts.at(1)));
  const Text rails = rails_text(sweep, alike, &Finding::rail);
  return rails.empty() ? "" : " over " + rails;
}

/// The rails, and the kinds of readings if it does not show in all: ` over rail 2, in rdma_write_bw 1 MiB`.
Text where(const Told& told) {
  std::vector<Text> names;
  for (const std::int16_t kind : told.finding.tests) names.push_back(printable(told.sweep.tests[at(kind)]));
  return told.over + (names.empty() ? "" : ", in " + enumerated(names));
}

/// `GPU 0000:17:00.0, GPU-8f6a2c1e`, several with a text between them.
Text devices_text(const Told& told, std::string_view between) {
  constexpr auto kWords = std::to_array<std::string_view>({"NIC", "GPU", "switch port"});  // by DeviceKind
  std::vector<Text> texts;
  for (const std::int32_t place : told.finding.devices) {
    const Device& device = told.sweep.devices.at(at(place));
    const bool has_name = !device.name.empty() && device.name != device.id;
    texts.push_back(fmt::format("{} {}{}", kWords.at(at(device.kind)), has_name ? printable(device.name) + ", " : "",
                                printable(device.id)));
  }
  return fmt::format("{}", fmt::join(texts, between));
}

/// The host, with the devices that all of its readings went through: `node07 (NIC mlx5_2, 0x0c42a103)`.
Text host_with_devices(const Told& told) {
  return told.host(0) + (told.finding.devices.empty() ? "" : fmt::format(" ({})", devices_text(told, ", ")));
}

/// The partners with which a host is slow: `all partners`, `11 of 15 partners`.
Text whom(const PartnerCount& partners) {
  if (partners.slow < partners.shown) return fmt::format("{} of {}", partners.slow, counted(partners.shown, "partner"));
  if (partners.shown == partners.met) return "all partners";
  return fmt::format("all partners that would show it ({} of {})", partners.shown, partners.met);
}

/// `nothing can be measured with node07 any more`, or `when node07 sends`.
Text nothing_with(const Told& told) {
  const Text host = host_with_devices(told);
  const bool sends = told.finding.direction == Direction::kSends;
  if (told.finding.direction != Direction::kBoth)
    return fmt::format("nothing can be measured when {} {}{}", host, sends ? "sends" : "receives", told.over);
  return fmt::format("nothing can be measured with {}{}{}", host, told.over,
                     told.finding.has_worked ? " any more" : "");
}

/// `; both hosts are fine with others`, or which one is; empty: neither is.
Text fine_hosts(const Told& told) {
  const auto [first, second] = told.finding.fine_hosts;
  if (first && second) return "; both hosts are fine with others";
  return first || second ? fmt::format("; {} is fine with others", told.host(first ? 0 : 1)) : "";
}

/// `between a and b over rail 1`, or `from a to b`.
Text direction(const Told& told) { return ends(told.finding.direction, told.host(0), told.host(1)) + where(told); }

/// What an unsteady host and a partner reached in a round.
struct HostMeeting {
  std::int32_t round = 0;
  std::int32_t partner = 0;
  bool is_slow = false;
  std::array<std::vector<double>, 2> shares{};  // of the usual rates, when it sends and when it receives
};

/// Those of an unsteady host, in time; none if its slow rounds do not tell the slow ones.
std::vector<HostMeeting> meetings_of(const Told& told) {
  const std::vector<float>& usual = told.verdict.usual;
  const std::vector<std::int32_t>& slow_rounds = told.finding.slow_rounds;
  const std::int32_t host = told.finding.hosts.at(0);
  std::map<std::pair<std::int32_t, std::int32_t>, HostMeeting> by_round;
  for (std::size_t place = 0; place < told.sweep.readings.size(); ++place) {
    const Reading& reading = told.sweep.readings[place];
    const bool sends = reading.from == host;
    if ((!sends && reading.to != host) || !has_worked_or_failed(reading)) continue;
    const std::int32_t partner = sends ? reading.to : reading.from;
    const bool is_slow = std::ranges::binary_search(slow_rounds, reading.round);
    HostMeeting& own =
        by_round.try_emplace({reading.round, partner}, HostMeeting{reading.round, partner, is_slow}).first->second;
    if (has_rate(reading) && !reading.both_ways && place < usual.size() && usual[place] > 0)
      own.shares.at(sends ? 0 : 1).push_back(static_cast<double>(reading.rate / usual[place]));
  }
  std::vector<HostMeeting> meetings;
  meetings.reserve(by_round.size());
  for (auto& [of, meeting] : by_round) meetings.push_back(std::move(meeting));
  const auto slow = std::ranges::count_if(meetings, [](const auto& each) { return each.is_slow; });
  return slow == told.finding.slow && slow > 0 ? meetings : std::vector<HostMeeting>();
}

/// In how many meetings with a property it was slow: `every meeting`, or `25 of 26 meetings`. Empty: others were slow
/// too, or that they were fine may be chance (drawing without replacement).
template <typename Property>
Text only_in(const std::vector<HostMeeting>& meetings, Property has_it) {
  constexpr double kMostChance = 0.01;
  std::int64_t slow = 0;
  std::int64_t with = 0;
  for (const HostMeeting& meeting : meetings) {
    const bool has = has_it(meeting);
    if (!has && meeting.is_slow) return "";
    slow += meeting.is_slow ? 1 : 0;
    with += has ? 1 : 0;
  }
  double chance = 1;
  for (std::int64_t i = 0; i < slow; ++i)
    chance *= static_cast<double>(with - i) / static_cast<double>(std::ssize(meetings) - i);
  if (slow == 0 || chance >= kMostChance) return "";
  return slow == with ? "every meeting" : fmt::format("{} of {}", slow, counted(with, "meeting"));
}

/// `, in every meeting with hosts of its leaf, and in no other`, or outside it; empty: with any partner.
Text with_whom(const Told& told, const std::vector<HostMeeting>& meetings) {
  if (told.verdict.groupings.empty()) return "";
  const Grouping& grouping = told.verdict.groupings.front();
  const auto own = std::ranges::find_if(grouping.groups,
                                        [&](const Group& group) { return has_host(group, told.finding.hosts.at(0)); });
  if (own == grouping.groups.end()) return "";
  for (const bool inside : {true, false}) {
    const Text with =
        only_in(meetings, [&](const HostMeeting& each) { return has_host(*own, each.partner) == inside; });
    if (!with.empty())
      return fmt::format(", in {} with hosts {} its {}, and in no other", with, inside ? "of" : "outside",
                         grouping.is_given ? "leaf" : "group");
  }
  return "";
}

/// The median shares in some meetings, when the host sends and when it receives; nothing if either was not measured.
template <typename Wanted>
std::optional<std::array<double, 2>> medians_in(const std::vector<HostMeeting>& meetings, Wanted is_wanted) {
  std::array<std::vector<double>, 2> all;
  for (const HostMeeting& meeting : meetings) {
    for (std::size_t direction = 0; direction < 2 && is_wanted(meeting); ++direction)
      all.at(direction).insert(all.at(direction).end(), meeting.shares.at(direction).begin(),
                               meeting.shares.at(direction).end());
  }
  if (all[0].empty() || all[1].empty()) return std::nullopt;
  return std::array{median_of(all[0]), median_of(all[1])};
}

/// `, sending` or `, receiving` if the other direction is fine in slow meetings.
Text which_way(const std::vector<HostMeeting>& meetings) {
  constexpr double kFine = 1 - VerdictSettings().tolerance;
  const auto medians = medians_in(meetings, [](const HostMeeting& each) { return each.is_slow; });
  if (!medians || ((*medians)[0] >= kFine) == ((*medians)[1] >= kFine)) return "";
  return (*medians)[0] >= kFine ? ", receiving" : ", sending";
}

/// `; it falls evenly, from 98 % to 55 %...` if each quarter of the meetings is slower than the last by the tolerance.
Text trend(const std::vector<HostMeeting>& meetings) {
  constexpr std::size_t kParts = 4;
  std::vector<double> lows;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto medians = medians_in(meetings, [&](const HostMeeting& each) {
      return kParts * at(&each - meetings.data()) / meetings.size() == part;
    });
    if (!medians) return "";
    const double low = std::min((*medians)[0], (*medians)[1]);
    if (part > 0 && low > lows.back() - VerdictSettings().tolerance) return "";
    lows.push_back(low);
  }
  return fmt::format("; it falls evenly, from {} to {} of the bandwidth expected", percent_text(lows.front()),
                     percent_text(lows.back()));
}

/// `rounds 2, 5-7, 11`; only the first few of many.
Text rounds_text(const std::vector<std::int32_t>& rounds) {
  constexpr std::size_t kMostSpans = 8;
  const Text text = (rounds.size() == 1 ? "round " : "rounds ") + folded(rounds);
  std::size_t end = 0;
  for (std::size_t spans = 0; spans < kMostSpans && end != Text::npos; ++spans) end = text.find(", ", end + 1);
  return end == Text::npos ? text : text.substr(0, end) + " and later";
}

/// Which of the hosts, or what between them, may be to blame.
Text suspects(const Told& told) {
  const auto [first, second] = told.finding.fine_hosts;
  if (told.finding.hosts.size() == 1) return "the host or its partners are";
  if (!is_path(told.finding) || first == second)
    return first ? "the path or chance is" : "one of the hosts or a path is";
  return told.host(first ? 1 : 0) + " or the path is";
}

bool is_one(const Told& told, DeviceKind kind) {
  const std::vector<std::int32_t>& devices = told.finding.devices;
  return devices.size() == 1 && told.sweep.devices.at(at(devices[0])).kind == kind;
}

}  // namespace

namespace words {

bool of_any(const Told&) { return true; }
bool of_path(const Told& told) { return is_path(told.finding); }
bool no_figure(const Told& told) { return has_no_figure(told.finding); }
bool of_found_groups(const Told& told) {
  return !told.verdict.groupings.empty() && !told.verdict.groupings.front().is_given;
}
bool of_nic(const Told& told) { return is_one(told, DeviceKind::kNic); }
bool of_gpu(const Told& told) { return is_one(told, DeviceKind::kGpu); }
bool of_switch_port(const Told& told) { return is_one(told, DeviceKind::kSwitchPort); }

Text slow_host(const Told& told) {
  const Finding& finding = told.finding;
  const auto& [sends, receives] = std::tie(finding.sends, finding.receives);
  const bool is_both = finding.direction == Direction::kBoth;
  if (is_both && !finding.both_ways && sends != receives)
    return fmt::format("{} is {} with {}, sending, and with {}, receiving{}", host_with_devices(told), adjective(told),
                       whom(sends), whom(receives), where(told));
  const bool receives_only = finding.direction == Direction::kReceives;
  const Text fine = is_both || !finding.other_way_fine ? ""
                    : receives_only                    ? "; sending is fine"
                                                       : "; receiving is fine";
  return fmt::format("{} is {} with {}{}, {}{}", host_with_devices(told), adjective(told),
                     whom(receives_only ? receives : sends), where(told),
                     finding.both_ways ? "both directions taken together" : directions(finding.direction), fine);
}

Text nic(const Told& told) {
  const bool is_dead = has_no_figure(told.finding);
  Text text = is_dead ? nothing_with(told) : slow_host(told);
  if (told.finding.fine_rails == 0) return text;
  return fmt::format("{}; it {} over {} of {}", text, is_dead ? "works" : "is fine", told.finding.fine_rails,
                     counted(told.finding.other_rails - (told.findings - 1), "other rail"));
}

Text path(const Told& told) {
  const bool is_both = told.finding.direction == Direction::kBoth;
  const std::string_view both = told.finding.both_ways ? ", both directions taken together" : ", both ways";
  const std::string_view back = told.finding.other_way_fine ? "; the way back is fine" : "";
  return fmt::format("the path {} is {}{}{}", direction(told), adjective(told), is_both ? both : back,
                     fine_hosts(told));
}

/// A slow uplink and a longer way look alike.
Text leaf(const Told& told) {
  const Finding& finding = told.finding;
  const std::int64_t all = std::ssize(leaf_at(told.verdict, finding.leaf).hosts);
  const std::int64_t slow = std::min({all, finding.direction == Direction::kReceives ? all : finding.sends.slow,
                                      finding.direction == Direction::kSends ? all : finding.receives.slow});
  return fmt::format("{}{} {} other {} at {}, {}{}: slow uplinks{}",
                     slow < all ? fmt::format("at least {} of {} hosts of ", slow, all) : "",
                     group_name(told, finding.leaf), slow < all ? "reach" : "reaches", groups_word(told),
                     percent_text(finding.ratio), directions(finding.direction),
                     finding.fine_elsewhere ? "; its hosts are fine with each other" : "",
                     told.verdict.groupings.at(0).is_given ? "" : ", or farther away");
}

Text leaf_pair(const Told& told) {
  const auto& [first, second] = std::tie(told.finding.leaf, told.finding.other_leaf);
  return fmt::format(
      "the path {} is slow, or longer than others{}",
      ends(told.finding.direction, group_name(told, first), group_name(told, second)),
      told.finding.fine_elsewhere ? fmt::format("; both are fine with other {}", groups_word(told)) : "");
}

Text rail(const Told& told) {
  const Finding& finding = told.finding;
  if (has_no_figure(finding))
    return fmt::format("nothing can be measured{}, though {} of {} work over other rails", told.over,
                       finding.working_partners, counted(finding.partners, "host"));
  return fmt::format("{} of {} are slower{} than over other rails", finding.sends.slow,
                     counted(finding.sends.shown, "host"), told.over);
}

Text device(const Told& told) {
  const Finding& finding = told.finding;
  const std::string_view it = finding.devices.size() == 1 ? "it" : "them";
  const Text fine = fmt::format("; {} of them fast without {}", finding.fine_without, it);
  return fmt::format("{}{} slow, {}, on {} of {} that used {} ({}){}", devices_text(told, " and "),
                     finding.devices.size() == 1 ? " is" : ", always used together, are", directions(finding.direction),
                     finding.hosts.size(), counted(finding.hosts_met, "host"), it,
                     hosts_text(told.sweep, finding.hosts), finding.fine_without > 0 ? fine : "");
}

Text unsteady_host(const Told& told) {
  const Finding& finding = told.finding;
  const std::vector<HostMeeting> meetings = meetings_of(told);
  const bool fails = has_no_figure(finding);
  const Text direction = which_way(meetings);
  const Text more = with_whom(told, meetings) + trend(meetings);
  const Text since =
      only_in(meetings, [&](const HostMeeting& each) { return each.round >= finding.slow_rounds.front(); });
  if (!since.empty())
    return fmt::format("{} was fine until round {}, and {} in {} since{}{}", told.host(0),
                       finding.slow_rounds.front() - 1, fails ? "failed" : "slow", since, direction, more);
  const auto all = static_cast<double>(std::max<std::int64_t>(finding.readings, 1));
  return fmt::format("{} {}: in {} of {} meetings ({}), in {}{}", told.host(0),
                     finding.slow == finding.readings ? "is slow or fails again and again"
                     : fails                          ? "fails now and then"
                                                      : "is slow now and then" + direction,
                     finding.slow, finding.readings, percent_text(static_cast<double>(finding.slow) / all),
                     rounds_text(finding.slow_rounds), more);
}

Text unsteady_path(const Told& told) {
  const Finding& finding = told.finding;
  return fmt::format("the path {} {} now and then, in {} of {} readings{}", direction(told),
                     has_no_figure(finding) ? "fails" : "is slow", finding.slow, finding.readings, fine_hosts(told));
}

Text dead_host(const Told& told) {
  const auto& [working, all] = std::tie(told.finding.working_partners, told.finding.partners);
  const Text some = fmt::format("{} of its {} {}", working, counted(all, "partner"), working == 1 ? "works" : "work");
  return fmt::format("{}, though {} with others{}", nothing_with(told), working == all ? "its partners work" : some,
                     told.finding.direction == Direction::kBoth ? "" : ", and the other direction works");
}

Text dead_path(const Told& told) {
  const bool is_back_fine = told.finding.direction != Direction::kBoth && told.finding.other_way_fine;
  return fmt::format("nothing can be measured {}, though {}both work with others", direction(told),
                     is_back_fine ? "the way back works, and " : "");
}

Text wrong_data(const Told& told) {
  if (is_path(told.finding)) return "data arrive wrong " + direction(told);
  return fmt::format("data arrive wrong with {}, from or to {} of its {}", told.host(0), told.finding.slow_partners,
                     counted(told.finding.partners, "partner"));
}

Text cut_off(const Told& told) {
  return fmt::format("{} work with each other, and nothing can be measured between them and the others",
                     hosts_text(told.sweep, told.finding.hosts));
}

Text everything(const Told&) {
  return "the usual bandwidth is below the expected one (--expect), even where pairs are fastest";
}

Text undecided(const Told& told) {
  const Finding& finding = told.finding;
  const bool has_failed = has_no_figure(finding);
  Text place = is_path(finding) ? direction(told)
                                : fmt::format("{} {}{}", finding.hosts.size() == 1 ? "with" : "between",
                                              hosts_text(told.sweep, finding.hosts), where(told));
  if (finding.hosts.size() == 1 && has_failed && finding.has_worked) place += " any more";
  if (finding.small_pass) return fmt::format("small messages pass {}, and large ones do not: MTU on the path?", place);
  return fmt::format("{} {}, and the readings cannot tell whether {} to blame",
                     has_failed ? "nothing could be measured" : "bandwidth is low", place, suspects(told));
}

}  // namespace words

namespace {

/// The sentence on findings that differ at most in their rails.
Text sentence_of_one(const Sweep& sweep, const Verdict& verdict, const Alike& alike, const Text& over) {
  const Finding& worst = *alike.front();
  return form_of(sweep, verdict, worst).text({sweep, verdict, worst, over, static_cast<std::int64_t>(alike.size())});
}

/// The sentence on findings on several hosts or paths, each with its rails unless these are the same for all:
/// `2 hosts have slow NICs: node07 over rail 1; node12 over rails [2-3]`.
Text sentence_of_several(const Sweep& sweep, const Verdict& verdict, const Alike& alike) {
  const Finding& worst = *alike.front();
  std::map<std::vector<std::int32_t>, Alike> by_hosts;
  for (const Finding* finding : alike) by_hosts[finding->hosts].push_back(finding);
  std::map<Text, Alike> by_rails;
  for (const auto& [hosts, findings] : by_hosts) by_rails[over_rails(sweep, findings)].push_back(findings.front());
  const Text over = by_rails.size() == 1 ? by_rails.begin()->first : "";
  std::vector<Text> subjects;
  subjects.reserve(by_rails.size());
  for (const auto& [rails, findings] : by_rails)
    subjects.push_back(subject_of(sweep, findings) + (by_rails.size() > 1 ? rails : ""));
  const Text who = fmt::format("{}", fmt::join(subjects, "; "));
  if (is_open(worst))
    return fmt::format("{}{}, and the readings cannot tell which hosts or paths are to blame: {}",
                       has_no_figure(worst) ? "nothing could be measured" : "bandwidth is low", over, who);
  const FindingKind& kind = kind_of(worst);
  const FindingForm& form = form_of(sweep, verdict, worst);
  const Text both = is_path(worst) ? ", both ways" : "";
  const Text one = is_path(worst) ? "" : ", " + directions(worst.direction);
  return fmt::format("{}{}{}: {}{}",
                     counted_being(kind.is(kCountsRails) ? alike.size() : by_hosts.size(), form.noun, form.adjective),
                     over, worst.direction == Direction::kBoth ? both : one, who,
                     kind.is(kComesAndGoes) ? "; " + sentence_of_one(sweep, verdict, {&worst}, over) : "");
}

}  // namespace

const FindingForm& form_of(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  return *std::ranges::find_if(kind_of(finding).forms, [&](const FindingForm& form) {
    return form.applies({sweep, verdict, finding, ""});
  });
}

bool is_alike(const Sweep& sweep, const Verdict& verdict, const Finding& worst, const Finding& finding) {
  if (is(worst, kStandsAlone)) return false;
  if (&form_of(sweep, verdict, worst) != &form_of(sweep, verdict, finding)) return false;
  if (is_open(worst) && has_no_figure(worst) != has_no_figure(finding)) return false;
  const auto said_of = [&](const Finding& each) { return sentence_of_one(sweep, verdict, {&each}, ""); };
  if (worst.other_rail >= 0 || finding.other_rail >= 0) return false;
  if (worst.hosts == finding.hosts && said_of(worst) != said_of(finding)) return false;
  const bool has_reason = finding.reason.empty() || finding.reason == worst.reason;
  return is_open(worst) ||
         (worst.direction == finding.direction && has_reason && 2 * deficit_of(finding) >= deficit_of(worst));
}

std::string sentence(const Sweep& sweep, const Verdict& verdict, const Alike& alike) {
  return differ_in_hosts(alike) ? sentence_of_several(sweep, verdict, alike)
                                : sentence_of_one(sweep, verdict, alike, over_rails(sweep, alike));
}

}  // namespace fabricbench::cluster
