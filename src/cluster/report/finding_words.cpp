#include "cluster/report/finding_words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/report/verdict_lists.h"
#include "cluster/sorted_unique.h"
#include "common/core/plain_text.h"
#include "common/core/units.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

using Text = std::string;

Text host_of(const Sweep& sweep, const Finding& finding, std::size_t which) {
  return host_name(sweep, finding.hosts.at(which));
}

/// One of three texts, by direction.
Text by_way(Direction direction, std::string_view both, std::string_view sends, std::string_view receives) {
  return Text(direction == Direction::kBoth ? both : direction == Direction::kSends ? sends : receives);
}

/// `rail mlx5_1`, or `its only rail` if it has no name.
Text rail_name(const Sweep& sweep, std::int32_t rail) {
  const Text name = rail < 0 ? "" : printable(sweep.rails[static_cast<std::size_t>(rail)]);
  return name.empty() ? "its only rail" : fmt::format("rail {}", name);
}

/// `leaf rack7 (node[01-08])`, or `group 2 (node[01-08])` if it was found in the readings.
Text group_name(const Sweep& sweep, const Verdict& verdict, std::int32_t place) {
  const Group& group = verdict.groupings.at(0).groups.at(static_cast<std::size_t>(place));
  return fmt::format("{}{} ({})", verdict.groupings[0].is_given ? "leaf " : "", printable(group.name),
                     hosts_text(sweep, group.hosts));
}

std::string_view groups_word(const Verdict& verdict) { return verdict.groupings.at(0).is_given ? "leaves" : "groups"; }

/// The rails of a pair, if there are several: ` over rail 2`, or ` over rail 1 of a and rail 2 of b`.
Text over_rail(const Sweep& sweep, const Finding& finding) {
  if (finding.rail < 0) return "";
  if (finding.other_rail < 0) return fmt::format(" over {}", rail_name(sweep, finding.rail));
  return fmt::format(" over {} of {} and {} of {}", rail_name(sweep, finding.rail), host_of(sweep, finding, 0),
                     rail_name(sweep, finding.other_rail), host_of(sweep, finding, 1));
}

/// The kinds of readings in which a finding shows, if not in all: `, in rdma_write_bw 1 MiB`.
Text in_kinds(const Sweep& sweep, const Finding& finding) {
  std::vector<Text> names;
  for (const std::int16_t kind : finding.kinds) names.push_back(printable(sweep.kinds[static_cast<std::size_t>(kind)]));
  return names.empty() ? "" : fmt::format(", in {}", fmt::join(names, " and "));
}

/// `GPU 0000:17:00.0, GPU-8f6a2c1e`, several with a text between them.
Text devices_text(const Sweep& sweep, const Finding& finding, std::string_view between) {
  constexpr auto kWords = std::to_array<std::string_view>({"NIC", "GPU", "switch port"});  // by DeviceKind
  std::vector<Text> texts;
  for (const std::int32_t place : finding.devices) {
    const Device& device = sweep.devices.at(static_cast<std::size_t>(place));
    const bool has_name = !device.name.empty() && device.name != device.id;
    texts.push_back(fmt::format("{} {}{}", kWords.at(static_cast<std::size_t>(device.kind)),
                                has_name ? printable(device.name) + ", " : "", printable(device.id)));
  }
  return fmt::format("{}", fmt::join(texts, between));
}

/// The devices that all readings of a host, or of its rail, went through: ` (NIC mlx5_2, 0x0c42a103)`.
Text devices_beside(const Sweep& sweep, const Finding& finding) {
  return finding.devices.empty() ? "" : fmt::format(" ({})", devices_text(sweep, finding, ", "));
}

/// The partners with which a host is slow: `all partners`, `11 of 15 partners`, or `all 7 partners that would show the
/// fault, of 15`.
Text whom(const PartnerCount& partners) {
  if (partners.slow < partners.shown) return fmt::format("{} of {}", partners.slow, counted(partners.shown, "partner"));
  if (partners.shown >= partners.met) return "all partners";
  const Text all = partners.shown == 1 ? "the 1 partner" : fmt::format("all {} partners", partners.shown);
  return fmt::format("{} that would show the fault, of {}", all, partners.met);
}

