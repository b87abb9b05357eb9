// Units that are slow with most partners.
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
};

struct UnitEffects {
  std::vector<UnitEffect> blamed;
  std::vector<UnitEffect> suspected;  ///< slow, but on too little evidence
  /// Effects that are slow with each other only. In each such set of hosts all but one are slow, and that one may be
  /// any.
  std::vector<UnitEffect> mutual;
  /// The hosts of such sets, ascending, including hosts without a blamed effect.
  std::vector<std::int32_t> mutual_hosts;
  /// Hosts that are slow with all others and fine with each other, as hosts of one rack may be. They are not blamed.
  std::vector<std::int32_t> apart;
};

/// With how many partners a host has to be slow: as the settings say, or all partners if there are fewer, but at least
/// two.
[[nodiscard]] std::int32_t partners_needed(const Model& model);

/// Finds slow units by peeling: blames the effect that explains most, which explains its readings for its partners too,
/// and repeats. Then tests each blamed effect against the healthy readings. Sets flags and caps of the model, and fits
/// the healthy readings again.
[[nodiscard]] UnitEffects find_units(Model& model);

/// The finest level of which an effect shows only with hosts of its own group, though others were measured;
/// FollowUp::kNoLevel: there is no such level.
[[nodiscard]] std::int32_t shows_within_level(const Model& model, const UnitEffect& found);

/// Whether an effect shows only within its group of the finest level.
[[nodiscard]] inline bool shows_within_group(const Model& model, const UnitEffect& found) {
  return shows_within_level(model, found) == 0;
}

}  // namespace fabricbench::cluster
