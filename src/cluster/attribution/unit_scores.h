// What the readings of an effect say of it, partner by partner: of a rail of a host, or of a device.
#pragma once

#include <cstdint>
#include <span>
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

/// What an effect's readings with one unit of a partner say.
struct PartnerLevel {
  std::int32_t host = 0;
  double centre = 0;    ///< what is healthy with this partner, the logarithm of a rate
  double residual = 0;  ///< the median
  std::int64_t readings = 0;
  std::int64_t slow_readings = 0;

  [[nodiscard]] double rate() const { return centre + residual; }
};

/// Readings to a slow one, at most, of an effect that may be slow with most partners. Where there are groups, a cap may
/// show with those of one's own alone.
[[nodiscard]] std::int64_t readings_to_a_slow_one(const Model& model);

/// Whether something else that is blamed explains a reading: a block, or the effect `other` on its other side.
[[nodiscard]] bool explained_otherwise(const Model& model, const Point& point, std::int32_t other);

/// What readings with one partner say, those left out that something else explains that is blamed; without readings
/// where fewer than half are left. All of them are of one stratum.
[[nodiscard]] PartnerLevel level_of(const Model& model, std::span<const Entry> entries);

/// Puts together levels, in the order of their hosts. `partners`: how many hosts there are readings with at all.
[[nodiscard]] UnitScore score_levels(std::vector<PartnerLevel> levels, std::int32_t partners, double slow);

/// Those where a cap would show and nobody else explains the readings, in the order of hosts.
[[nodiscard]] std::vector<PartnerLevel> partner_levels(const Model& model, std::int32_t effect);

/// How many different hosts an effect has readings with.
[[nodiscard]] std::int32_t partners_met(const Model& model, std::int32_t effect);

[[nodiscard]] UnitScore score_effect(const Model& model, std::int32_t effect);

/// Whether it is slow with most partners, and with as many as are needed.
[[nodiscard]] bool is_slow_unit(const Model& model, const UnitScore& score, std::int32_t needed);

/// The chance that readings of what is healthy look like this, with this scale: that so many of the partners' medians
/// are at most the one in the middle, or that so many are slow at all. Distribution-free, but for the tail.
/// `by_readings`: where there is no partner left to try, readings count instead, also several with one partner.
[[nodiscard]] double chance_of(const Model& model, const UnitScore& score, double scale, bool by_readings);

}  // namespace fabricbench::cluster
