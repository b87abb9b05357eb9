#include "cluster/pairs/attribution/devices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/pairs/attribution/findings.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// The residual of a host with one partner, over a device.
struct OwnResidual {
  std::int32_t own = 0;
  PartnerResidual with_partner;
};

struct Suspicion {
  UnitScore score;                       ///< without hosts that are slow over other devices too
  std::vector<std::int32_t> slow_hosts;  ///< ascending, as all of them
  std::vector<std::int32_t> fast_hosts;
  std::vector<std::int32_t> fast_elsewhere;  ///< of the slow ones

  /// How much the device would explain.
  [[nodiscard]] double missing() const { return score.burden * score.informative; }
};

/// The hosts of a partner and of the entry's own side.
std::pair<std::int32_t, std::int32_t> hosts_of(const Model& model, Entry entry) {
  return {model.ids.host(entry.other), model.ids.host(model.own_effect(entry))};
}

std::vector<OwnResidual> residuals_of(const Model& model, std::span<const Entry> entries) {
  std::vector<OwnResidual> by_partner;
  const auto hosts = [&](Entry entry) { return hosts_of(model, entry); };
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && hosts(entries[end]) == hosts(entries[begin])) ++end;
    const PartnerResidual with_partner = residual_with(model, entries.subspan(begin, end - begin));
    if (with_partner.readings > 0) by_partner.push_back({hosts(entries[begin]).second, with_partner});
    begin = end;
  }
  return by_partner;
}

/// Whether a cap shows with a centre.
bool shows(const Model& model, double cap, double centre) { return centre + model.slow > cap; }

/// The deficit of a reading as a share of the deficit at the cap: 1 at the cap, 0 at the centre.
double share_missing(double residual, double cap, double centre) { return residual / (cap - centre); }

/// A host's median share over other devices of the same kind, from readings in which the cap would show; nothing if
/// there are too few.
std::optional<double> share_elsewhere(const Model& model, const DeviceEffect& effect, std::int32_t host, double cap) {
  const auto kind = at(model.sweep->devices[at(effect.device)].kind);
  std::vector<double> shares;
  for (std::int32_t rail = 0; rail < model.ids.rails; ++rail) {
    for (const Entry entry : model.entries_of(model.ids.of(effect.test, host, rail, effect.role))) {
      const Point& point = model.point_of(entry);
      const Route* route = model.sweep->route_of(at(point.reading), entry.receives());
      const bool other =
          route != nullptr && route->devices[kind] != Route::kNone && route->devices[kind] != effect.device;
      if (!other || !shows(model, cap, model.centre_of(point))) continue;
      if (explained_otherwise(model, point, entry.other)) continue;
      shares.push_back(share_missing(point.residual, cap, model.centre_of(point)));
    }
  }
  if (shares.size() < kMoreThanOne) return std::nullopt;
  return median_of(shares);
}

UnitScore score_of(const Model& model, const std::vector<OwnResidual>& all) {
  std::vector<PartnerResidual> by_partner;
  std::int32_t partners = 0;
  for (const OwnResidual& each : all) {
    if (by_partner.empty() || by_partner.back().host != each.with_partner.host) ++partners;
    by_partner.push_back(each.with_partner);
  }
  return score_residuals(std::move(by_partner), partners, model.slow);
}

Suspicion suspicion_of(const Model& model, const DeviceReadings& readings, const DeviceEffect& effect) {
  Suspicion suspicion;
  std::vector<OwnResidual> by_partner = residuals_of(model, readings.entries_of(effect));
  suspicion.score = score_of(model, by_partner);
  if (suspicion.score.median >= model.slow) return suspicion;
  const double cap = suspicion.score.cap;
  std::map<std::int32_t, std::vector<double>> shares;  // by host
  for (const OwnResidual& each : by_partner) {
    if (!shows(model, cap, each.with_partner.centre)) continue;
    shares[each.own].push_back(share_missing(each.with_partner.residual, cap, each.with_partner.centre));
  }
  std::vector<std::int32_t> by_themselves;  // slow over other devices too
  for (auto& [host, of_host] : shares) {
    if (median_of(of_host) < 0.5) {
      suspicion.fast_hosts.push_back(host);
      continue;
    }
    const std::optional<double> elsewhere = share_elsewhere(model, effect, host, cap);
    if (elsewhere && *elsewhere > 0.5) {
      by_themselves.push_back(host);
      continue;
    }
    suspicion.slow_hosts.push_back(host);
    if (elsewhere) suspicion.fast_elsewhere.push_back(host);
  }
  if (by_themselves.empty()) return suspicion;
  std::erase_if(by_partner,
                [&](const OwnResidual& each) { return std::ranges::binary_search(by_themselves, each.own); });
  suspicion.score = score_of(model, by_partner);
  return suspicion;
}

