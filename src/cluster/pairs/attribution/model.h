// The model that attribution works on: a sweep's readings as logarithms, and the effects that explain them.
//
// A unit is one rail of one host. It has three effects: on readings that it sends, on readings that it receives, and on
// readings of both directions together. The narrowest place decides the bandwidth (the min model): log rate =
// min(centre of the stratum + effect of the leaves, cap of the sender, cap of the receiver) + drift + noise. A cap is a
// rate, the same for all partners. It shows with near hosts, and is hidden where the path between leaves is slower
// still.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/structure/structure.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

enum class Role : std::int32_t { kSender = 0, kReceiver = 1, kEither = 2 };
constexpr std::int32_t kRoles = 3;

/// Numbers of effects, by kind of reading, host, rail and role.
struct EffectIds {
  std::int32_t hosts = 0;
  std::int32_t rails = 1;

  [[nodiscard]] std::int32_t of(std::int32_t kind, std::int32_t host, std::int32_t rail, Role role) const {
    return ((kind * hosts + host) * rails + rail) * kRoles + static_cast<std::int32_t>(role);
  }
  [[nodiscard]] static Role role(std::int32_t effect) { return static_cast<Role>(effect % kRoles); }
  /// The effect of the other direction. An effect on both directions together is returned as it is.
  [[nodiscard]] static std::int32_t other_way(std::int32_t effect) {
    return role(effect) == Role::kEither ? effect : effect + (role(effect) == Role::kSender ? 1 : -1);
  }
  [[nodiscard]] static std::int32_t unit(std::int32_t effect) { return effect / kRoles; }
  [[nodiscard]] std::int32_t rail(std::int32_t effect) const { return unit(effect) % rails; }
  [[nodiscard]] std::int32_t host(std::int32_t effect) const { return unit(effect) / rails % hosts; }
  [[nodiscard]] std::int32_t kind(std::int32_t effect) const { return unit(effect) / rails / hosts; }
};

/// A reading that has a rate.
struct Point {
  std::int32_t reading = 0;   ///< its place in Sweep::readings
  std::int32_t sender = 0;    ///< the effects that may explain it
  std::int32_t receiver = 0;  ///< of a reading of both directions together both effects are in role kEither
  std::int32_t stratum = 0;
  std::int32_t window = 0;  ///< of time: its place in Model::drift
  float log_rate = 0;
  float residual = 0;             ///< log_rate minus centre and drift
  bool over_slow_device = false;  ///< a slow device explains it
  bool lightly_loaded = false;    ///< see is_lightly_loaded
};

/// The lower tail of healthy readings: the normal distribution, or the observed frequencies where these are higher.
class Tail {
 public:
  Tail() = default;
  /// `low`: of `all` healthy readings, the residuals below some bound, in any order.
  Tail(std::vector<float> low, std::int64_t all);
  /// The probability that a healthy reading of a stratum with this scale has this residual or a lower one. `own` of the
  /// observed readings are excluded; `own_low` of these have such a residual.
  [[nodiscard]] double below(double residual, double scale, std::int64_t own_low = 0, std::int64_t own = 0) const;

 private:
  std::vector<float> low_;  // ascending
  std::int64_t all_ = 0;
};

/// One side of a point, in the list of an effect.
struct Entry {
  std::uint32_t code = 0;
  std::int32_t other = 0;  ///< the effect on the other side
  [[nodiscard]] std::size_t point() const { return code >> 1; }
  [[nodiscard]] bool receives() const { return (code & 1) != 0; }
};

constexpr float kNoCap = std::numeric_limits<float>::infinity();

/// The drift that readings under light load are compared with. A round under light load has too few readings to show
/// its own drift, so the drift of the full rounds around it is taken, smoothed over several of them.
struct LightLoadDrift {
  std::vector<std::int32_t> rounds;  ///< the full ones, ascending
  std::vector<double> usual;         ///< by full round: the drift, smoothed over its neighbours, as a logarithm
  /// Standard deviation of the drift from round to round. It is part of the noise of readings under light load, whose
  /// own drift is not known.
  double scatter = 0;

  [[nodiscard]] double at(std::int32_t round) const;
};

