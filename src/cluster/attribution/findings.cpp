#include "cluster/attribution/findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// Where median polish sees less than half of it, a finding is held to be so much less sure.
constexpr double kDoubt = 10;
/// Where it takes more partners than this to see something, ten of them say nothing.
constexpr std::int32_t kHopeless = 40;

Direction direction_of(bool sends, bool receives) {
  if (sends == receives) return Direction::kBoth;
  return sends ? Direction::kSends : Direction::kReceives;
}

Finding from_block(Blame blame, const BlockScore& score, double expected) {
  Finding finding;
  finding.blame = blame;
  finding.ratio = std::exp(score.median);
  finding.expected = expected;
  finding.rate = expected * finding.ratio;
  finding.readings = score.readings;
  finding.partners = score.hosts;
  finding.false_alarm = score.false_alarm;
  return finding;
}

/// What readings between leaves are like where nothing is slow.
double centre_between_leaves(const Model& model, std::int32_t kind) {
  double centre = 0;
  std::int64_t most = 0;
  for (const Stratum& stratum : model.strata) {
    if (stratum.kind != kind || stratum.distance == 0 || stratum.readings < most) continue;
    centre = stratum.centre;
    most = stratum.readings;
  }
  return centre;
}

void add_row(const Model& model, const LeafRow& row, std::vector<Finding>& findings) {
  for (Finding& known : findings) {
    if (known.blame != Blame::kLeaf || known.leaf != row.leaf) continue;
    known.direction = Direction::kBoth;
    known.readings += row.score.readings;
    known.false_alarm = std::min(known.false_alarm, row.score.false_alarm);
    return;
  }
  findings.push_back(from_block(Blame::kLeaf, row.score, centre_between_leaves(model, row.kind)));
  findings.back().leaf = row.leaf;
  findings.back().direction = direction_of(row.role != Role::kReceiver, row.role != Role::kSender);
}

void add_path(const Model& model, const LeafPath& path, std::vector<Finding>& findings) {
  for (Finding& known : findings) {
    if (known.blame != Blame::kLeafPair) continue;
    const bool same = known.leaf == path.from && known.other_leaf == path.to;
    const bool back = known.leaf == path.to && known.other_leaf == path.from;
    if (!same && !back) continue;
    if (back) known.direction = Direction::kBoth;
    known.readings += path.score.readings;
    known.false_alarm = std::min(known.false_alarm, path.score.false_alarm);
    return;
  }
  findings.push_back(from_block(Blame::kLeafPair, path.score, centre_between_leaves(model, path.kind)));
  findings.back().leaf = path.from;
  findings.back().other_leaf = path.to;
  findings.back().direction = path.either ? Direction::kBoth : Direction::kSends;
}

/// What is blamed on one rail of one host, of all kinds of readings.
struct SlowUnit {
  bool sends = false;
  bool receives = false;
  const UnitEffect* worst = nullptr;
  std::int64_t readings = 0;
  bool other_way_measured = false;
  double false_alarm = 1;
  bool polish_agrees = true;
};

/// The effect of the other direction; that of both directions together has none, and is its own.
std::int32_t other_way(std::int32_t effect) {
  const Role role = EffectIds::role(effect);
  return role == Role::kEither ? effect : effect + (role == Role::kSender ? 1 : -1);
}

/// Whether the other direction is slow alike, though it does not show as clearly.
bool other_way_too(const Model& model, const UnitEffect& found) {
  if (EffectIds::role(found.effect) == Role::kEither) return true;
  const UnitScore score = score_effect(model, other_way(found.effect));
  return score.informative >= 2 && score.median < std::min(found.score.median / 2, model.slow / 2);
}