bool is_suspect(const Model& model, const Suspicion& suspicion, std::int32_t needed) {
  if (!is_slow_unit(model, suspicion.score, needed) || suspicion.score.slow_hosts < 2) return false;
  const auto fast = static_cast<double>(suspicion.fast_hosts.size());
  if (fast > (1 - kMost) * static_cast<double>(suspicion.slow_hosts.size())) return false;
  return suspicion.slow_hosts.size() > 1 || !suspicion.fast_elsewhere.empty();
}

bool is_worth_a_look(const Model& model, std::span<const Entry> entries) {
  const auto slow =
      std::ranges::count_if(entries, [&](Entry entry) { return model.point_of(entry).residual < model.slow; });
  return slow > 0 && readings_to_a_slow_one(model) * slow >= static_cast<std::int64_t>(entries.size());
}

/// A suspected device in one role.
struct Peeled {
  const DeviceEffect* effect = nullptr;
  Suspicion suspicion;
};

/// Sets whether the device explains these readings.
void set_slow(Model& model, std::span<const Entry> entries, bool slow) {
  for (const Entry entry : entries) model.points[entry.point()].over_slow_device = slow;
}

/// Peels devices: the one that explains most, then the one that explains most of the rest, and so on.
std::vector<Peeled> peel(Model& model, const DeviceReadings& readings) {
  const std::int32_t needed = partners_needed(model);
  std::vector<const DeviceEffect*> candidates;
  for (const DeviceEffect& effect : readings.effects) {
    if (is_worth_a_look(model, readings.entries_of(effect))) candidates.push_back(&effect);
  }
  std::vector<Peeled> peeled;
  while (true) {
    const DeviceEffect* worst = nullptr;
    Suspicion most;
    for (const DeviceEffect* effect : candidates) {
      Suspicion suspicion = suspicion_of(model, readings, *effect);
      if (!is_suspect(model, suspicion, needed)) continue;
      if (worst != nullptr && suspicion.missing() >= most.missing()) continue;
      worst = effect;
      most = std::move(suspicion);
    }
    if (worst == nullptr) return peeled;
    set_slow(model, readings.entries_of(*worst), true);
    peeled.push_back({worst, std::move(most)});
    std::erase(candidates, worst);
  }
}

/// The devices with exactly the same readings as this one in this role, itself included.
std::vector<std::int32_t> same_readings(const Model& model, const DeviceReadings& readings,
                                        const DeviceEffect& effect) {
  std::vector<std::int32_t> devices;
  const std::span<const Entry> entries = readings.entries_of(effect);
  for (const DeviceEffect& each : readings.effects) {
    const bool alike =
        each.test == effect.test && each.role == effect.role && each.end - each.begin == effect.end - effect.begin;
    const auto kind = at(model.sweep->devices[at(each.device)].kind);
    const bool same = alike && std::ranges::all_of(entries, [&](Entry entry) {
                        const auto place = at(model.point_of(entry).reading);
                        return model.sweep->route_of(place, entry.receives())->devices[kind] == each.device;
                      });
    if (same) devices.push_back(each.device);
  }
  return devices;
}

