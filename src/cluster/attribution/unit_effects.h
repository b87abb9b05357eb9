// Which units are slow with everybody.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/attribution/model.h"

namespace fabricbench::cluster {

/// What an effect's readings say, beyond what is blamed on others. Rates are logarithms, relative to what is healthy.
struct UnitScore {
  std::int32_t partners = 0;  ///< different hosts
  /// Different units whose readings say something: nobody else explains them, and with the cap they would be slow.
  std::int32_t informative = 0;
  std::int32_t slow = 0;               ///< of them, slow
  std::int32_t informative_hosts = 0;  ///< different hosts of the informative units
  std::int32_t slow_hosts = 0;         ///< of them, with a slow unit
  double cap = 0;                      ///< the logarithm of the rate that informative partners have in common
  double median = 0;                   ///< over informative partners, of each one's median
  double upper = 0;                    ///< the same, but the higher of two in the middle
  double burden = 0;          ///< the mean over them of what is missing, at most 0: how much this effect would explain
  std::int64_t readings = 0;  ///< that are informative
  std::int64_t slow_readings = 0;
};

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
  /// Hosts that are slow with all others and fine with each other, as those of one rack may be: not blamed.
  std::vector<std::int32_t> apart;
};

/// What an effect's readings with one unit of a partner say, where nobody else explains them and a cap would show.
struct PartnerLevel {
  std::int32_t host = 0;
  double centre = 0;    ///< what is healthy with this partner, the logarithm of a rate
  double residual = 0;  ///< the median
  std::int64_t readings = 0;
  std::int64_t slow_readings = 0;

  [[nodiscard]] double rate() const { return centre + residual; }
};

/// In the order of hosts.
[[nodiscard]] std::vector<PartnerLevel> partner_levels(const Model& model, std::int32_t effect);

/// How many different hosts an effect has readings with.
[[nodiscard]] std::int32_t partners_met(const Model& model, std::int32_t effect);

/// How many hosts have readings.
[[nodiscard]] std::int32_t hosts_present(const Model& model);

/// With how many partners a host has to be slow: the settings', or all there are, but never one alone.
[[nodiscard]] std::int32_t partners_needed(const Model& model);

[[nodiscard]] UnitScore score_effect(const Model& model, std::int32_t effect);

/// Peels: blames the effect that explains most, takes its readings from its partners' accounts, and goes on; then
/// tests each against what readings of the others are like. `barred` effects are left out, and get those that did not
/// pass. Sets the flags and effects of the model, and estimates healthy readings again.
[[nodiscard]] UnitEffects find_units(Model& model);

/// Tukey's median polish (Exploratory Data Analysis, 1977, chapter 11) over all readings, nobody left out: by effect,
/// how far it is from the others in its role, as a logarithm. A second opinion that does not depend on the order in
/// which hosts were blamed.
[[nodiscard]] std::vector<float> median_polish(const Model& model);

}  // namespace fabricbench::cluster
