#include "cluster/attribution/explanation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "cluster/attribution/leaves.h"
#include "cluster/attribution/model.h"
#include "cluster/attribution/shared_links.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// Finds units and devices. Devices need to know which partners are slow, and units are found again if devices explain
/// some of their readings.
Explained explain(Model model, std::vector<Finding> slow_leaves) {
  Explained all{std::move(model), std::move(slow_leaves), {}, {}, {}, {}};
  fit_first(all.model);
  all.over_devices = list_devices(all.model);
  all.model.device_effects = static_cast<std::int64_t>(all.over_devices.effects.size());
  all.units = find_units(all.model);
  if (all.over_devices.effects.empty()) return all;
  all.devices = find_devices(all.model, all.over_devices);
  if (!all.devices.empty()) all.units = find_units(all.model);
  return all;
}

/// Explains a sweep. Computes the structure, and slow leaves, once for each set of readings that is left out.
class Explainer {
 public:
  Explainer(const Sweep& sweep, const VerdictSettings& settings) : sweep_(sweep), settings_(settings) {}

  [[nodiscard]] Explained without(std::vector<char> left_out, bool is_steady) {
    const auto [known, is_new] = known_.try_emplace(left_out);
    auto& [structure, leaves] = known->second;
    if (is_new) {
      structure = structure_of(sweep_, settings_, left_out);
      leaves = find_slow_leaves(sweep_, structure, settings_, left_out, false);
    }
    Model model = make_model(sweep_, settings_, structure, std::move(left_out), leaves.explained);
    model.is_steady = is_steady;
    return explain(std::move(model), leaves.findings);
  }
  /// As if all hosts were equally far apart.
  [[nodiscard]] Explained without_structure() {
    Structure none;
    none.is_alone.assign(sweep_.hosts.size(), 0);
    none.is_unplaced.assign(sweep_.hosts.size(), 0);
    none.scale = known_.at({}).first.scale;
    return explain(make_model(sweep_, settings_, std::move(none), {}), {});
  }

 private:
  const Sweep& sweep_;
  const VerdictSettings& settings_;
  std::map<std::vector<char>, std::pair<Structure, SlowLeaves>> known_;  // by the readings that are left out
};

/// By stratum, the lower quartile of its rates without drift, as a logarithm; infinite: it has no readings. A quartile,
/// since uplinks that are slow in one direction make only half of the readings slow.
std::vector<double> low_rates(const Model& model) {
  constexpr double kQuarter = 0.25;
  std::vector<std::vector<double>> rates(model.strata.size());
  for (const Point& point : model.points) {
    rates[static_cast<std::size_t>(point.stratum)].push_back(point.residual + model.centre_of(point));
  }
  std::vector<double> low;
  low.reserve(rates.size());
  for (std::vector<double>& own : rates) {
    low.push_back(own.empty() ? std::numeric_limits<double>::infinity() : quantile(own, kQuarter));
  }
  return low;
}

/// Whether groups that were found all but vanish when drift is removed. Hosts that met at a fast time look like a
/// group.
bool are_of_time(const Model& model) {
  const std::vector<Nearness>& levels = model.structure.levels;
  if (levels.empty() || levels.front().is_given) return false;
  const std::vector<double> low = low_rates(model);
  double least = 0;  // rate between groups over the rate within one, as a logarithm
  for (std::size_t near = 0; near < low.size(); ++near) {
    if (model.strata[near].distance > 0) continue;
    for (std::size_t far = 0; far < low.size(); ++far) {
      const bool is_far = model.strata[far].distance > 0 && is_alike(model.strata[near], model.strata[far]);
      if (is_far) least = std::min(least, low[far] - model.log_centre[near]);
    }
  }
  return least > std::log(levels.front().across) / 2;
}

/// If there are slow devices, finds the structure again without readings over them.
Explained explain(const Sweep& sweep, Explainer& explainer, bool is_steady) {
  Explained all = explainer.without({}, is_steady);
  if (all.devices.empty()) return all;
  Explained second = explainer.without(readings_over(sweep, all.devices), is_steady);
  if (!second.devices.empty()) all = std::move(second);
  if (add_other_ways(all.model, all.over_devices, all.devices)) all.units = find_units(all.model);
  return all;
}

/// How much the usual rate changes with time, as a logarithm.
double changes_of(const Model& model) {
  double change = 0;
  for (const auto& [round, drop] : model.drops) change = std::max(change, -drop);
  if (model.drift.empty()) return change;
  const auto [lowest, highest] = std::minmax_element(model.drift.begin(), model.drift.end());
  return std::max(change, *highest - *lowest);
}

/// The sum of unexplained residuals, each limited to half of the rate.
double left_of(const Model& model) {
  constexpr double kMost = 0.7;
  double left = 0;
  for (const Point& point : model.points) {
    left += std::min(std::abs(point.residual - std::min(model.explained(point), 0.0)), kMost);
  }
  return left;
}

/// Explains a sweep in which pairs share links.
Explained explain_shared(const Sweep& sweep, const VerdictSettings& settings) {
  Structure structure = structure_with_shared_links(sweep, settings);
  Loaded loaded = loaded_readings(sweep, structure, settings.tolerance);
  std::vector<char> of_slow_hosts;  // they say nothing of leaves
  for (const Reading& reading : sweep.readings) {
    const bool are_fast = loaded.ever_fast[static_cast<std::size_t>(reading.from)] != 0 &&
                          loaded.ever_fast[static_cast<std::size_t>(reading.to)] != 0;
    of_slow_hosts.push_back(are_fast ? 0 : 1);
  }
  SlowLeaves leaves = find_slow_leaves(sweep, structure, settings, of_slow_hosts, true);
  for (std::size_t i = 0; i < leaves.explained.size(); ++i) loaded.readings[i] |= leaves.explained[i];
  Model model = make_model(sweep, settings, std::move(structure), std::move(loaded.above_usual), loaded.readings);
  Explained all = explain(std::move(model), std::move(leaves.findings));
  all.slow_lately = std::move(loaded.slow_lately);
  return all;
}

}  // namespace

Explained explain(const Sweep& sweep, const VerdictSettings& settings, bool links_are_shared) {
  constexpr double kMuchMore = 0.95;
  if (links_are_shared) return explain_shared(sweep, settings);
  Explainer explainer(sweep, settings);
  Explained by_time = explain(sweep, explainer, false);
  if (changes_of(by_time.model) < settings.tolerance) return by_time;
  Explained steady = explain(sweep, explainer, true);
  if (left_of(by_time.model) >= kMuchMore * left_of(steady.model)) return steady;
  return by_time.slow_leaves.empty() && are_of_time(by_time.model) ? explainer.without_structure() : std::move(by_time);
}

}  // namespace fabricbench::cluster
