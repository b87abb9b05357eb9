#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/attribution/devices.h"

namespace fabricbench::cluster {
namespace {

constexpr std::int32_t kNothing = -1;
constexpr std::int32_t kMixed = -2;

/// Combines what is known so far with one more: the same value, or kMixed.
void combine(std::int32_t& known, std::int32_t now) {
  if (known == kNothing) known = now;
  if (known != now) known = kMixed;
}

/// The unit of an effect, for readings of any kind.
std::size_t rail_of_host(const EffectIds& ids, std::int32_t effect) {
  return static_cast<std::size_t>(ids.host(effect)) * static_cast<std::size_t>(ids.rails) +
         static_cast<std::size_t>(ids.rail(effect));
}

/// Calls `use` with each device on each side of each point, and with the entry of that side.
template <typename Use>
void for_each_side(const Model& model, const Use& use) {
  if (model.sweep->routes_of.empty()) return;
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    const Point& point = model.points[i];
    const auto code = static_cast<std::uint32_t>(2 * i);
    for (const Entry side : {Entry{code + 1, point.sender}, Entry{code, point.receiver}}) {
      const Route* route = model.sweep->route_of(static_cast<std::size_t>(point.reading), side.receives());
      if (route == nullptr) continue;
      for (std::size_t kind = 0; kind < kDeviceKinds; ++kind) {
        if (route->devices[kind] != Route::kNone) use(route->devices[kind], kind, side);
      }
    }
  }
}

/// By device, whether it can be told from hosts: it was used by several units, or its unit used several devices of the
/// kind.
std::vector<char> told_from_hosts(const Model& model) {
  const std::size_t rails = static_cast<std::size_t>(model.ids.hosts) * static_cast<std::size_t>(model.ids.rails);
  std::vector<std::int32_t> rail_with(model.sweep->devices.size(), kNothing);
  std::vector<std::int32_t> device_with(rails * kDeviceKinds, kNothing);
  const auto visit = [&](const auto& use) {
    for_each_side(model, [&](std::int32_t device, std::size_t kind, Entry side) {
      const std::size_t rail = rail_of_host(model.ids, model.own_effect(side));
      use(static_cast<std::size_t>(device), device_with[rail * kDeviceKinds + kind], static_cast<std::int32_t>(rail));
    });
  };
  visit([&](std::size_t device, std::int32_t& with, std::int32_t rail) {
    combine(rail_with[device], rail);
    combine(with, static_cast<std::int32_t>(device));
  });
  std::vector<char> told(rail_with.size(), 0);
  visit([&](std::size_t device, std::int32_t with, std::int32_t) {
    if (rail_with[device] == kMixed || with == kMixed) told[device] = 1;
  });
  return told;
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

bool is_of_one_host(const Finding& finding) { return finding.blame != Blame::kDevice && finding.hosts.size() == 1; }

}  // namespace

DeviceReadings list_devices(const Model& model) {
  DeviceReadings readings;
  if (model.sweep->routes_of.empty()) return readings;
  const std::vector<char> told = told_from_hosts(model);
  const auto key = [&](std::int32_t device, Entry side) {
    const std::int32_t own = model.own_effect(side);
    return std::tuple(model.ids.kind(own), device, EffectIds::role(own));
  };
  std::map<std::tuple<std::int32_t, std::int32_t, Role>, std::vector<Entry>> lists;
  for_each_side(model, [&](std::int32_t device, std::size_t, Entry side) {
    if (told[static_cast<std::size_t>(device)] != 0) lists[key(device, side)].push_back(side);
  });
  for (auto& [of, list] : lists) {
    const auto hosts = [&](Entry side) {
      return std::pair(model.ids.host(side.other), model.ids.host(model.own_effect(side)));
    };
    std::stable_sort(list.begin(), list.end(), [&](Entry a, Entry b) { return hosts(a) < hosts(b); });
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
  for (std::vector<char>& way : is_slow) way.assign(sweep.devices.size(), 0);
  for (const SlowDevices& each : slow) {
    for (const std::int32_t device : each.devices) {
      if (each.sends) is_slow[0][static_cast<std::size_t>(device)] = 1;
      if (each.receives) is_slow[1][static_cast<std::size_t>(device)] = 1;
    }
  }
  std::vector<char> over(sweep.readings.size(), 0);
  for (std::size_t place = 0; place < over.size(); ++place) {
    for (const bool receiver : {false, true}) {
      const Route* route = sweep.route_of(place, receiver);
      if (route == nullptr) continue;
      for (const std::int32_t device : route->devices) {
        if (device != Route::kNone && is_slow[receiver ? 1 : 0][static_cast<std::size_t>(device)] != 0) over[place] = 1;
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
    finding.direction = each.sends == each.receives ? Direction::kBoth
                        : each.sends                ? Direction::kSends
                                                    : Direction::kReceives;
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
