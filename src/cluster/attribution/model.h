// What attribution works on: a sweep's readings as logarithms, beside what explains them.
//
// A unit is one rail of one host, and has an effect on what it sends, one on what it receives, and one on figures of
// both directions together. Of bandwidth, the narrowest place decides (the min model):
//   log rate = min(centre of the stratum + effect of the leaves, cap of the sender, cap of the receiver) + drift +
//   noise.
// A cap is a rate, so it is the same for all partners: it shows where hosts are near, and not where the way between
// them is slower still.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "cluster/readings.h"
#include "cluster/structure/structure.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

enum class Role : std::int32_t { kSender = 0, kReceiver = 1, kEither = 2 };
constexpr std::int32_t kRoles = 3;

/// Numbers for effects: by kind of reading, host, rail and role.
struct EffectIds {
  std::int32_t hosts = 0;
  std::int32_t rails = 1;

  [[nodiscard]] std::int32_t of(std::int32_t kind, std::int32_t host, std::int32_t rail, Role role) const {
    return ((kind * hosts + host) * rails + rail) * kRoles + static_cast<std::int32_t>(role);
  }
  [[nodiscard]] static Role role(std::int32_t effect) { return static_cast<Role>(effect % kRoles); }
  [[nodiscard]] static std::int32_t unit(std::int32_t effect) { return effect / kRoles; }
  [[nodiscard]] std::int32_t rail(std::int32_t effect) const { return unit(effect) % rails; }
  [[nodiscard]] std::int32_t host(std::int32_t effect) const { return unit(effect) / rails % hosts; }
  [[nodiscard]] std::int32_t kind(std::int32_t effect) const { return unit(effect) / rails / hosts; }
};

/// A reading that has a rate.
struct Point {
  std::int32_t reading = 0;   ///< its place in Sweep::readings
  std::int32_t sender = 0;    ///< the effects that may explain it
  std::int32_t receiver = 0;  ///< of a figure of both directions, as `sender`, in role kEither
  std::int32_t stratum = 0;
  std::int32_t window = 0;  ///< of time: its place in Model::drift
  float log_rate = 0;
  float residual = 0;             ///< log_rate less centre, drift and what a quiet network adds
  float block = 0;                ///< the effect of slow leaves on it, at most 0
  bool crosses = false;           ///< from one leaf to another
  bool over_slow_device = false;  ///< whatever it is like, that is the device's doing
  bool quiet = false;             ///< taken while far fewer pairs were measured than usual
};

/// How often healthy readings are so slow: the normal distribution, or what has been seen where that is more.
class Tail {
 public:
  Tail() = default;
  /// `low` are the residuals below some bound of `all` healthy readings, in any order.
  Tail(std::vector<float> low, std::int64_t all);
  /// The chance that a healthy reading of a stratum with this scale has at most this residual. `own` readings, of which
  /// `own_low` have at most that, are left out of what has been seen.
  [[nodiscard]] double below(double residual, double scale, std::int64_t own_low = 0, std::int64_t own = 0) const;

 private:
  std::vector<float> low_;  // ascending
  std::int64_t all_ = 0;
};

/// One side of a point, as an effect's list has it.
struct Entry {
  std::uint32_t code = 0;
  std::int32_t other = 0;  ///< the effect on the other side
  [[nodiscard]] std::size_t point() const { return code >> 1; }
  [[nodiscard]] bool receives() const { return (code & 1) != 0; }
};

constexpr float kNoCap = std::numeric_limits<float>::infinity();

/// Drift as readings of a quiet network are held against it: that of the full rounds about them, since a quiet round
/// has too few readings to show its own, and what one full round has by chance is not that of its neighbours.
struct QuietDrift {
  std::vector<std::int32_t> rounds;  ///< the full ones, ascending
  std::vector<double> usual;         ///< in each of them and those about it, as a logarithm
  /// After the last one, how it may go on where rounds became slower: a round, at most 0, and not below `lowest`. Pairs
  /// that are measured alone then are not to be blamed for it.
  double trend = 0;
  double lowest = 0;
  /// Standard deviation from round to round: of full rounds it is known and taken off, of quiet ones it is not.
  double scatter = 0;
  std::vector<double> departures;  ///< of each full round from those about it, as a logarithm

  [[nodiscard]] double at(std::int32_t round) const;
};

