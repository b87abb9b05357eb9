// Pairs that are slower than their hosts explain, and hosts that are slow now and then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/attribution/model.h"
#include "cluster/attribution/unit_effects.h"

namespace fabricbench::cluster {

/// What the readings from one unit to another say, once one of them was suspicious.
enum class PairState : std::uint8_t {
  kNoise,       ///< slow once, and not again
  kOpen,        ///< to be measured again
  kUnclear,     ///< slow again, but not always; to be measured again
  kSlow,        ///< slow again and again
  kNowAndThen,  ///< more often than the sweep's noise explains, but not always
  kAlone        ///< slow, and one of the two was measured with nobody else
};

struct PairEffect {
  std::int32_t sender = 0;  ///< effects
  std::int32_t receiver = 0;
  PairState state = PairState::kOpen;
  double median = 0;    ///< of the residuals, less what the units explain: of retests where there are any; of
                        ///< kNowAndThen, of slow readings
  double expected = 0;  ///< bytes per second, the median of what both do with others
  std::int64_t readings = 0;
  std::int64_t slow = 0;     ///< of the readings
  std::int64_t retests = 0;  ///< readings besides the first suspicious one
  double false_alarm = 1;
  bool retested_alone = false;  ///< it was slow, and in a later round, with no other pair at the same time, again
};

struct PairEffects {
  std::vector<PairEffect> pairs;  ///< by sender, then by receiver
  std::int64_t tested = 0;
  /// So many pairs are slow that nothing the sweep knows tells them from the others: two kinds of pairs, perhaps.
  bool too_many = false;
};

/// Looks for readings far below what units and leaves explain, and at all others of their pairs. Suspected units
/// explain their readings too, until it is known.
[[nodiscard]] PairEffects find_pairs(const Model& model, const UnitEffects& units);

/// A host that is slow in some meetings and not in others, more often than the sweep's share of slow readings explains.
struct FlappingHost {
  std::int32_t host = 0;
  double median = 0;  ///< of its slow readings, as a logarithm; of failed ones nothing
  double rate = 0;
  std::int64_t meetings = 0;  ///< with one partner in one round
  std::int64_t slow = 0;      ///< of them
  std::int64_t failed = 0;
  std::int64_t partners = 0;         ///< with whom it was slow
  std::int16_t rail = 0;             ///< of a slow reading
  std::vector<std::int32_t> rounds;  ///< in which it was slow or failed, ascending, each once
  double false_alarm = 1;
  bool sure = false;        ///< else more readings would tell
  bool only_fails = false;  ///< it is blamed for its failures alone
  std::int64_t wanted = 0;  ///< so many more meetings, where it is not sure
};

/// Those that are `known`, and more of them: the surest one first, and then what is left when its readings are taken
/// from its partners' accounts. `failed` are readings (by place) that nobody dead explains. Sets aside the readings of
/// pairs that are slow for good.
[[nodiscard]] std::vector<FlappingHost> find_flapping(const Model& model, const PairEffects& pairs,
                                                      std::span<const std::int32_t> failed,
                                                      std::vector<FlappingHost> known);

/// The share of readings that are slow though nobody is blamed for it, those of `unsteady` hosts (by host) left out.
[[nodiscard]] double share_of_outliers(const Model& model, const PairEffects& pairs, const std::vector<char>& unsteady);

/// Whether there are readings from one unit to another, and they are fine; by effects, as in PairEffect.
[[nodiscard]] bool is_fine_way(const Model& model, std::int32_t sender, std::int32_t receiver);

/// Of all pairs, or of those of hosts of different groups.
[[nodiscard]] AloneOverTogether alone_over_together(const Model& model, bool between_groups);

/// Below this a residual is an outlier: slow, and further out than noise goes.
[[nodiscard]] double outlier_bound(const Model& model, const Point& point);

}  // namespace fabricbench::cluster
