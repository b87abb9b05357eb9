// Which units are slow with everybody.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/attribution/model.h"
#include "cluster/attribution/unit_scores.h"

namespace fabricbench::cluster {

/// An effect that is slow with most partners.
struct UnitEffect {
  std::int32_t effect = 0;
  UnitScore score;
  double false_alarm = 1;
  bool polish_agrees = true;  ///< median polish sees at least half of it
};

struct UnitEffects {
  std::vector<UnitEffect> blamed;
  std::vector<UnitEffect> suspected;  ///< slow, but by too few readings to say so
  /// Slow with each other alone: of each such set of hosts one may be fine, and the others are slow.
  std::vector<UnitEffect> mutual;
  std::vector<std::int32_t> mutual_hosts;  ///< these hosts, ascending, with those that nothing is left to blame for
  /// Hosts that are slow with all others and fine with each other, as those of one rack may be: not blamed.
  std::vector<std::int32_t> apart;
};

/// With how many partners a host has to be slow: the settings', or all there are, but never one alone.
[[nodiscard]] std::int32_t partners_needed(const Model& model);

/// Peels: blames the effect that explains most, takes its readings from its partners' accounts, and goes on; then
/// tests each against what readings of the others are like. `barred` effects are left out, and get those that did not
/// pass. Sets the flags and effects of the model, and estimates healthy readings again.
[[nodiscard]] UnitEffects find_units(Model& model);

/// The finest level of nearness of which an effect would show with hosts of its own group alone, among others that were
/// measured; Question::kNoLevel where there is none.
[[nodiscard]] std::int32_t shows_within_level(const Model& model, const UnitEffect& found);

/// Whether that is the finest level.
[[nodiscard]] inline bool shows_within_group(const Model& model, const UnitEffect& found) {
  return shows_within_level(model, found) == 0;
}

/// Tukey's median polish (Exploratory Data Analysis, 1977, chapter 11) over all readings, nobody left out: by effect,
/// how far it is from the others in its role, as a logarithm. A second opinion that does not depend on the order in
/// which hosts were blamed.
[[nodiscard]] std::vector<float> median_polish(const Model& model);

}  // namespace fabricbench::cluster