std::vector<std::int32_t> united(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::vector<std::int32_t> both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

/// The hosts of these entries, ascending.
std::vector<std::int32_t> hosts_over(const Model& model, std::span<const Entry> entries) {
  std::vector<std::int32_t> hosts;
  hosts.reserve(entries.size());
  for (const Entry entry : entries) hosts.push_back(model.ids.host(model.own_effect(entry)));
  return sorted_unique(std::move(hosts));
}

void add_way(const Model& model, const DeviceReadings& readings, const Peeled& peeled, double false_alarm,
             SlowDevices& slow) {
  const UnitScore& score = peeled.suspicion.score;
  const Role role = peeled.effect->role;
  slow.sends = slow.sends || role != Role::kReceiver;
  slow.receives = slow.receives || role != Role::kSender;
  slow.readings += score.readings;
  slow.false_alarm = std::min(slow.false_alarm, false_alarm);
  if (slow.slow_hosts.empty() || score.median < slow.score.median) slow.score = score;
  slow.slow_hosts = united(slow.slow_hosts, peeled.suspicion.slow_hosts);
  slow.hosts = united(slow.hosts, hosts_over(model, readings.entries_of(*peeled.effect)));
  slow.fast_elsewhere = united(slow.fast_elsewhere, peeled.suspicion.fast_elsewhere);
}

constexpr std::int32_t kNothing = -1;
constexpr std::int32_t kMixed = -2;

/// Combines what is known so far with one more: the same value, or kMixed.
void combine(std::int32_t& known, std::int32_t now) {
  if (known == kNothing) known = now;
  if (known != now) known = kMixed;
}

/// Whether readings over a device, all of one kind and in one role, can be told from those of a host: several units
/// used the device, or its unit used something else as well.
bool is_told_from_hosts(const Model& model, const std::vector<Entry>& over) {
  const std::int32_t own = model.own_effect(over.front());
  return over.size() < model.entries_of(own).size() ||
         std::ranges::any_of(over, [&](Entry side) { return model.own_effect(side) != own; });
}

/// By kind of device, the one that all readings of a host, or of one of its rails, went through.
using Constant = std::array<std::int32_t, kDeviceKinds>;
constexpr Constant kNoDevices{kNothing, kNothing, kNothing};

/// By host and rail; rail -1: all rails.
using Constants = std::map<std::pair<std::int32_t, std::int32_t>, Constant>;

void note_side(const Sweep& sweep, std::size_t place, bool receiver, Constants& constants) {
  const Reading& reading = sweep.readings[place];
  const Route* route = sweep.route_of(place, receiver);
  const std::int32_t host = receiver ? reading.to : reading.from;
  const std::int32_t rail = receiver ? reading.to_rail : reading.from_rail;
  for (const std::int32_t which : {-1, rail}) {
    const auto known = constants.find({host, which});
    if (known == constants.end()) continue;
    for (std::size_t kind = 0; kind < kDeviceKinds; ++kind) {
      const std::int32_t device = route == nullptr ? Route::kNone : route->devices[kind];
      combine(known->second[kind], device == Route::kNone ? kMixed : device);
    }
  }
}

bool is_of_one_host(const Finding& finding) { return finding.hosts.size() == 1 && !is(finding, kOverDevices); }

}  // namespace

std::vector<SlowDevices> find_devices(Model& model, const DeviceReadings& readings) {
  std::vector<SlowDevices> found;
  const std::vector<Peeled> peeled = peel(model, readings);
  if (peeled.empty()) return found;
  fit_clean(model);
  const auto tests = static_cast<double>(effects_tested(model));
  const auto of_devices = [&](const std::vector<std::int32_t>& devices) -> SlowDevices& {
    const auto known = std::ranges::find_if(found, [&](const SlowDevices& each) { return each.devices == devices; });
    if (known != found.end()) return *known;
    found.emplace_back().devices = devices;
    return found.back();
  };
  std::vector<const Peeled*> blamed;
  for (const Peeled& each : peeled) {
    const double false_alarm = family_wise(chance_of(model, each.suspicion.score, false), tests);
    set_slow(model, readings.entries_of(*each.effect), false);
    if (false_alarm >= model.settings.false_alarm) continue;
    blamed.push_back(&each);
    add_way(model, readings, each, false_alarm, of_devices(same_readings(model, readings, *each.effect)));
  }
  // After the loop, since a reading may be over a blamed device and over one that is not.
  for (const Peeled* each : blamed) set_slow(model, readings.entries_of(*each->effect), true);
  return found;
}