struct Model {
  const Sweep* sweep = nullptr;
  Structure structure;
  bool kinds_suffice = false;  ///< there is a slower kind of hosts, and it reaches the expected rate
  VerdictSettings settings;
  std::vector<char> left_out;  ///< by reading: known to be slow, so excluded from centres and from the search for
                               ///< leaves; empty: none is
  /// By host: of the slower kind, which does not reach the expected rate; empty: there is none.
  std::vector<char> is_too_slow;
  double slow = 0;  ///< log(1 - tolerance): residuals below it are slow
  EffectIds ids;
  std::int32_t hosts_present = 0;  ///< that have readings
  /// Too little was measured to judge a host's two directions apart: all effects are in role kEither.
  bool directions_pooled = false;
  bool has_lightly_loaded = false;  ///< whether any point was taken under light load
  std::vector<Point> points;        ///< in the order of the readings
  std::vector<Stratum> strata;
  std::vector<double> log_centre;  ///< by stratum
  /// By stratum: a stratum of hosts that are farther apart. Nearer hosts are no slower, so its centre is a lower bound,
  /// and is borrowed where a stratum's own centre is below it or rests on few pairs. kNoLender: there is none.
  std::vector<std::int32_t> lender;
  std::vector<double> drift;                     ///< by window of time: common to all readings
  std::vector<LightLoadDrift> light_load_drift;  ///< by kind; empty if no point is lightly loaded
  /// By kind and round: common to all readings of that one round.
  std::map<std::pair<std::int16_t, std::int32_t>, double> drops;
  std::vector<std::size_t> offset;  ///< by effect, where its entries begin; one more at the end
  std::vector<Entry> entries;       ///< by effect, then by partner's unit, then in time
  std::vector<float> cap;           ///< by effect: the logarithm of the rate it does not exceed; kNoCap: unlimited
  std::vector<char> flagged;        ///< by effect: blamed
  /// By effect: its deficit, as a logarithm, if that is close to the tolerance; else 0.
  std::vector<float> near_limit;
  Tail tail;
  std::int64_t device_effects = 0;  ///< number of effects of devices, which are tested as well (devices.h)

  [[nodiscard]] std::int32_t effects() const { return static_cast<std::int32_t>(cap.size()); }
  [[nodiscard]] std::span<const Entry> entries_of(std::int32_t id) const {
    const auto place = at(id);
    return std::span(entries).subspan(offset[place], offset[place + 1] - offset[place]);
  }
  [[nodiscard]] const Point& point_of(Entry entry) const { return points[entry.point()]; }
  /// The effect on the entry's own side.
  [[nodiscard]] std::int32_t own_effect(Entry entry) const {
    return entry.receives() ? point_of(entry).receiver : point_of(entry).sender;
  }
  [[nodiscard]] double scale_of(const Point& point) const {
    const double scale = strata[at(point.stratum)].scale;
    return point.lightly_loaded && !light_load_drift.empty() ? std::hypot(scale, light_load_drift_of(point).scatter)
                                                             : scale;
  }
  [[nodiscard]] const Reading& reading_of(const Point& point) const { return sweep->readings[at(point.reading)]; }
  [[nodiscard]] const LightLoadDrift& light_load_drift_of(const Point& point) const {
    return light_load_drift[at(reading_of(point).test)];
  }
  [[nodiscard]] bool is_flagged(std::int32_t id) const { return flagged[at(id)] != 0; }
  /// Blames an effect for every rate above `log_cap`, a logarithm, that is missing.
  void blame(std::int32_t id, double log_cap) {
    flagged[at(id)] = 1;
    cap[at(id)] = static_cast<float>(log_cap);
  }
  /// Blames an effect no more.
  void clear_blame(std::int32_t id) {
    flagged[at(id)] = 0;
    cap[at(id)] = kNoCap;
  }
  /// Whether a host is of the slower kind, and that kind does not reach what was expected.
  [[nodiscard]] bool is_known_to_be_slow(std::int32_t host) const {
    return !is_too_slow.empty() && is_too_slow[at(host)] != 0;
  }
  /// The logarithm of the rate of healthy units, without drift.
  [[nodiscard]] double centre_of(const Point& point) const { return log_centre[at(point.stratum)]; }
  static constexpr std::int32_t kNoLender = -1;
  /// Whether a stratum has borrowed the centre of its lender.
  [[nodiscard]] bool borrows(std::size_t stratum) const {
    return lender[stratum] != kNoLender && log_centre[stratum] == log_centre[at(lender[stratum])];
  }
  /// How far an effect's cap is below the centre of a reading, at most 0.
  [[nodiscard]] double missing(std::int32_t id, const Point& point) const {
    return std::min(0.0, static_cast<double>(cap[at(id)]) - centre_of(point));
  }
  /// The part of a residual that hosts near the tolerance explain, at most 0.
  [[nodiscard]] double near_limit_of(const Point& point) const {
    return std::min({0.0F, near_limit[at(point.sender)], near_limit[at(point.receiver)]});
  }
  /// The part of a residual that its units and devices explain, at most 0.
  [[nodiscard]] double explained(const Point& point) const;
  /// Whether a reading is known to be slow, or was taken because it is fast, so that it is excluded from centres.
  [[nodiscard]] bool is_left_out(const Point& point) const {
    return !left_out.empty() && left_out[at(point.reading)] != 0;
  }
  /// Whether nothing that a reading went through is blamed.
  [[nodiscard]] bool is_blameless(const Point& point) const {
    return !point.over_slow_device && !is_flagged(point.sender) && !is_flagged(point.receiver);
  }
  /// Whether a reading tells what is usual: nothing is blamed, and it is not left out.
  [[nodiscard]] bool is_clean(const Point& point) const { return is_blameless(point) && !is_left_out(point); }
  /// The part of the finest level that a host is in; Level::kNone: it is in none.
  [[nodiscard]] std::int32_t part_of(std::int32_t host) const {
    return structure.levels.empty() ? Level::kNone : std::max(structure.levels.front().part_of[at(host)], Level::kNone);
  }
};