/// The predicate of a slow host or NIC, by direction.
Text of_unit(const Sweep& sweep, const Text& unit, const Finding& finding) {
  const Text kinds = in_kinds(sweep, finding);
  if (finding.both_ways)
    return fmt::format("{} is slow with {}, both directions taken together{}", unit, whom(finding.sends), kinds);
  if (finding.direction != Direction::kBoth) {
    const bool sends = finding.direction == Direction::kSends;
    return fmt::format("{} {} {}{}{}", unit, sends ? "sends slowly to" : "receives slowly from",
                       whom(sends ? finding.sends : finding.receives), kinds,
                       !finding.other_way_fine ? ""
                       : sends                 ? ", and receives as fast as others"
                                               : ", and sends as fast as others");
  }
  if (finding.sends == finding.receives && finding.sends.slow == finding.sends.shown)
    return fmt::format("{} is slow with {}, sending and receiving{}", unit, whom(finding.sends), kinds);
  return fmt::format("{} sends slowly to {}, and receives slowly from {}{}", unit, whom(finding.sends),
                     whom(finding.receives), kinds);
}

Text of_host(const Sweep& sweep, const Verdict&, const Finding& finding) {
  return of_unit(sweep, host_of(sweep, finding, 0) + devices_beside(sweep, finding), finding);
}

/// `nothing can be measured with ...`: `with` a host, `over` a rail, or `when` it sends or receives.
Text nothing_of(const Finding& finding, std::string_view with, const Text& unit) {
  if (finding.direction != Direction::kBoth)
    return fmt::format("nothing can be measured when {} {}", unit, by_way(finding.direction, "", "sends", "receives"));
  return fmt::format("nothing can be measured {} {}{}", with, unit, finding.has_worked ? " any more" : "");
}

Text of_nic(const Sweep& sweep, const Verdict&, const Finding& finding) {
  const bool dead = has_no_figure(finding);
  const Text which = fmt::format("{} of {}{}", rail_name(sweep, finding.rail), host_of(sweep, finding, 0),
                                 devices_beside(sweep, finding));
  Text text = dead ? nothing_of(finding, "over", which) : of_unit(sweep, which, finding);
  if (finding.fine_rails == 0) return text;
  const bool all = finding.fine_rails == finding.other_rails;
  const bool one = !all && finding.fine_rails == 1;
  return fmt::format("{}{}{}other rails of the host {}", text, dead ? ", though " : "; ",
                     all ? "" : fmt::format("{} of {} ", finding.fine_rails, finding.other_rails),
                     dead ? (one ? "works" : "work") : (one ? "is fine" : "are fine"));
}

/// `; both hosts are fine with others`, or which one is; empty: neither is.
Text fine_hosts(const Sweep& sweep, const Finding& finding) {
  const auto [first, second] = finding.fine_hosts;
  if (first && second) return "; both hosts are fine with others";
  return first || second ? fmt::format("; {} is fine with others", host_of(sweep, finding, first ? 0 : 1)) : "";
}

/// `between a and b over rail 1`, or `from a to b`.
Text way_of(const Sweep& sweep, const Finding& finding) {
  const std::size_t first = finding.direction == Direction::kReceives ? 1 : 0;
  return fmt::format(fmt::runtime(finding.direction == Direction::kBoth ? "between {} and {}{}" : "from {} to {}{}"),
                     host_of(sweep, finding, first), host_of(sweep, finding, 1 - first), over_rail(sweep, finding));
}

Text of_pair(const Sweep& sweep, const Verdict&, const Finding& finding) {
  const bool one_way = finding.direction != Direction::kBoth;
  return fmt::format("the path {} is slow{}{}{}{}", way_of(sweep, finding),
                     one_way             ? ""
                     : finding.both_ways ? ", both directions taken together"
                                         : ", both ways",
                     in_kinds(sweep, finding), one_way && finding.other_way_fine ? "; the way back is fine" : "",
                     fine_hosts(sweep, finding));
}