DeviceReadings list_devices(const Model& model) {
  DeviceReadings readings;
  if (model.sweep->routes_of.empty()) return readings;
  std::map<std::tuple<std::int32_t, std::int32_t, Role>, std::vector<Entry>> lists;  // by kind, device and role
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    const Point& point = model.points[i];
    const auto code = static_cast<std::uint32_t>(2 * i);
    for (const Entry side : {Entry{code + 1, point.sender}, Entry{code, point.receiver}}) {
      const Route* route = model.sweep->route_of(at(point.reading), side.receives());
      if (route == nullptr) continue;
      const std::int32_t own = model.own_effect(side);
      for (const std::int32_t device : route->devices) {
        if (device != Route::kNone) lists[{model.ids.kind(own), device, EffectIds::role(own)}].push_back(side);
      }
    }
  }
  for (auto& [of, list] : lists) {
    if (!is_told_from_hosts(model, list)) continue;
    std::ranges::stable_sort(list, {}, [&](Entry side) { return hosts_of(model, side); });
    const auto [kind, device, role] = of;
    const std::size_t begin = readings.entries.size();
    readings.entries.insert(readings.entries.end(), list.begin(), list.end());
    readings.effects.push_back({device, kind, role, begin, readings.entries.size()});
  }
  return readings;
}

void name_devices(const Sweep& sweep, Verdict& verdict) {
  if (sweep.routes_of.empty()) return;
  Constants constants;
  for (const Finding& finding : verdict.findings) {
    if (is_of_one_host(finding)) constants.emplace(std::pair(finding.hosts[0], finding.rail), kNoDevices);
  }
  if (constants.empty()) return;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    if (sweep.readings[place].outcome != Outcome::kMeasured) continue;
    note_side(sweep, place, false, constants);
    note_side(sweep, place, true, constants);
  }
  for (Finding& finding : verdict.findings) {
    if (!is_of_one_host(finding)) continue;
    for (const std::int32_t device : constants.at({finding.hosts[0], finding.rail})) {
      if (device >= 0) finding.devices.push_back(device);
    }
  }
}

std::vector<char> readings_over(const Sweep& sweep, const std::vector<SlowDevices>& slow) {
  std::array<std::vector<char>, 2> is_slow;  // by device: when it sends, when it receives
  for (std::vector<char>& direction : is_slow) direction.assign(sweep.devices.size(), 0);
  for (const SlowDevices& each : slow) {
    for (const std::int32_t device : each.devices) {
      if (each.sends) is_slow[0][at(device)] = 1;
      if (each.receives) is_slow[1][at(device)] = 1;
    }
  }
  std::vector<char> over(sweep.readings.size(), 0);
  for (std::size_t place = 0; place < over.size(); ++place) {
    for (const bool receiver : {false, true}) {
      const Route* route = sweep.route_of(place, receiver);
      if (route == nullptr) continue;
      for (const std::int32_t device : route->devices) {
        if (device != Route::kNone && is_slow[receiver ? 1 : 0][at(device)] != 0) over[place] = 1;
      }
    }
  }
  return over;
}

void report_devices(const std::vector<SlowDevices>& slow, Verdict& verdict) {
  for (const SlowDevices& each : slow) {
    Finding finding;
    finding.blame = Blame::kDevice;
    finding.devices = each.devices;
    finding.hosts = each.slow_hosts;
    finding.hosts_met = static_cast<std::int64_t>(each.hosts.size());
    finding.fine_without = static_cast<std::int64_t>(each.fast_elsewhere.size());
    finding.direction = direction_of(each.sends, each.receives);
    finding.ratio = std::exp(each.score.median);
    finding.rate = std::exp(each.score.cap);
    finding.expected = finding.rate / finding.ratio;
    finding.readings = each.readings;
    finding.partners = each.score.informative_hosts;
    finding.slow_partners = each.score.slow_hosts;
    finding.false_alarm = each.false_alarm;
    verdict.findings.push_back(std::move(finding));
  }
}

}  // namespace fabricbench::cluster