struct Model {
  const Sweep* sweep = nullptr;
  Structure structure;
  bool kinds_suffice = false;  ///< the slower kind of hosts, where there is one, reaches what was expected
  VerdictSettings settings;
  bool is_steady = false;  ///< whether what is usual is taken to be the same at all times
  std::vector<char>
      left_out;  ///< by reading: known to be slow, so not part of what is usual, nor of leaves; empty: none is
  std::vector<char> is_too_slow;  ///< by host: of a kind that does not reach what was expected; empty: none is
  double slow = 0;                ///< log(1 - tolerance): residuals below it are slow
  EffectIds ids;
  std::int32_t hosts_present = 0;  ///< that have readings
  bool has_quiet = false;          ///< any point is
  std::vector<Point> points;       ///< in the order of the readings
  std::vector<Stratum> strata;
  std::vector<double> log_centre;  ///< by stratum
  /// By stratum: another one of hosts farther apart, than which nearer ones should be no slower; kNoLender: none.
  std::vector<std::int32_t> lender;
  std::vector<double> quiet_gain;       ///< by stratum: what a quiet network adds to a log rate
  std::vector<double> drift;            ///< by window of time: of everybody
  std::vector<QuietDrift> quiet_drift;  ///< by kind; empty where no point is quiet
  std::map<std::pair<std::int16_t, std::int32_t>, double>
      drops;                        ///< by kind and round: of everybody in that round alone
  std::vector<std::size_t> offset;  ///< by effect, where its entries begin; one more at the end
  std::vector<Entry> entries;       ///< by effect, then by partner's unit, then in time
  std::vector<float> cap;           ///< by effect: the logarithm of the rate it does not exceed; kNoCap: unlimited
  std::vector<char> flagged;        ///< by effect: blamed
  /// By effect: how much slower it is than others, as a logarithm, where that is about the tolerance; else 0.
  std::vector<float> near_limit;
  Tail tail;
  std::int64_t device_effects = 0;  ///< tested beside those of hosts (devices.h)

  [[nodiscard]] std::int32_t effects() const { return static_cast<std::int32_t>(cap.size()); }
  [[nodiscard]] std::span<const Entry> entries_of(std::int32_t id) const {
    const auto at = static_cast<std::size_t>(id);
    return std::span(entries).subspan(offset[at], offset[at + 1] - offset[at]);
  }
  [[nodiscard]] const Point& point_of(Entry entry) const { return points[entry.point()]; }
  /// The effect on the entry's own side.
  [[nodiscard]] std::int32_t own_effect(Entry entry) const {
    return entry.receives() ? point_of(entry).receiver : point_of(entry).sender;
  }
  [[nodiscard]] double scale_of(const Point& point) const {
    const double scale = strata[static_cast<std::size_t>(point.stratum)].scale;
    return point.quiet && !quiet_drift.empty() ? std::hypot(scale, quiet_drift_of(point).scatter) : scale;
  }
  [[nodiscard]] const Reading& reading_of(const Point& point) const {
    return sweep->readings[static_cast<std::size_t>(point.reading)];
  }
  [[nodiscard]] const QuietDrift& quiet_drift_of(const Point& point) const {
    return quiet_drift[static_cast<std::size_t>(reading_of(point).kind)];
  }
  [[nodiscard]] bool is_flagged(std::int32_t id) const { return flagged[static_cast<std::size_t>(id)] != 0; }
  /// What healthy units reach, as a logarithm, without drift.
  [[nodiscard]] double centre_of(const Point& point) const {
    return log_centre[static_cast<std::size_t>(point.stratum)];
  }
  static constexpr std::int32_t kNoLender = -1;
  /// Whether what is usual of a stratum is that of its lender.
  [[nodiscard]] bool borrows(std::size_t stratum) const {
    return lender[stratum] != kNoLender && log_centre[stratum] == log_centre[static_cast<std::size_t>(lender[stratum])];
  }
  /// What an effect's cap takes from a healthy reading, at most 0.
  [[nodiscard]] double missing(std::int32_t id, const Point& point) const {
    return std::min(0.0, static_cast<double>(cap[static_cast<std::size_t>(id)]) - centre_of(point));
  }
  /// What hosts near the limit explain of a residual, at most 0.
  [[nodiscard]] double near_limit_of(const Point& point) const {
    return std::min({0.0F, near_limit[static_cast<std::size_t>(point.sender)],
                     near_limit[static_cast<std::size_t>(point.receiver)]});
  }
  /// What its units and leaves explain of a residual, at most 0.
  [[nodiscard]] double explained(const Point& point) const;
  /// Whether it is known to be slow, so that it says nothing of what is usual.
  [[nodiscard]] bool is_left_out(const Point& point) const {
    return !left_out.empty() && left_out[static_cast<std::size_t>(point.reading)] != 0;
  }
  /// Whether nobody who has to do with it is blamed.
  [[nodiscard]] bool is_clean(const Point& point) const {
    return point.block == 0 && !point.over_slow_device && !is_flagged(point.sender) && !is_flagged(point.receiver);
  }
  /// The part of the finest level of nearness; Nearness::kNone where there is none.
  [[nodiscard]] std::int32_t part_of(std::int32_t host) const {
    return structure.levels.empty()
               ? Nearness::kNone
               : std::max(structure.levels.front().part_of[static_cast<std::size_t>(host)], Nearness::kNone);
  }
};

/// Whether readings of two strata differ in nothing but how far hosts are apart.
[[nodiscard]] bool is_alike(const Stratum& a, const Stratum& b);

/// Where hosts are, as readings show that are not `left_out`, by place; empty: none is.
[[nodiscard]] Structure structure_of(const Sweep& sweep, const VerdictSettings& settings,
                                     const std::vector<char>& left_out);

/// Sorts the readings that have a rate; nothing is estimated yet. `structure`: without the readings that are
/// `left_out`.
[[nodiscard]] Model make_model(const Sweep& sweep, const VerdictSettings& settings, Structure structure,
                               std::vector<char> left_out);

/// Calls `group` with the entries of each partner of an effect.
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

}  // namespace fabricbench::cluster
