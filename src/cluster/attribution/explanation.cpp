#include "cluster/attribution/explanation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "cluster/attribution/fit.h"
#include "cluster/attribution/shared_links.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// Finds blocks, units and devices. Devices need to know which partners are slow, and units are found again if devices
/// explain some of their readings.
Explained explain(Model model, bool with_blocks = true) {
  Explained all{std::move(model), {}, {}, {}, {}};
  fit_first(all.model);
  if (with_blocks) all.blocks = find_blocks(all.model);
  all.over_devices = list_devices(all.model);
  all.model.device_effects = static_cast<std::int64_t>(all.over_devices.effects.size());
  all.units = find_units(all.model);
  if (all.over_devices.effects.empty()) return all;
  all.devices = find_devices(all.model, all.over_devices);
  if (!all.devices.empty()) all.units = find_units(all.model);
  return all;
}

/// Makes models of a sweep. Computes the structure once for each set of readings that is left out.
class ModelMaker {
 public:
  ModelMaker(const Sweep& sweep, const VerdictSettings& settings) : sweep_(sweep), settings_(settings) {}

  [[nodiscard]] Model without(std::vector<char> left_out, bool is_steady) {
    const auto [known, is_new] = structures_.try_emplace(left_out);
    if (is_new) known->second = structure_of(sweep_, settings_, left_out);
    return made_of(known->second, std::move(left_out), is_steady);
  }
  /// A model in which all hosts are equally far apart.
  [[nodiscard]] Model without_structure() {
    Structure none;
    none.is_alone.assign(sweep_.hosts.size(), 0);
    none.is_unplaced.assign(sweep_.hosts.size(), 0);
    none.scale = structures_.at({}).scale;
    return made_of(std::move(none), {}, false);
  }

 private:
  [[nodiscard]] Model made_of(Structure structure, std::vector<char> left_out, bool is_steady) const {
    Model model = make_model(sweep_, settings_, std::move(structure), std::move(left_out));
    model.is_steady = is_steady;
    return model;
  }

  const Sweep& sweep_;
  const VerdictSettings& settings_;
  std::map<std::vector<char>, Structure> structures_;  // by the readings that are left out
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
Explained explain(const Sweep& sweep, ModelMaker& models, bool is_steady) {
  Explained all = explain(models.without({}, is_steady));
  if (all.devices.empty()) return all;
  Explained second = explain(models.without(readings_over(sweep, all.devices), is_steady));
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

/// Whether a reading goes from one of these slow leaves to another leaf, or comes from one.
bool crosses_any(const Reading& reading, const Nearness& leaves, const std::vector<Finding>& slow) {
  const std::int32_t from = leaves.part_of[static_cast<std::size_t>(reading.from)];
  const std::int32_t to = leaves.part_of[static_cast<std::size_t>(reading.to)];
  return from != to && std::any_of(slow.begin(), slow.end(),
                                   [&](const Finding& finding) { return finding.leaf == from || finding.leaf == to; });
}

}  // namespace

Explained explain(const Sweep& sweep, const VerdictSettings& settings) {
  constexpr double kMuchMore = 0.95;
  ModelMaker models(sweep, settings);
  Explained by_time = explain(sweep, models, false);
  if (changes_of(by_time.model) < settings.tolerance) return by_time;
  Explained steady = explain(sweep, models, true);
  if (left_of(by_time.model) >= kMuchMore * left_of(steady.model)) return steady;
  return are_of_time(by_time.model) ? explain(models.without_structure()) : std::move(by_time);
}

ExplainedBesideLoad explain_beside_load(const Sweep& sweep, const VerdictSettings& settings) {
  const Structure structure = structure_with_shared_links(sweep, settings);
  auto [loaded, above_usual, slow_lately] = loaded_readings(sweep, structure, settings.tolerance);
  ExplainedBesideLoad all{
      explain(make_model(sweep, settings, structure, above_usual, loaded), false), {}, std::move(slow_lately)};
  std::vector<char> slow(sweep.hosts.size(), 0);
  for (const UnitEffect& found : all.explained.units.blamed) {
    slow[static_cast<std::size_t>(all.explained.model.ids.host(found.effect))] = 1;
  }
  all.slow_leaves = find_slow_leaves(sweep, structure, std::move(slow), settings.false_alarm);
  if (all.slow_leaves.empty()) return all;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    if (crosses_any(sweep.readings[i], structure.levels.front(), all.slow_leaves)) loaded[i] = 1;
  }
  all.explained = explain(make_model(sweep, settings, structure, above_usual, loaded), false);
  return all;
}

}  // namespace fabricbench::cluster