/// A slow uplink and a longer way look alike.
Text of_leaf(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const auto all =
      static_cast<std::int64_t>(verdict.groupings.at(0).groups.at(static_cast<std::size_t>(finding.leaf)).hosts.size());
  std::int64_t slow = all;
  if (finding.direction != Direction::kReceives) slow = std::min(slow, finding.sends.slow);
  if (finding.direction != Direction::kSends) slow = std::min(slow, finding.receives.slow);
  const Text who = slow == all ? "" : fmt::format("at least {} of {} hosts of ", slow, all);
  return fmt::format("{}{} {} other {} at {:.0f} %, {}{}: slow uplinks, or farther away", who,
                     group_name(sweep, verdict, finding.leaf), slow == all ? "reaches" : "reach", groups_word(verdict),
                     100 * finding.ratio, by_way(finding.direction, "in both directions", "outbound", "inbound"),
                     finding.fine_elsewhere ? ", and its hosts are fine with each other" : "");
}

Text of_leaf_pair(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const bool backwards = finding.direction == Direction::kReceives;
  return fmt::format(
      fmt::runtime(finding.direction == Direction::kBoth ? "the path between {} and {} is slow, or longer than others{}"
                                                         : "the path from {} to {} is slow, or longer than others{}"),
      group_name(sweep, verdict, backwards ? finding.other_leaf : finding.leaf),
      group_name(sweep, verdict, backwards ? finding.leaf : finding.other_leaf),
      finding.fine_elsewhere ? fmt::format("; both are fine with other {}", groups_word(verdict)) : "");
}

Text of_rail(const Sweep& sweep, const Verdict&, const Finding& finding) {
  const Text rail = rail_name(sweep, finding.rail);
  if (!has_no_figure(finding))
    return fmt::format("{} is slower than other rails on {} of {}", rail, finding.sends.slow,
                       counted(finding.sends.shown, "host"));
  return fmt::format("{}, though {} of {} work over other rails", nothing_of(finding, "over", rail),
                     finding.working_partners, counted(finding.partners, "host"));
}

Text of_device(const Sweep& sweep, const Verdict&, const Finding& finding) {
  const bool several = finding.devices.size() > 1;
  const char* it = several ? "them" : "it";
  const Text names = hosts_text(sweep, finding.hosts);
  const auto slow = static_cast<std::int64_t>(finding.hosts.size());
  Text text = fmt::format("{}{} slow, {}, on ", devices_text(sweep, finding, " and "),
                          several ? ", always used together, are" : " is",
                          by_way(finding.direction, "sending and receiving", "when sending", "when receiving"));
  if (slow == 1 && finding.hosts_met == 1) return text + fmt::format("{}, which is fast without {}", names, it);
  text += slow == finding.hosts_met
              ? fmt::format("all {} hosts that used {} ({})", slow, it, names)
              : fmt::format("{} of {} hosts that used {} ({})", slow, finding.hosts_met, it, names);
  return finding.fine_without > 0 ? text + fmt::format("; {} of them fast without {}", finding.fine_without, it) : text;
}

Text of_transient(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const char* what = has_no_figure(finding) ? "fails" : "is slow";
  if (finding.hosts.size() == 1) return unsteady_text(sweep, verdict, finding);
  return fmt::format("the path {} {} now and then, in {} of {} readings{}{}", way_of(sweep, finding), what,
                     finding.slow, finding.readings, in_kinds(sweep, finding), fine_hosts(sweep, finding));
}

Text of_dead(const Sweep& sweep, const Verdict&, const Finding& finding) {
  const Text partners =
      finding.working_partners == finding.partners
          ? "its partners work"
          : fmt::format("{} of its {} {}", finding.working_partners, counted(finding.partners, "partner"),
                        finding.working_partners == 1 ? "works" : "work");
  return fmt::format("{}, though {} with others{}", nothing_of(finding, "with", host_of(sweep, finding, 0)), partners,
                     finding.direction != Direction::kBoth ? ", and the other direction works" : "");
}

