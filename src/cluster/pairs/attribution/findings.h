// Turns effects into findings on hosts, rails, leaves and pairs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "cluster/pairs/attribution/failures.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

// Pairs that are slower than their hosts and leaves explain, and hosts that are slow now and then.

/// Hosts that are slow, and whose readings come and go: the probability that they are slow by chance.
using ComingAndGoing = std::map<std::int32_t, double>;

/// The state of a flow with a suspicious reading: readings from one unit to another.
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

  [[nodiscard]] bool is_suspect(std::int32_t effect) const { return suspects[at(effect)] != 0; }
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

// What becomes a finding.

/// The direction of a finding: slow when it sends, when it receives, or both.
[[nodiscard]] Direction direction_of(bool sends, bool receives);

/// Adds one finding for a host if all of its rails are slow, or else one for each slow rail.
void report_units(const Model& model, const UnitEffects& units, Verdict& verdict);
/// If several hosts are suspect, adds follow-ups on pairs of them: slow hosts are slow with each other too, hosts
/// behind slow uplinks are not.
void follow_up_suspects(const Model& model, const UnitEffects& units, Verdict& verdict);
/// Both directions of a pair are one finding where both are slow. Two hosts of `units.mutual_hosts` are no pair of
/// their own. `slow_share`, by host: of a host that is slow now and then, the share of its meetings; of others 0.
void report_pairs(const Model& model, const PairEffects& pairs, const UnitEffects& units,
                  const std::vector<double>& slow_share, Verdict& verdict);
/// Adds findings on hosts that are slow now and then, and follow-ups on hosts that may be.
void report_unsteady(const std::vector<UnsteadyHost>& hosts, Verdict& verdict);

/// How many different partners a host needs so that a deficit of twice the tolerance is detected.
[[nodiscard]] std::int32_t partners_to_judge(double scale, const VerdictSettings& settings);
/// The hosts with too few readings: Verdict::not_judged. Where links are shared, a reading that tells takes a round, so
/// few have to do; `in_doubt`, by host: it is no more as fast as it was; empty: no links are shared.
[[nodiscard]] std::vector<std::int32_t> find_not_judged(const Model& model, const Failures& failures,
                                                        const UnitEffects& units, const std::vector<char>& in_doubt);

/// Sets the verdict's groupings and kinds, and whether groups are open; adds notes on them.
void report_groups(const Model& model, Verdict& verdict);

/// If there are exactly two groups, no third one shows whether the uplinks of one are slow, or the two are far apart.
/// Adds a note if one group is much smaller and the path to it much slower, so that slow uplinks are likely.
void report_small_group(const Model& model, Verdict& verdict);

/// A host of no group that is slow with everybody, by as much as hosts of different groups are with each other, is
/// alone in its leaf, or slow. Takes such hosts out of `units.blamed`, and adds a note on them.
void report_lone_hosts(const Model& model, UnitEffects& units, Verdict& verdict);

/// Adds a finding if not even the fastest stratum reaches the expected rate.
void report_all(const Model& model, Verdict& verdict);

/// Whether a pair is faster than noise and tolerance explain. Nothing makes readings faster than
/// healthy hosts are, so either the centres are not healthy rates, or some hosts are nearer each other than most pairs.
[[nodiscard]] bool any_are_faster(const Model& model);

/// Where links are shared, whether readings are much faster than what hosts reach alone or near each other. No load
/// makes them faster, so there are two kinds of hosts.
[[nodiscard]] bool are_two_kinds(const Model& model);

/// The faster pairs, if these are pairs of near hosts, as in small leaves of which few pairs were measured. Nothing if
/// they are too few, or if other explanations are possible: faster hosts, or leaves with the only healthy uplinks,
/// would be as fast in all pairs with each other.
[[nodiscard]] std::optional<NearPairs> find_near_pairs(const Model& model);

}  // namespace fabricbench::cluster