void add_effect(const Model& model, const UnitEffect& found, SlowUnit& unit) {
  const Role role = EffectIds::role(found.effect);
  const bool both = other_way_too(model, found);
  unit.sends = unit.sends || both || role == Role::kSender;
  unit.receives = unit.receives || both || role == Role::kReceiver;
  if (unit.worst == nullptr || found.score.median < unit.worst->score.median) unit.worst = &found;
  unit.readings += found.score.readings;
  unit.other_way_measured = unit.other_way_measured || !model.entries_of(other_way(found.effect)).empty();
  unit.false_alarm = std::min(unit.false_alarm, found.false_alarm);
  unit.polish_agrees = unit.polish_agrees && found.polish_agrees;
}

/// Whether a slow reading of an effect was taken alone.
bool seen_alone(const Model& model, std::int32_t effect) {
  const auto entries = model.entries_of(effect);
  return std::any_of(entries.begin(), entries.end(), [&](Entry entry) {
    const Point& point = model.point_of(entry);
    return model.reading_of(point).concurrent == 1 && point.residual < model.slow;
  });
}

Finding from_unit(const Model& model, const SlowUnit& unit) {
  Finding finding;
  const std::int32_t effect = unit.worst->effect;
  finding.hosts = {model.ids.host(effect)};
  finding.direction = direction_of(unit.sends, unit.receives);
  finding.ratio = std::exp(unit.worst->score.median);
  finding.rate = std::exp(unit.worst->score.cap);
  finding.expected = finding.rate / finding.ratio;
  finding.readings = unit.readings;
  finding.partners = unit.worst->score.informative_hosts;
  finding.slow_partners = unit.worst->score.slow_hosts;
  finding.partners_met = unit.worst->score.partners;
  finding.other_way_measured = unit.other_way_measured;
  finding.confirmed = seen_alone(model, effect);
  finding.false_alarm = unit.polish_agrees ? unit.false_alarm : std::min(1.0, kDoubt * unit.false_alarm);
  return finding;
}

/// The rails of each host that have readings.
std::set<std::int32_t> rails_of(const Model& model, std::int32_t host) {
  std::set<std::int32_t> rails;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (model.ids.host(effect) == host && !model.entries_of(effect).empty()) rails.insert(model.ids.rail(effect));
  }
  return rails;
}

Finding whole_host(const Model& model, const std::map<std::int32_t, SlowUnit>& units) {
  SlowUnit all;
  for (const auto& [rail, unit] : units) {
    all.sends = all.sends || unit.sends;
    all.receives = all.receives || unit.receives;
    if (all.worst == nullptr || unit.worst->score.median < all.worst->score.median) all.worst = unit.worst;
    all.readings += unit.readings;
    all.other_way_measured = all.other_way_measured || unit.other_way_measured;
    all.false_alarm = std::min(all.false_alarm, unit.false_alarm);
    all.polish_agrees = all.polish_agrees && unit.polish_agrees;
  }
  Finding finding = from_unit(model, all);
  finding.blame = Blame::kHost;
  return finding;
}

/// Whether an effect has readings with so many different hosts.
bool has_partners(const Model& model, std::int32_t effect, std::int32_t wanted) {
  std::int32_t partners = 0;
  std::int32_t last = -1;
  for (const Entry entry : model.entries_of(effect)) {
    const std::int32_t host = model.ids.host(entry.other);
    if (host != last && ++partners >= wanted) return true;
    last = host;
  }
  return false;
}

/// With so many other suspects each one is measured.
constexpr std::size_t kSuspectsToMeet = 2;

/// The pairs of these hosts, sorted, that have readings; the lower host first.
std::set<std::pair<std::int32_t, std::int32_t>> pairs_met(const Model& model, const std::vector<std::int32_t>& hosts) {
  const auto wanted = [&](std::int32_t host) { return std::binary_search(hosts.begin(), hosts.end(), host); };
  std::set<std::pair<std::int32_t, std::int32_t>> met;
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    if (wanted(reading.from) && wanted(reading.to)) met.insert(std::minmax(reading.from, reading.to));
  }
  return met;
}