Text of_dead_pair(const Sweep& sweep, const Verdict&, const Finding& finding) {
  return fmt::format("nothing can be measured {}, though {}both work with others", way_of(sweep, finding),
                     finding.direction != Direction::kBoth && finding.other_way_fine ? "the way back works, and " : "");
}

Text of_wrong_data(const Sweep& sweep, const Verdict&, const Finding& finding) {
  if (finding.hosts.size() == 2) return fmt::format("data arrive wrong {}", way_of(sweep, finding));
  return fmt::format("data arrive wrong with {}, from or to {} of its {}", host_of(sweep, finding, 0),
                     finding.slow_partners, counted(finding.partners, "partner"));
}

Text of_cut_off(const Sweep& sweep, const Verdict&, const Finding& finding) {
  return fmt::format("{} work with each other, and nothing can be measured between them and the others",
                     hosts_text(sweep, finding.hosts));
}

Text of_all(const Sweep&, const Verdict&, const Finding&) {
  return "the usual bandwidth is below the expected one (--expect), even where pairs are fastest";
}

/// Which of the two hosts of a pair, or the path, may be to blame.
Text suspects_of_pair(const Sweep& sweep, const Finding& finding) {
  const auto [first, second] = finding.fine_hosts;
  if (first && second) return "the path or chance is";
  if (first || second) return fmt::format("{} or the path is", host_of(sweep, finding, first ? 1 : 0));
  return "one of the hosts or the path is";
}

Text of_undecided(const Sweep& sweep, const Verdict&, const Finding& finding) {
  const std::size_t hosts = finding.hosts.size();
  const char* any_more = hosts == 1 && has_no_figure(finding) && finding.has_worked ? " any more" : "";
  const Text where = hosts == 2 ? way_of(sweep, finding) + in_kinds(sweep, finding)
                     : hosts == 1
                         ? fmt::format("with {}{}{}", host_of(sweep, finding, 0), any_more, over_rail(sweep, finding))
                         : fmt::format("between {}{}", hosts_text(sweep, finding.hosts), over_rail(sweep, finding));
  if (finding.small_pass) return fmt::format("small messages pass {}, and large ones do not: MTU on the path?", where);
  return fmt::format("{} {}, and the readings cannot tell whether {} to blame",
                     has_no_figure(finding) ? "nothing could be measured" : "bandwidth is low", where,
                     hosts == 1   ? Text("the host or its partners are")
                     : hosts == 2 ? suspects_of_pair(sweep, finding)
                                  : Text("one of the hosts or a path is"));
}

using Words = std::array<std::string_view, 2>;  // for one and several
constexpr Words kHosts = {"host", "hosts"};
constexpr Words kPaths = {"path", "paths"};
constexpr Words kSlow = {"is slow", "are slow"};
constexpr Words kFar = {"is slow towards the others", "are slow towards the others"};
constexpr Words kNothing = {"carries nothing", "carry nothing"};
constexpr Words kDelivers = {"delivers wrong data", "deliver wrong data"};
constexpr Words kGroups = {"group of hosts", "groups of hosts"};
constexpr Words kGroupPaths = {"path between groups", "paths between groups"};
constexpr Words kLeafPaths = {"path between leaves", "paths between leaves"};
constexpr Words kRails = {"rail", "rails"};
constexpr Words kEverywhere = {"is slow everywhere", "are slow everywhere"};
constexpr Words kUnsteady = {"is unsteady", "are unsteady"};
constexpr Words kWrong = {"has wrong data", "have wrong data"};
constexpr Words kDeadNic = {"has a dead NIC", "have dead NICs"};
constexpr Words kSlowNic = {"has a slow NIC", "have slow NICs"};
constexpr Words kPorts = {"switch port", "switch ports"};
constexpr Words kNone = {"", ""};
constexpr int kHostNext = kSweepAgain | kHostPorts;
constexpr int kPathNext = kPairAgain | kSwitches;