/// Whether two strata differ only in the distance between hosts.
[[nodiscard]] bool is_alike(const Stratum& a, const Stratum& b);

/// The structure that the readings show, without those that are `left_out` (by place; empty: none).
[[nodiscard]] Structure structure_of(const Sweep& sweep, const VerdictSettings& settings,
                                     const std::vector<char>& left_out);

/// Builds the model of the readings that have a rate. Nothing is estimated yet. `structure`: found without the readings
/// that are `left_out`. `unread`, by place: readings over slow leaves, and those that say what was left for a pair, are
/// no points; empty: none.
[[nodiscard]] Model make_model(const Sweep& sweep, const VerdictSettings& settings, Structure structure,
                               std::vector<char> left_out, const std::vector<char>& unread = {});

/// Calls `group` with an effect's entries, one call for each unit of a partner.
template <typename Group>
void for_each_partner(const Model& model, std::int32_t effect, const Group& group) {
  const std::span<const Entry> all = model.entries_of(effect);
  std::size_t begin = 0;
  while (begin < all.size()) {
    const std::int32_t partner = EffectIds::unit(all[begin].other);
    std::size_t end = begin + 1;
    while (end < all.size() && EffectIds::unit(all[end].other) == partner) ++end;
    group(all.subspan(begin, end - begin));
    begin = end;
  }
}

/// The first fit, from all readings. Centres are medians of the hosts' medians, which are robust: if a third of all
/// hosts are slow, most pairs are slow. Sets residuals, scales and drift. Clears flags, and what leaves and devices
/// explain.
void fit_first(Model& model);

/// Fits centres, scales, drift and the tail again, from clean readings only. Centres leave out hosts
/// near the limit (Model::near_limit), which would lower them if there are few hosts.
void fit_clean(Model& model);

/// The rate that one direction of a reading has to reach, in bytes per second: the given one, or a share of the rate of
/// the slower of its two ports, as far as these are known. 0: not known.
[[nodiscard]] double expected_of(const Sweep& sweep, std::size_t place, const VerdictSettings& settings);

/// The rate of one direction of a reading.
[[nodiscard]] inline double one_direction(const Reading& reading) {
  const auto rate = static_cast<double>(reading.rate);
  return reading.both_ways ? rate / 2 : rate;
}

/// By stratum, the median of the rates that its readings have to reach; 0: not known.
[[nodiscard]] std::vector<double> expected_by_stratum(const Model& model);

}  // namespace fabricbench::cluster