void ask_about(const Model& model, const UnitEffect& found, Verdict& verdict) {
  const UnitScore& score = found.score;
  const double scale = model.scale_of(model.point_of(model.entries_of(found.effect).front()));
  const std::int32_t wanted = partners_to_judge(scale, model.settings);
  if (wanted > kHopeless) return;  // a note says how noisy it is
  const Role role = EffectIds::role(found.effect);
  const char* way = role == Role::kEither ? "" : role == Role::kSender ? " when it sends" : " when it receives";
  verdict.questions.push_back({model.ids.host(found.effect), -1,
                               static_cast<std::int16_t>(model.ids.rail(found.effect)),
                               std::max(2, wanted - score.informative),
                               fmt::format("slow with {} of {} partners{}, {:.0f} % below the others", score.slow,
                                           score.informative, way, -100 * std::expm1(score.median))});
}

}  // namespace

void report_blocks(const Model& model, const Blocks& blocks, Verdict& verdict) {
  for (const LeafRow& row : blocks.rows) add_row(model, row, verdict.findings);
  for (const LeafPath& path : blocks.paths) add_path(model, path, verdict.findings);
}

void report_rails(const std::vector<SlowRail>& rails, Verdict& verdict) {
  for (const SlowRail& rail : rails) {
    verdict.findings.push_back(from_block(Blame::kRail, rail.score, rail.expected));
    verdict.findings.back().rail = rail.rail;
  }
}

void report_units(const Model& model, const UnitEffects& units, Verdict& verdict) {
  std::map<std::int32_t, std::map<std::int32_t, SlowUnit>> slow;  // by host, by rail
  for (const UnitEffect& found : units.blamed) {
    add_effect(model, found, slow[model.ids.host(found.effect)][model.ids.rail(found.effect)]);
    if (!found.polish_agrees) {
      verdict.notes.push_back(
          fmt::format("{}: median polish over all readings sees less than half of what it is blamed for",
                      model.sweep->hosts[static_cast<std::size_t>(model.ids.host(found.effect))]));
    }
  }
  for (const auto& [host, rails] : slow) {
    if (rails.size() == rails_of(model, host).size() && (rails.size() > 1 || model.ids.rails == 1)) {
      verdict.findings.push_back(whole_host(model, rails));
      continue;
    }
    for (const auto& [rail, unit] : rails) {
      verdict.findings.push_back(from_unit(model, unit));
      verdict.findings.back().blame = Blame::kNic;
      verdict.findings.back().rail = rail;
    }
  }
  for (const UnitEffect& found : units.suspected) {
    if (!slow.contains(model.ids.host(found.effect))) ask_about(model, found, verdict);
  }
}

void ask_suspects(const Model& model, const UnitEffects& units, Verdict& verdict) {
  std::vector<std::int32_t> suspects;
  for (const auto* list : {&units.blamed, &units.suspected}) {
    for (const UnitEffect& unit : *list) suspects.push_back(model.ids.host(unit.effect));
  }
  std::sort(suspects.begin(), suspects.end());
  suspects.erase(std::unique(suspects.begin(), suspects.end()), suspects.end());
  if (suspects.size() < 2) return;
  const std::set<std::pair<std::int32_t, std::int32_t>> met = pairs_met(model, suspects);
  std::map<std::int32_t, std::size_t> partners;
  for (const auto& [host, other] : met) {
    ++partners[host];
    ++partners[other];
  }
  const std::size_t wanted = std::min(kSuspectsToMeet, suspects.size() - 1);
  for (std::size_t step = 1; step <= suspects.size() / 2; ++step) {
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      const auto [host, other] = std::minmax(suspects[i], suspects[(i + step) % suspects.size()]);
      if (partners[host] >= wanted || partners[other] >= wanted || met.contains({host, other})) continue;
      ++partners[host];
      ++partners[other];
      verdict.questions.push_back({host, other, 0, 1, "both are slow with others", true});
    }
  }
}