/// All kinds in the order of the headline, where a host counts once, as the first of these that is said of it.
constexpr auto make_kinds() {
  using Lists = HostLists;
  using enum Blame;
  using enum Form;
  return std::to_array<FindingKind>({
      {kAll, kAny, "ALL SLOW", "", kNone, kNone, &Lists::slow, of_all, kSwitches},
      {kCutOff, kAny, "CUT OFF", "", kHosts, {"is cut off", "are cut off"}, &Lists::cut_off, of_cut_off, kSwitches},
      {kDead, kAny, "DEAD HOST", "", kHosts, {"is dead", "are dead"}, &Lists::dead, of_dead, kUptime | kWithHealthy},
      {kWrongData, kOfPath, "WRONG DATA", "Path with wrong data", kPaths, kDelivers, &Lists::fine, of_wrong_data,
       kPathNext},
      {kWrongData, kAny, "WRONG DATA", "", kHosts, kWrong, &Lists::wrong_data, of_wrong_data, kHostNext},
      {kHost, kAny, "SLOW HOST", "", kHosts, kSlow, &Lists::slow, of_host, kHostNext},
      {kNic, kNoFigure, "DEAD NIC", "", kHosts, kDeadNic, &Lists::slow, of_nic, kHostNext},
      {kNic, kAny, "SLOW NIC", "", kHosts, kSlowNic, &Lists::slow, of_nic, kHostNext},
      {kTransient, kOfPath, "UNSTEADY", "Unsteady path", kPaths, kUnsteady, &Lists::fine, of_transient, kPathNext},
      {kTransient, kAny, "UNSTEADY", "", kHosts, kUnsteady, &Lists::unsteady, of_transient, kHostNext},
      {kLeaf, kFound, "SLOW GROUP", "Slow group", kGroups, kFar, &Lists::fine, of_leaf, kSwitches},
      {kLeaf, kAny, "SLOW LEAF", "Slow leaf", {"leaf", "leaves"}, kFar, &Lists::fine, of_leaf, kSwitches},
      {kLeafPair, kFound, "SLOW SPINE", "Slow path of leaves", kGroupPaths, kSlow, &Lists::fine, of_leaf_pair,
       kSwitches},
      {kLeafPair, kAny, "SLOW SPINE", "Slow path of leaves", kLeafPaths, kSlow, &Lists::fine, of_leaf_pair, kSwitches},
      {kRail, kNoFigure, "DEAD RAIL", "Dead rail", kRails, kNothing, &Lists::fine, of_rail, kSwitches},
      {kRail, kAny, "SLOW RAIL", "Slow rail", kRails, kEverywhere, &Lists::fine, of_rail, kSwitches},
      {kDevice, kOneNic, "SLOW NIC", "Slow NIC", {"NIC", "NICs"}, kSlow, &Lists::fine, of_device, kDevices},
      {kDevice, kOneGpu, "SLOW GPU", "Slow GPU", {"GPU", "GPUs"}, kSlow, &Lists::fine, of_device, kDevices},
      {kDevice, kOnePort, "SLOW PORT", "Slow switch port", kPorts, kSlow, &Lists::fine, of_device, kDevices},
      {kDevice, kAny, "SLOW DEVICE", "Slow device", {"device", "devices"}, kSlow, &Lists::fine, of_device, kDevices},
      {kPair, kAny, "SLOW PATH", "Slow path", kPaths, kSlow, &Lists::fine, of_pair, kPathNext},
      {kDeadPair, kAny, "DEAD PATH", "Dead path", kPaths, kNothing, &Lists::fine, of_dead_pair, kPairAgain | kPing},
      {kUndecided, kAny, "CANNOT TELL", "", kNone, kNone, &Lists::suspect, of_undecided, kSweepAgain},
  });
}
constexpr auto kKinds = make_kinds();

