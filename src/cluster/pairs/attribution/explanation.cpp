#include "cluster/pairs/attribution/explanation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cluster/pairs/attribution/leaves.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/shared_links.h"

namespace fabricbench::cluster {
namespace {

/// Finds units and devices. Devices need to know which partners are slow, and units are found again if devices explain
/// some of their readings.
Explained explain(Model model, const SlowLeaves& leaves) {
  Explained all{std::move(model), leaves.findings, leaves.open, {}, {}, {}};
  fit_first(all.model);
  const DeviceReadings over_devices = list_devices(all.model);
  all.model.device_effects = static_cast<std::int64_t>(over_devices.effects.size());
  all.units = find_units(all.model);
  if (over_devices.effects.empty()) return all;
  all.devices = find_devices(all.model, over_devices);
  if (!all.devices.empty()) all.units = find_units(all.model);
  return all;
}

/// Explains a sweep. The structure is found without readings that are `left_out` (by place; empty: none).
Explained explain_without(const Sweep& sweep, const VerdictSettings& settings, std::vector<char> left_out) {
  Structure structure = structure_of(sweep, settings, left_out);
  SlowLeaves leaves = find_slow_leaves(sweep, structure, settings, left_out, false);
  Model model = make_model(sweep, settings, std::move(structure), std::move(left_out), leaves.explained);
  return explain(std::move(model), leaves);
}

/// If a third of the hosts or more are `slow`, readings cannot tell which kind is healthy. Returns whether these kinds
/// are new.
bool set_kinds(std::vector<char> slow, Structure& structure) {
  const auto hosts = std::count(slow.begin(), slow.end(), 1);
  if (hosts < 2 || 3 * hosts < std::ssize(slow)) return false;
  return std::exchange(structure.is_slow_kind, slow) != slow;
}

/// By host: blamed by itself.
std::vector<char> blamed_hosts(const Explained& all) {
  std::vector<char> blamed(static_cast<std::size_t>(all.model.ids.hosts), 0);
  for (const UnitEffect& found : all.units.blamed) {
    blamed[static_cast<std::size_t>(all.model.ids.host(found.effect))] = 1;
  }
  return blamed;
}

/// Explains a sweep in which pairs share links.
Explained explain_shared(const Sweep& sweep, const VerdictSettings& settings) {
  Structure structure = structure_with_shared_links(sweep, settings);
  Loaded loaded = loaded_readings(sweep, structure, settings.tolerance);
  set_kinds(loaded.never_fast, structure);
  std::vector<char> of_slow_hosts(sweep.readings.size(), 0);  // they say nothing of leaves
  for (std::size_t i = 0; i < of_slow_hosts.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    const bool is_fast = loaded.never_fast[static_cast<std::size_t>(reading.from)] == 0 &&
                         loaded.never_fast[static_cast<std::size_t>(reading.to)] == 0;
    if (!is_fast) of_slow_hosts[i] = 1;
  }
  SlowLeaves leaves = find_slow_leaves(sweep, structure, settings, of_slow_hosts, true);
  for (std::size_t i = 0; i < leaves.explained.size(); ++i) {
    if (leaves.explained[i] != 0) loaded.readings[i] = 1;
  }
  const auto explained = [&] {
    return explain(make_model(sweep, settings, structure, loaded.above_usual, loaded.readings), leaves);
  };
  Explained all = explained();
  if (set_kinds(blamed_hosts(all), structure)) all = explained();
  all.slow_lately = std::move(loaded.slow_lately);
  return all;
}

}  // namespace

Explained explain(const Sweep& sweep, const VerdictSettings& settings, bool links_are_shared) {
  if (links_are_shared) return explain_shared(sweep, settings);
  Explained all = explain_without(sweep, settings, {});
  if (all.devices.empty()) return all;
  Explained second = explain_without(sweep, settings, readings_over(sweep, all.devices));
  return second.devices.empty() ? std::move(all) : std::move(second);
}

}  // namespace fabricbench::cluster
