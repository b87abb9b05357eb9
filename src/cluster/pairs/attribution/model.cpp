#include "cluster/pairs/attribution/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// Added to the observed readings, so that ten good readings do not prove that there are no bad ones. Two standard
/// errors of the number of slow ones are added as well.
constexpr double kImaginedReadings = 60;
constexpr double kImaginedSlow = 0.4;

using StratumKey = std::tuple<std::int16_t, std::int16_t, std::int16_t, bool, std::int32_t, bool>;

/// Numbers strata in the order of their first readings.
class StrataOf {
 public:
  explicit StrataOf(Model& model) : model_(model) {}

  std::int32_t operator()(const Reading& reading) {
    const std::int32_t distance = model_.structure.distance(reading.from, reading.to);
    const bool slow_kind = model_.structure.is_of_slow_kind(reading);
    const StratumKey key{reading.test, reading.from_rail, reading.to_rail, reading.both_ways, distance, slow_kind};
    if (last_ >= 0 && key == last_key_) return last_;
    const auto [at, added] = known_.try_emplace(key, static_cast<std::int32_t>(model_.strata.size()));
    if (added) {
      model_.strata.push_back({.test = reading.test,
                               .from_rail = reading.from_rail,
                               .to_rail = reading.to_rail,
                               .both_ways = reading.both_ways,
                               .distance = distance,
                               .slow_kind = slow_kind});
    }
    last_key_ = key;
    last_ = at->second;
    return last_;
  }

 private:
  Model& model_;
  std::map<StratumKey, std::int32_t> known_;
  StratumKey last_key_;
  std::int32_t last_ = -1;  // the stratum of last_key_: consecutive readings are often of one stratum
};

/// Counts different pairs of hosts by stratum, up to kPairsOfNorm.
class PairsOfStrata {
 public:
  void add(std::int32_t stratum, const Reading& reading) {
    const auto place = at(stratum);
    if (place >= pairs_.size()) pairs_.resize(place + 1);
    std::vector<HostPair>& known = pairs_[place];
    const HostPair pair = std::minmax(reading.from, reading.to);
    const bool enough = known.size() == at(Stratum::kPairsOfNorm);
    if (!enough && std::ranges::find(known, pair) == known.end()) known.push_back(pair);
  }
  void set(std::vector<Stratum>& strata) const {
    for (std::size_t i = 0; i < strata.size(); ++i) strata[i].pairs = static_cast<std::int32_t>(pairs_[i].size());
  }

 private:
  std::vector<std::vector<HostPair>> pairs_;
};

/// The lender of a stratum: among strata of hosts farther apart with enough pairs, the nearest one.
std::int32_t lender_of(const std::vector<Stratum>& strata, const Stratum& borrower) {
  std::int32_t lender = Model::kNoLender;
  for (std::size_t i = 0; i < strata.size(); ++i) {
    const bool may_lend = strata[i].pairs >= Stratum::kPairsOfNorm && strata[i].distance > borrower.distance;
    if (!may_lend || !is_alike(strata[i], borrower)) continue;
    const bool is_nearer = lender == Model::kNoLender || strata[i].distance < strata[at(lender)].distance;
    if (is_nearer) lender = static_cast<std::int32_t>(i);
  }
  return lender;
}

/// Whether no pair was measured both ways, and no host with enough partners to judge each of its directions.
bool are_directions_pooled(const Sweep& sweep, std::size_t partners) {
  std::vector<std::array<std::set<std::int32_t>, 2>> met(
      sweep.hosts.size());  // by host: those it sent to, and received from
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading)) continue;
    auto& sender = met[at(reading.from)];
    auto& receiver = met[at(reading.to)];
    sender[0].insert(reading.to);
    receiver[1].insert(reading.from);
    if (reading.both_ways || sender[1].contains(reading.to)) return false;
    for (const auto* directions : {&sender, &receiver}) {
      if ((*directions)[0].size() >= partners && (*directions)[1].size() >= partners) return false;
    }
  }
  return true;
}

/// Takes back the points of strata in which all are left out: nothing else says what is usual there.
void keep_some_of_all_strata(Model& model) {
  if (model.left_out.empty()) return;
  std::vector<char> any(model.strata.size(), 0);
  for (const Point& point : model.points) {
    if (!model.is_left_out(point)) any[at(point.stratum)] = 1;
  }
  for (const Point& point : model.points) {
    if (any[at(point.stratum)] == 0) model.left_out[at(point.reading)] = 0;
  }
}