/// Whether every value of Blame has a row for all of its findings.
constexpr bool is_complete() {
  for (std::size_t blame = 0; blame < names_of(Blame()).size(); ++blame) {
    const auto covers = [&](const FindingKind& kind) {
      return kind.blame == static_cast<Blame>(blame) && kind.form == Form::kAny;
    };
    if (std::count_if(kKinds.begin(), kKinds.end(), covers) != 1) return false;
  }
  return true;
}
static_assert(is_complete());

bool has_form(const Sweep& sweep, const Verdict& verdict, const Finding& finding, Form form) {
  const auto is = [&](DeviceKind kind) {
    return finding.devices.size() == 1 && sweep.devices.at(static_cast<std::size_t>(finding.devices[0])).kind == kind;
  };
  switch (form) {
    case Form::kOfPath: return finding.hosts.size() == 2;
    case Form::kNoFigure: return has_no_figure(finding);
    case Form::kFound: return !verdict.groupings.empty() && !verdict.groupings.front().is_given;
    case Form::kOneNic: return is(DeviceKind::kNic);
    case Form::kOneGpu: return is(DeviceKind::kGpu);
    case Form::kOnePort: return is(DeviceKind::kSwitchPort);
    case Form::kAny: break;
  }
  return true;
}

/// Whom findings of one kind are about: folded hosts or paths.
Text subject_of(const Sweep& sweep, std::span<const Finding* const> alike) {
  std::vector<std::array<std::int32_t, 2>> paths;
  std::vector<std::int32_t> hosts;
  bool to = false;
  for (const Finding* finding : alike) {
    hosts.insert(hosts.end(), finding->hosts.begin(), finding->hosts.end());
    if (!is_path(*finding)) continue;
    const std::size_t first = finding->direction == Direction::kReceives ? 1 : 0;
    paths.push_back({finding->hosts[first], finding->hosts[1 - first]});
    to = to || finding->direction != Direction::kBoth;
  }
  if (paths.size() == alike.size()) return fmt::format("{}", paths_text(sweep, sorted_unique(std::move(paths)), to));
  return hosts_text(sweep, sorted_unique(std::move(hosts)));
}

}  // namespace

std::span<const FindingKind> finding_kinds() { return kKinds; }

const FindingKind& kind_of(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  return *std::find_if(kKinds.begin(), kKinds.end(), [&](const FindingKind& kind) {
    return kind.blame == finding.blame && has_form(sweep, verdict, finding, kind.form);
  });
}

bool has_no_figure(const Finding& finding) { return finding.failed > 0 && finding.rate <= 0; }

std::string gb_per_s(double rate) {
  constexpr int kAnyWidth = 16;
  return readable(rate / 1e9, kAnyWidth);
}

std::string sentence(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  return kind_of(sweep, verdict, finding).text(sweep, verdict, finding);
}

std::string sentence(const Sweep& sweep, const Verdict& verdict, std::span<const Finding* const> alike) {
  const Finding& worst = *alike.front();
  if (alike.size() == 1) return sentence(sweep, verdict, worst);
  const FindingKind& kind = kind_of(sweep, verdict, worst);
  const std::string what =
      worst.blame == Blame::kUndecided
          ? fmt::format("{}, and the readings cannot tell which hosts or paths are to blame",
                        has_no_figure(worst) ? "nothing could be measured" : "bandwidth is low")
          : fmt::format("{} {} {}{}", alike.size(), kind.nouns[1], kind.predicates[1], over_rail(sweep, worst));
  const std::string way = is_path(worst) ? by_way(worst.direction, ", both ways", "", "")
                                         : by_way(worst.direction, "", ", when they send", ", when they receive");
  return fmt::format("{}{}: {}{}", what, way, subject_of(sweep, alike),
                     worst.blame == Blame::kTransient ? "; " + sentence(sweep, verdict, worst) : "");
}