void report_flapping(const Model& model, const std::vector<FlappingHost>& hosts, Verdict& verdict) {
  for (const FlappingHost& host : hosts) {
    if (!host.sure) {
      verdict.questions.push_back(
          {host.host, -1, host.rail, static_cast<std::int32_t>(host.wanted),
           fmt::format("slow or failed in {} of {} meetings, with {} {}", host.slow, host.meetings, host.partners,
                       host.partners == 1 ? "partner" : "partners"),
           false, true});
      continue;
    }
    Finding finding;
    finding.blame = Blame::kTransient;
    finding.hosts = {host.host};
    finding.ratio = host.rate > 0 ? std::exp(host.median) : 0;
    finding.rate = host.rate;
    finding.expected = host.rate > 0 ? host.rate / finding.ratio : 0;
    finding.readings = host.meetings;
    finding.failed = host.failed;
    finding.partners = host.partners;
    finding.slow = host.slow;
    finding.slow_rounds = host.rounds;
    finding.false_alarm = host.false_alarm;
    if (host.failed > 0) {
      const auto& readings = model.sweep->readings;
      const auto first = std::find_if(readings.begin(), readings.end(), [&](const Reading& reading) {
        return reading.outcome == Outcome::kFailed && (reading.from == host.host || reading.to == host.host);
      });
      finding.reason = reason_of(*model.sweep, static_cast<std::size_t>(first - readings.begin()));
    }
    verdict.findings.push_back(finding);
  }
}

std::int32_t partners_to_judge(double scale, const VerdictSettings& settings) {
  // One healthy unit in a thousand twice too slow would not be seen (3.1 standard errors of the median).
  constexpr double kPower = 3.1;
  constexpr double kEnough = 10;  // so many are asked for at most, though with much noise they promise less
  const double gap = std::log1p(-settings.tolerance) - std::log1p(-std::min(2 * settings.tolerance, 0.9));
  const double wanted = std::pow(kPower * kMedianOverMeanError * scale / gap, 2);
  const double asked = wanted > kHopeless ? wanted : std::min(wanted, kEnough);
  return std::max(settings.partners, static_cast<std::int32_t>(std::ceil(std::min(asked, 1e6))));
}

std::vector<std::int32_t> find_not_judged(const Model& model, const Failures& failures, const UnitEffects& units) {
  const auto hosts = static_cast<std::size_t>(model.sweep->hosts.size());
  std::vector<char> settled(hosts, 0);  // blamed, or asked about
  for (const UnitEffect& unit : units.blamed) settled[static_cast<std::size_t>(model.ids.host(unit.effect))] = 1;
  std::int32_t alive = 0;
  for (std::size_t host = 0; host < hosts; ++host) {
    const bool dead = failures.host_is_dead(static_cast<std::int32_t>(host));
    if (dead) settled[host] = 1;
    alive += dead ? 0 : 1;
  }
  std::vector<char> sends(hosts, 0);
  std::vector<char> receives(hosts, 0);
  std::vector<char> lacking(hosts, 0);
  for (std::int32_t effect = 0; effect < model.effects() && hosts > 0; ++effect) {
    if (model.entries_of(effect).empty()) continue;
    const auto host = static_cast<std::size_t>(model.ids.host(effect));
    const Role role = EffectIds::role(effect);
    if (role != Role::kReceiver) sends[host] = 1;
    if (role != Role::kSender) receives[host] = 1;
    const double scale = model.scale_of(model.point_of(model.entries_of(effect).front()));
    std::int32_t wanted = partners_to_judge(scale, model.settings);
    if (wanted <= kHopeless) wanted = std::max(2, std::min(wanted, alive - 1));
    if (!has_partners(model, effect, wanted)) lacking[host] = 1;
  }
  std::vector<std::int32_t> not_judged;
  for (std::size_t host = 0; host < hosts; ++host) {
    const bool apart = std::binary_search(units.apart.begin(), units.apart.end(), static_cast<std::int32_t>(host));
    const bool judged = sends[host] != 0 && receives[host] != 0 && lacking[host] == 0 && !apart;
    if (settled[host] == 0 && !judged) not_judged.push_back(static_cast<std::int32_t>(host));
  }
  return not_judged;
}

}  // namespace fabricbench::cluster