void add_points(const Sweep& sweep, const std::vector<char>& unread, Model& model) {
  StrataOf stratum_of(model);
  PairsOfStrata pairs;
  model.points.reserve(sweep.readings.size());
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (!has_rate(reading) || (!unread.empty() && unread[i] != 0)) continue;
    Point point;
    point.reading = static_cast<std::int32_t>(i);
    const bool either = reading.both_ways || model.directions_pooled;
    const Role from = either ? Role::kEither : Role::kSender;
    const Role to = either ? Role::kEither : Role::kReceiver;
    point.sender = model.ids.of(reading.test, reading.from, reading.from_rail, from);
    point.receiver = model.ids.of(reading.test, reading.to, reading.to_rail, to);
    point.stratum = stratum_of(reading);
    point.log_rate = std::log(reading.rate);
    ++model.strata[at(point.stratum)].readings;
    pairs.add(point.stratum, reading);
    model.points.push_back(point);
  }
  pairs.set(model.strata);
  keep_some_of_all_strata(model);
  for (const Stratum& stratum : model.strata) model.lender.push_back(lender_of(model.strata, stratum));
}

/// Marks the points that were measured under light load.
void mark_lightly_loaded(Model& model) {
  std::int32_t most = 0;
  for (const Point& point : model.points) most = std::max(most, model.reading_of(point).concurrent);
  for (Point& point : model.points) {
    point.lightly_loaded = is_lightly_loaded(model.reading_of(point).concurrent, most);
    model.has_lightly_loaded = model.has_lightly_loaded || point.lightly_loaded;
  }
}

void count_hosts(Model& model) {
  std::vector<char> present(at(model.ids.hosts), 0);
  for (const Point& point : model.points) {
    present[at(model.ids.host(point.sender))] = 1;
    present[at(model.ids.host(point.receiver))] = 1;
  }
  model.hosts_present = static_cast<std::int32_t>(std::ranges::count(present, 1));
}

using KindAndRound = std::pair<std::int16_t, std::int32_t>;

/// The window of each round: consecutive rounds of a kind share a window until it has enough readings. A remainder at
/// the end joins the last window.
std::map<KindAndRound, std::int32_t> windows_of(const std::map<KindAndRound, std::int64_t>& readings) {
  std::map<std::int16_t, std::int64_t> left;
  for (const auto& [key, count] : readings) left[key.first] += count;
  std::map<KindAndRound, std::int32_t> windows;
  std::int32_t window = -1;
  std::int64_t inside = 0;
  std::int32_t kind = -1;
  for (const auto& [key, count] : readings) {
    std::int64_t& rest = left[key.first];
    if (key.first != kind || (inside >= kMany && rest >= kMany)) {
      ++window;
      inside = 0;
      kind = key.first;
    }
    windows[key] = window;
    inside += count;
    rest -= count;
  }
  return windows;
}

void make_windows(Model& model) {
  std::map<KindAndRound, std::int64_t> readings;
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    readings[{reading.test, reading.round}] += point.lightly_loaded ? 0 : 1;
  }
  const std::map<KindAndRound, std::int32_t> windows = windows_of(readings);
  auto last = windows.end();
  std::int32_t highest = -1;
  for (Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    const KindAndRound key{reading.test, reading.round};
    if (last == windows.end() || last->first != key) last = windows.find(key);
    point.window = last->second;
    highest = std::max(highest, point.window);
  }
  model.drift.assign(1 + at(std::max(highest, 0)), 0);
}