std::string extent(const Finding& finding) {
  if (finding.blame == Blame::kWrongData)
    return fmt::format("{} of {} with wrong data", finding.slow, counted(finding.readings, "reading"));
  if (has_no_figure(finding))
    return finding.blame == Blame::kTransient ? "no figure in these meetings" : "no figure at all";
  const auto [sends, receives] = finding.ratios;
  std::string text = fmt::format("{} GB/s where {} are expected: {:.0f} % of it", gb_per_s(finding.rate),
                                 gb_per_s(finding.expected), 100 * finding.ratio);
  if (std::min(sends, receives) <= 0 || std::abs(sends - receives) < VerdictSettings().tolerance) return text;
  return fmt::format("{}; {:.0f} % sending, {:.0f} % receiving", text, 100 * sends, 100 * receives);
}

std::string extent(const Sweep& sweep, std::span<const Finding* const> alike) {
  constexpr std::size_t kMostNamed = 5;
  const Finding& worst = *alike.front();
  if (alike.size() == 1 || has_no_figure(worst) || worst.blame == Blame::kWrongData) return extent(worst);
  std::vector<std::string> each;
  for (const Finding* finding : alike.first(std::min(alike.size(), kMostNamed))) {
    each.push_back(fmt::format("{} {:.0f} %", subject_of(sweep, {&finding, 1}), 100 * finding->ratio));
  }
  const auto [least, most] = std::minmax_element(
      alike.begin(), alike.end(), [](const Finding* a, const Finding* b) { return a->ratio < b->ratio; });
  std::string range = fmt::format("{:.0f}", 100 * (*least)->ratio);
  if (const std::string highest = fmt::format("{:.0f}", 100 * (*most)->ratio); highest != range)
    range += " to " + highest;
  return fmt::format("{} % of the bandwidth expected: {}{}", range, fmt::join(each, ", "),
                     alike.size() > kMostNamed ? "..." : "");
}

std::string evidence(const Finding& finding) {
  if (finding.blame == Blame::kTransient && finding.hosts.size() == 1) {
    std::string text = fmt::format("{}, slow ones with {}", counted(finding.readings, "meeting"),
                                   counted(finding.partners, "partner"));
    return finding.failed > 0 ? fmt::format("{}; {} without a figure", text, counted(finding.failed, "reading")) : text;
  }
  std::string text = counted(finding.readings, "reading");
  if (finding.hosts.empty() && finding.partners > 0) text += fmt::format(" of {}", counted(finding.partners, "host"));
  const bool of_device = finding.blame == Blame::kDevice;
  if (finding.hosts.size() == 1 || of_device) text += fmt::format(" with {}", counted(finding.partners, "partner"));
  if (has_no_figure(finding) && finding.failed == finding.readings) return text + ", none of them with a figure";
  if (finding.failed > 0) text += fmt::format(", {} of them without a figure", finding.failed);
  const bool of_data = finding.blame == Blame::kWrongData;
  if (!is_path(finding) || of_data || has_no_figure(finding) || finding.slow == 0) return text;
  return text + (finding.slow == finding.readings ? ", slow" : fmt::format(", {} of them slow", finding.slow));
}

std::string chance_in_words(double chance) {
  constexpr double kSmallest = 1e-6;
  if (chance > 0.5) return "not at all: sweeps of healthy hosts look like this as well";
  if (chance > 0.01)
    return fmt::format("{:.0f} of 100 sweeps of healthy hosts look like this", std::ceil(100 * chance));
  if (chance < kSmallest) return "cannot be chance";
  const double sweeps = std::pow(10, std::floor(-std::log10(chance) + 1e-9));
  return fmt::format("fewer than 1 of {} sweeps of healthy hosts look like this",
                     with_commas(static_cast<std::uint64_t>(std::llround(sweeps))));
}

std::string certainty(const Finding& finding) {
  if (finding.blame == Blame::kAll) return "it is compared with --expect, so no probability applies";
  if (finding.blame == Blame::kWrongData) return "data were compared, so no probability applies";
  std::string text = chance_in_words(finding.false_alarm);
  if (text.starts_with("cannot")) text += "; other causes can be";
  return finding.confirmed ? text + "; seen again when measured alone" : text;
}

}  // namespace fabricbench::cluster
