// Pairs that are slower than their hosts and leaves explain, and hosts that are slow now and then.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// The state of a flow with a suspicious reading: readings from one unit to another.
/// Hosts that are slow, and whose readings come and go: the probability that they are slow by chance.
using ComingAndGoing = std::map<std::int32_t, double>;

enum class PairState : std::uint8_t {
  kNoise,       ///< slow once, and not again
  kOpen,        ///< to be measured again
  kUnclear,     ///< slow again, but not always; to be measured again
  kSlow,        ///< slow again and again
  kNowAndThen,  ///< more often than the sweep's noise explains, but not always
  kAlone        ///< slow, and one of the two units was measured with no other host
};

struct PairEffect {
  std::int32_t sender = 0;  ///< effects
  std::int32_t receiver = 0;
  PairState state = PairState::kOpen;
  double median = 0;    ///< of unexplained residuals: of the retests, if there are any; of kNowAndThen and kUnclear, of
                        ///< the slow readings
  double expected = 0;  ///< bytes per second, the median of the rates that both units would allow
  std::int64_t readings = 0;
  std::int64_t slow = 0;     ///< of the readings
  std::int64_t retests = 0;  ///< readings besides the first suspicious one
  double false_alarm = 1;
  bool retested_alone = false;  ///< it was slow again in a later round, as the only pair
};

struct PairEffects {
  std::vector<char> suspects;     ///< by effect: slow with all partners, though these are too few to blame it
  std::vector<PairEffect> pairs;  ///< by sender, then by receiver
  /// So many pairs are slow that they are no exceptions. Perhaps there are two kinds of pairs.
  bool too_many = false;

  [[nodiscard]] bool is_suspect(std::int32_t effect) const { return suspects[static_cast<std::size_t>(effect)] != 0; }
};

/// Finds flows with a reading far below what units and leaves explain, and judges all readings of these. Flows of
/// suspected units are left out until these are decided.
/// `unsteady`: hosts that explain the flows they are in.
[[nodiscard]] PairEffects find_pairs(const Model& model, const UnitEffects& units, const ComingAndGoing& unsteady);

/// A host that is slow in some meetings and not in others, in more of them than the usual share of slow readings
/// explains.
struct UnsteadyHost {
  Finding finding;          ///< of kTransient; `readings` and `slow` count meetings, with one partner in one round
  bool sure = false;        ///< else more readings are needed
  std::int64_t wanted = 0;  ///< if it is not sure: how many more meetings are needed
  std::int16_t rail = 0;    ///< of a slow reading

  [[nodiscard]] std::int32_t host() const { return finding.hosts.front(); }
};

/// Finds hosts that are slow now and then: the surest one first, whose readings no longer count for its partners, and
/// so on. `failed`: failed readings, by place, that nothing dead explains. Readings of pairs that are slow for good do
/// not count, nor do those of blamed hosts.
[[nodiscard]] std::vector<UnsteadyHost> find_unsteady(const Model& model, const UnitEffects& units,
                                                      const PairEffects& pairs, std::span<const std::int32_t> failed,
                                                      const ComingAndGoing& coming_and_going);

/// The share of slow readings that nothing explains, without readings of `unsteady` hosts (by host).
[[nodiscard]] double share_of_outliers(const Model& model, const PairEffects& pairs,
                                       const std::vector<double>& unsteady);

/// Whether an effect's unit was measured with one host only, in any role.
[[nodiscard]] bool has_one_partner(const Model& model, std::int32_t effect);

/// A residual below this is an outlier: it is slow, and out of the range of noise.
[[nodiscard]] double outlier_bound(const Model& model, const Point& point);

/// Blames hosts no more whose readings come and go, and returns them: nothing explains their readings any more. Adds
/// follow-ups with the same partners for hosts that are not decided.
[[nodiscard]] ComingAndGoing take_unsteady(Model& model, UnitEffects& units, Verdict& verdict);

}  // namespace fabricbench::cluster