/// Fills Model::entries: two stable counting sorts, first by partner, then by effect.
void list_entries(Model& model) {
  const auto effects = at(model.effects());
  const auto unit = [](std::int32_t effect) { return at(EffectIds::unit(effect)); };
  std::vector<std::size_t> place(effects / kRoles + 1, 0);
  for (const Point& point : model.points) {
    ++place[unit(point.sender) + 1];
    ++place[unit(point.receiver) + 1];
  }
  for (std::size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
  std::vector<Entry> by_partner(2 * model.points.size());
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    const Point& point = model.points[i];
    const auto code = static_cast<std::uint32_t>(2 * i);
    by_partner[place[unit(point.receiver)]++] = {code, point.receiver};
    by_partner[place[unit(point.sender)]++] = {code + 1, point.sender};
  }
  const auto own_effect = [&](Entry entry) { return at(model.own_effect(entry)); };
  model.offset.assign(effects + 1, 0);
  for (const Point& point : model.points) {
    ++model.offset[at(point.sender) + 1];
    ++model.offset[at(point.receiver) + 1];
  }
  for (std::size_t i = 1; i <= effects; ++i) model.offset[i] += model.offset[i - 1];
  std::vector<std::size_t> next(model.offset.begin(), model.offset.end() - 1);
  model.entries.resize(by_partner.size());
  for (const Entry entry : by_partner) model.entries[next[own_effect(entry)]++] = entry;
}

/// Rates over expected rates. Of each slower host: with faster hosts, or with all if it met no faster one. Of the
/// faster hosts: with each other.
struct Reached {
  std::vector<std::vector<double>> by_host;
  std::vector<double> faster;
};

Reached reached_by(const Model& model, const std::vector<char>& slower) {
  const Direction direction = model.structure.slow_way;
  Reached reached;
  reached.by_host.resize(slower.size());
  std::vector<std::vector<double>> with_slower(slower.size());
  for (std::size_t place = 0; place < model.sweep->readings.size(); ++place) {
    const Reading& reading = model.sweep->readings[place];
    const double expected = has_rate(reading) ? expected_of(*model.sweep, place, model.settings) : 0;
    if (expected <= 0) continue;
    const double share = one_direction(reading) / expected;
    const auto from = at(reading.from);
    const auto to = at(reading.to);
    if (direction != Direction::kBoth) {
      const std::size_t own = direction == Direction::kSends ? from : to;
      (slower[own] != 0 ? reached.by_host[own] : reached.faster).push_back(share);
      continue;
    }
    if (slower[from] == 0 && slower[to] == 0) reached.faster.push_back(share);
    for (const auto& [host, partner] : {std::pair{from, to}, std::pair{to, from}}) {
      if (slower[host] != 0) (slower[partner] == 0 ? reached.by_host : with_slower)[host].push_back(share);
    }
  }
  for (std::size_t host = 0; host < slower.size(); ++host) {
    if (reached.by_host[host].empty()) reached.by_host[host] = std::move(with_slower[host]);
  }
  return reached;
}

/// Compares the slower hosts with the expected rate, if it is known. Hosts below it are slow. Hosts that reach it are a
/// slower kind that suffices; with rates of ports they may be fewer than half. Hosts without an expected rate stay as
/// they are.
void settle_kinds(Model& model) {
  Structure& structure = model.structure;
  const bool of_ports = model.settings.expected <= 0 && model.settings.expected_of_port > 0;
  const bool are_kinds = !structure.is_slow_kind.empty();
  if (!are_kinds && !of_ports) return;
  const std::vector<char> slower = are_kinds ? structure.is_slow_kind : structure.is_alone;
  Reached reached = reached_by(model, slower);
  const double enough = 1 - model.settings.tolerance;
  std::vector<char> stays(slower.size(), 0);  // of the slower kind
  bool any_is_known = false;
  bool all_suffice = reached.faster.empty() || median_of(reached.faster) >= enough;
  for (std::size_t host = 0; host < slower.size(); ++host) {
    const bool is_known = !reached.by_host[host].empty();
    any_is_known = any_is_known || is_known;
    if (is_known) stays[host] = median_of(reached.by_host[host]) >= enough ? 1 : 0;
    if (is_known || slower[host] == 0 || !are_kinds) continue;
    stays[host] = 1;
    all_suffice = false;
  }
  if (!any_is_known) return;
  const bool any_stays = std::ranges::find(stays, 1) != stays.end();
  model.kinds_suffice = any_stays && all_suffice;
  structure.is_slow_kind.clear();
  if (any_stays) structure.is_slow_kind = stays;
  for (std::size_t host = 0; host < slower.size(); ++host) {
    structure.is_alone[host] = slower[host] != 0 && stays[host] == 0 ? 1 : 0;
  }
  if (are_kinds && structure.is_alone != std::vector<char>(slower.size(), 0)) model.is_too_slow = structure.is_alone;
}

}  // namespace

Tail::Tail(std::vector<float> low, std::int64_t all) : low_(std::move(low)), all_(all) { std::ranges::sort(low_); }

double Tail::below(double residual, double scale, std::int64_t own_low, std::int64_t own) const {
  const auto low = std::upper_bound(low_.begin(), low_.end(), static_cast<float>(residual)) - low_.begin();
  const auto others = static_cast<double>(std::max<std::int64_t>(low - own_low, 0));
  const auto all = static_cast<double>(std::max<std::int64_t>(all_ - own, 0));
  const double slow = others + kImaginedSlow;
  const double observed = (slow + 2 * std::sqrt(slow)) / (all + kImaginedReadings);
  return std::min(1.0, std::max(normal_below(residual / scale), observed));
}

double LightLoadDrift::at(std::int32_t round) const {
  if (rounds.empty()) return 0;
  const auto after = std::upper_bound(rounds.begin(), rounds.end(), round);
  return usual[static_cast<std::size_t>(after == rounds.begin() ? 0 : after - rounds.begin() - 1)];
}

double Model::explained(const Point& point) const {
  if (point.over_slow_device) return std::min(0.0, static_cast<double>(point.residual));
  return std::min({near_limit_of(point), missing(point.sender, point), missing(point.receiver, point)});
}

bool is_alike(const Stratum& a, const Stratum& b) {
  return std::tuple(a.test, a.from_rail, a.to_rail, a.both_ways, a.slow_kind) ==
         std::tuple(b.test, b.from_rail, b.to_rail, b.both_ways, b.slow_kind);
}

/// Parts of the cluster have to differ by most of the tolerance.
Structure structure_of(const Sweep& sweep, const VerdictSettings& settings, const std::vector<char>& left_out) {
  return find_structure(sweep, -kMost * std::log1p(-settings.tolerance), left_out);
}

Model make_model(const Sweep& sweep, const VerdictSettings& settings, Structure structure, std::vector<char> left_out,
                 const std::vector<char>& unread) {
  Model model;
  model.sweep = &sweep;
  model.settings = settings;
  model.slow = std::log1p(-settings.tolerance);
  model.structure = std::move(structure);
  model.left_out = std::move(left_out);
  settle_kinds(model);
  std::int32_t kinds = 1;
  std::int32_t rails = 1;
  for (const Reading& reading : sweep.readings) {
    kinds = std::max<std::int32_t>(kinds, reading.test + 1);
    rails = std::max<std::int32_t>(rails, std::max(reading.from_rail, reading.to_rail) + 1);
  }
  model.ids = {std::max(static_cast<std::int32_t>(sweep.hosts.size()), 1), rails};
  model.directions_pooled = are_directions_pooled(sweep, at(settings.partners));
  add_points(sweep, unread, model);
  const std::int32_t units = kinds * model.ids.hosts * rails;
  const std::size_t effects = at(units) * kRoles;
  model.cap.assign(effects, kNoCap);
  model.flagged.assign(effects, 0);
  model.near_limit.assign(effects, 0);
  model.log_centre.assign(model.strata.size(), 0);
  count_hosts(model);
  mark_lightly_loaded(model);
  make_windows(model);
  list_entries(model);
  return model;
}

double expected_of(const Sweep& sweep, std::size_t place, const VerdictSettings& settings) {
  if (settings.expected > 0) return settings.expected;
  double slower = 0;
  for (const bool receiver : {false, true}) {
    const Route* route = sweep.route_of(place, receiver);
    if (route == nullptr || route->port_rate <= 0) continue;
    slower = slower > 0 ? std::min(slower, route->port_rate) : route->port_rate;
  }
  return slower * settings.expected_of_port;
}

std::vector<double> expected_by_stratum(const Model& model) {
  std::vector<double> expected(model.strata.size(), model.settings.expected);
  if (model.settings.expected > 0 || model.settings.expected_of_port <= 0) return expected;
  std::vector<std::vector<double>> known(expected.size());
  for (const Point& point : model.points) {
    const double each = expected_of(*model.sweep, at(point.reading), model.settings);
    if (each > 0) known[at(point.stratum)].push_back(each);
  }
  for (std::size_t stratum = 0; stratum < known.size(); ++stratum) {
    if (!known[stratum].empty()) expected[stratum] = median_of(known[stratum]);
  }
  return expected;
}

}  // namespace fabricbench::cluster
