#include "cluster/attribution/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "cluster/attribution/fit.h"
#include "cluster/attribution/multiple_testing.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// The minimum share of a block's hosts that are slow in it, and of a slow path's hosts that are fine elsewhere.
constexpr double kMostOfItsHosts = 0.75;
constexpr std::size_t kReadingsOfBlock = 6;
/// Two leaves explain equally much if their burdens are within this ratio.
constexpr double kAsMuch = 0.95;

std::int32_t parts_of(const Model& model) { return model.structure.levels.front().parts; }

/// Whether a point is evidence on paths between leaves.
bool is_between_leaves(const Model& model, const Point& point) { return point.crosses && !model.is_left_out(point); }

bool explained_by_block(const Model& model, const Point& point) {
  return point.block < 0 && point.residual >= point.block + std::min(model.slow, -3 * model.scale_of(point));
}

/// The readings of the block itself, which are excluded from the observed tail.
struct Own {
  std::int64_t low = 0;  ///< not above the upper median of the block's readings
  std::int64_t all = 0;
};

/// A leaf's own readings, in both roles: its uplinks may be slow in both directions.
Own own_of_leaf(const Model& model, std::int32_t leaf, double upper) {
  Own own;
  for (const Point& point : model.points) {
    if (!is_between_leaves(model, point)) continue;
    if (model.part_of(model.ids.host(point.sender)) != leaf && model.part_of(model.ids.host(point.receiver)) != leaf) {
      continue;
    }
    ++own.all;
    own.low += point.residual <= upper ? 1 : 0;
  }
  return own;
}

/// The score of a block; nothing if it is not slow, or has too few readings. `own_at` counts the block's own readings.
template <typename OwnAt>
std::optional<BlockScore> score_block(const Model& model, std::vector<float>& residuals, double scale, double tests,
                                      const OwnAt& own_at) {
  if (residuals.size() < kReadingsOfBlock) return std::nullopt;
  const double upper = upper_median(residuals);
  if (upper >= model.slow) return std::nullopt;
  BlockScore score;
  score.readings = static_cast<std::int64_t>(residuals.size());
  score.median = median_of(residuals);
  const std::int64_t half = score.readings / 2 + 1;
  const Own own = own_at(upper, score.readings);
  score.false_alarm =
      family_wise(binomial_tail(score.readings, model.tail.below(upper, scale, own.low, own.all), half), tests);
  if (score.false_alarm >= model.settings.false_alarm) return std::nullopt;
  return score;
}

/// A number of readings, and how many of them are slow.
struct Share {
  std::uint32_t all = 0;
  std::uint32_t slow = 0;

  void add(const Model& model, const Point& point) {
    ++all;
    slow += point.residual < model.slow ? 1 : 0;
  }
};

/// A leaf's readings in one role.
struct Row {
  std::vector<float> outside;  // with hosts of other leaves
  std::vector<float> inside;
  std::int64_t hosts = 0;
  std::int64_t slow_hosts = 0;
  double scale = 0;
  double burden = 0;
};

using RowKey = std::tuple<std::int32_t, std::int32_t, Role>;  // kind, leaf, role

void add_effect(const Model& model, std::int32_t effect, Row& row) {
  std::vector<float> own;
  for (const Entry entry : model.entries_of(effect)) {
    const Point& point = model.point_of(entry);
    if (model.is_left_out(point)) continue;
    if (!point.crosses) {
      const std::int32_t other = model.part_of(model.ids.host(entry.other));
      if (other != Nearness::kNone) row.inside.push_back(point.residual);
      continue;
    }
    if (explained_by_block(model, point)) continue;
    own.push_back(point.residual);
    row.scale = std::max(row.scale, model.scale_of(point));
    row.burden += std::min(point.residual, 0.0F);
  }
  if (own.empty()) return;
  row.outside.insert(row.outside.end(), own.begin(), own.end());
  ++row.hosts;
  if (upper_median(own) < model.slow) ++row.slow_hosts;
}

/// Saves time: the effects of leaves in which half of the effects, or more, are slow with other leaves.
std::vector<char> may_be_of_a_row(const Model& model) {
  std::vector<Share> shares(model.cap.size());
  for (const Point& point : model.points) {
    if (!is_between_leaves(model, point)) continue;
    shares[static_cast<std::size_t>(point.sender)].add(model, point);
    shares[static_cast<std::size_t>(point.receiver)].add(model, point);
  }
  std::map<RowKey, Share> leaves;  // effects, and those with half of their readings slow
  const auto key_of = [&](std::int32_t effect) {
    return RowKey{model.ids.kind(effect), model.part_of(model.ids.host(effect)), EffectIds::role(effect)};
  };
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    const Share& own = shares[static_cast<std::size_t>(effect)];
    if (own.all == 0) continue;
    Share& leaf = leaves[key_of(effect)];
    ++leaf.all;
    leaf.slow += 2 * own.slow >= own.all ? 1 : 0;
  }
  std::vector<char> worth(model.cap.size(), 0);
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (shares[static_cast<std::size_t>(effect)].all == 0) continue;
    const Share& leaf = leaves[key_of(effect)];
    if (2 * leaf.slow >= leaf.all) worth[static_cast<std::size_t>(effect)] = 1;
  }
  return worth;
}

std::map<RowKey, Row> rows_of(const Model& model) {
  std::map<RowKey, Row> rows;
  const std::vector<char> worth = may_be_of_a_row(model);
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    const std::int32_t leaf = model.part_of(model.ids.host(effect));
    if (leaf == Nearness::kNone || worth[static_cast<std::size_t>(effect)] == 0) continue;
    add_effect(model, effect, rows[{model.ids.kind(effect), leaf, EffectIds::role(effect)}]);
  }
  return rows;
}

bool most_are_slow(const Row& row) {
  const bool are_enough = row.hosts > kHostsOfBlock || (row.hosts == kHostsOfBlock && row.inside.size() > 1);
  return are_enough && static_cast<double>(row.slow_hosts) >= kMostOfItsHosts * static_cast<double>(row.hosts);
}

/// A host's residuals with a leaf, and without it.
struct Residuals {
  std::vector<float> with;
  std::vector<float> without;
};

/// Whether a leaf's hosts are nearly as slow with each other: then the hosts are slow, and not the uplinks.
bool is_slow_inside(const Model& model, Row& row) {
  if (row.inside.empty()) return false;
  return median_of(row.inside) < std::min(model.slow, static_cast<double>(median_of(row.outside)) / 2);
}

/// Whether the partners that are slow with a leaf are nearly as slow without it: then the partners are slow, and not
/// the uplinks. If most hosts of one of two leaves are slow, most readings between the two leaves are.
bool is_of_its_partners(const Model& model, const RowKey& key, Row& row) {
  const auto& [kind, leaf, role] = key;
  std::map<std::int32_t, Residuals> partners;  // by host
  for (const Point& point : model.points) {
    if (model.is_left_out(point) || model.ids.kind(point.sender) != kind) continue;
    const std::int32_t from = model.ids.host(point.sender);
    const std::int32_t to = model.ids.host(point.receiver);
    const bool sends = model.part_of(from) == leaf;
    if (!sends && model.part_of(to) != leaf) {
      for (const std::int32_t host : {from, to}) partners[host].without.push_back(point.residual);
    } else if (point.crosses && (role == Role::kEither || sends == (role == Role::kSender))) {
      partners[sends ? to : from].with.push_back(point.residual);
    }
  }
  std::vector<float> without;
  for (auto& [host, own] : partners) {
    if (own.with.empty() || median_of(own.with) >= model.slow) continue;
    without.insert(without.end(), own.without.begin(), own.without.end());
  }
  return !without.empty() && median_of(without) < std::min(model.slow, median_of(row.outside) / 2.0);
}

/// The slow leaf that explains most, apart from those that are `known`.
std::optional<LeafRow> worst_row(const Model& model, const std::vector<LeafRow>& known) {
  std::map<RowKey, Row> rows = rows_of(model);
  for (const LeafRow& row : known) rows.erase({row.kind, row.leaf, row.role});
  std::optional<LeafRow> worst;
  double most = 0;
  for (auto& [key, row] : rows) {
    if (!most_are_slow(row) || is_slow_inside(model, row)) continue;
    if (row.outside.size() >= kReadingsOfBlock && is_of_its_partners(model, key, row)) continue;
    const std::int32_t leaf = std::get<1>(key);
    const double burden = row.burden / static_cast<double>(row.outside.size());
    std::optional<BlockScore> score =
        score_block(model, row.outside, row.scale, kRoles * static_cast<double>(parts_of(model)),
                    [&, leaf](double upper, std::int64_t) { return own_of_leaf(model, leaf, upper); });
    // With two leaves, what one sends the other receives: the smaller leaf is blamed.
    const bool as_much = worst && burden < kAsMuch * most && row.hosts < worst->score.hosts;
    if (!score || (burden >= most / kAsMuch && !as_much)) continue;
    most = burden;
    score->hosts = row.hosts;
    worst = LeafRow{std::get<0>(key), std::get<1>(key), std::get<2>(key), *score};
  }
  return worst;
}

/// Whether a point is between a host that may be alone in its leaf and one that is not.
bool is_with_lone_host(const Model& model, const Point& point) {
  const std::vector<char>& is_alone = model.structure.is_alone;
  return is_alone[static_cast<std::size_t>(model.ids.host(point.sender))] !=
         is_alone[static_cast<std::size_t>(model.ids.host(point.receiver))];
}

/// How much slower hosts of different leaves are than the stratum of a point says, as a logarithm; at most 0.
double way_between_leaves(const Model& model, const Point& point) {
  const auto stratum = static_cast<std::size_t>(point.stratum);
  if (point.crosses || model.lender[stratum] == Model::kNoLender) return 0;
  return std::min(model.log_centre[static_cast<std::size_t>(model.lender[stratum])] - model.log_centre[stratum], 0.0);
}

/// Whether a point is a reading of the row's leaf, in the row's role.
bool is_of(const Model& model, const LeafRow& row, const Point& point) {
  for (const std::int32_t effect : {point.sender, point.receiver}) {
    if (model.ids.kind(effect) != row.kind || EffectIds::role(effect) != row.role) continue;
    if (model.part_of(model.ids.host(effect)) == row.leaf) return true;
  }
  return false;
}

void apply(Model& model, const LeafRow& row) {
  for (Point& point : model.points) {
    if (!point.crosses && !is_with_lone_host(model, point)) continue;
    if (!is_of(model, row, point)) continue;
    const double lost = row.score.median + way_between_leaves(model, point);
    point.block = std::min(point.block, static_cast<float>(lost));
  }
}

/// Estimates slow leaves again, with centres without slow leaves: if there are few leaves, half of the readings between
/// them may be slow, and the first centres too low.
void measure_again(Model& model, std::vector<LeafRow>& rows) {
  if (rows.empty()) return;
  fit_centres(model);
  for (LeafRow& row : rows) {
    std::vector<float> residuals;
    for (const Point& point : model.points) {
      const bool is_own = is_between_leaves(model, point) && point.block == static_cast<float>(row.score.median);
      if (is_own && is_of(model, row, point)) residuals.push_back(point.residual);
    }
    if (!residuals.empty()) row.score.median = median_of(residuals);
  }
  std::erase_if(rows, [&](const LeafRow& row) { return row.score.median >= model.slow; });
  for (Point& point : model.points) point.block = 0;
  for (const LeafRow& row : rows) apply(model, row);
}

/// A path between leaves as one number, by which millions of points are sorted: kind, sender's leaf, receiver's leaf,
/// and whether readings are of both directions together; then the lower leaf comes first.
struct PathKey {
  std::uint64_t kind = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t either = 0;

  [[nodiscard]] std::uint64_t number(std::uint64_t leaves) const {
    return ((kind * leaves + from) * leaves + to) * 2 + either;
  }
};

PathKey path_of(const Model& model, const Point& point) {
  const auto leaf = [&](std::int32_t effect) {
    return static_cast<std::uint64_t>(model.part_of(model.ids.host(effect)));
  };
  const bool either = EffectIds::role(point.sender) == Role::kEither;
  PathKey key{static_cast<std::uint64_t>(model.ids.kind(point.sender)), leaf(point.sender), leaf(point.receiver),
              either ? 1U : 0U};
  if (either && key.from > key.to) std::swap(key.from, key.to);
  return key;
}

struct PathPoint {
  std::uint64_t path = 0;
  std::size_t place = 0;  ///< in Model::points
};

/// Points between leaves that no slow leaf explains, by path, of paths with half of their readings slow.
std::vector<PathPoint> points_by_path(const Model& model) {
  const auto leaves = static_cast<std::uint64_t>(parts_of(model));
  // With so many leaves, few paths have more than one reading.
  if (leaves * leaves > model.points.size()) return {};
  const auto kinds = static_cast<std::uint64_t>(model.effects() / (model.ids.hosts * model.ids.rails * kRoles));
  std::vector<Share> shares(static_cast<std::size_t>(kinds * leaves * leaves * 2));
  std::vector<PathPoint> points;
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    const Point& point = model.points[i];
    if (!is_between_leaves(model, point) || explained_by_block(model, point)) continue;
    points.push_back({path_of(model, point).number(leaves), i});
    shares[static_cast<std::size_t>(points.back().path)].add(model, point);
  }
  std::erase_if(points, [&](const PathPoint& point) {
    const Share& share = shares[static_cast<std::size_t>(point.path)];
    return 2 * share.slow < share.all;
  });
  std::sort(points.begin(), points.end(), [](const PathPoint& a, const PathPoint& b) {
    return std::pair(a.path, a.place) < std::pair(b.path, b.place);
  });
  return points;
}

/// The readings of a path.
using PathPoints = std::span<const PathPoint>;

/// The number of hosts on one side of a path; 0 unless most of them are slow on it and fine elsewhere.
std::int64_t hosts_beside(const Model& model, PathPoints path, bool senders) {
  std::map<std::int32_t, std::vector<float>> residuals;  // by effect
  for (const auto& [number, place] : path) {
    const Point& point = model.points[place];
    residuals[senders ? point.sender : point.receiver].push_back(point.residual);
  }
  std::set<std::int32_t> hosts;
  std::int64_t blameless = 0;
  for (auto& [effect, own] : residuals) {
    hosts.insert(model.ids.host(effect));
    if (upper_median(own) >= model.slow) continue;
    std::vector<float> all;
    for (const Entry entry : model.entries_of(effect)) all.push_back(model.point_of(entry).residual);
    if (median_of(all) >= model.slow) ++blameless;
  }
  const bool most = static_cast<double>(blameless) >= kMostOfItsHosts * static_cast<double>(residuals.size());
  return most ? static_cast<std::int64_t>(hosts.size()) : 0;
}

std::optional<LeafPath> slow_path(const Model& model, PathPoints path, double tests) {
  std::vector<float> residuals;
  double scale = 0;
  for (const auto& [number, place] : path) {
    residuals.push_back(model.points[place].residual);
    scale = std::max(scale, model.scale_of(model.points[place]));
  }
  std::optional<BlockScore> score = score_block(model, residuals, scale, tests, [](double, std::int64_t readings) {
    return Own{readings / 2 + 1, readings};
  });
  if (!score) return std::nullopt;
  score->hosts = std::min(hosts_beside(model, path, true), hosts_beside(model, path, false));
  if (score->hosts < kHostsOfBlock) return std::nullopt;
  const PathKey key = path_of(model, model.points[path.front().place]);
  return LeafPath{static_cast<std::int32_t>(key.kind), static_cast<std::int32_t>(key.from),
                  static_cast<std::int32_t>(key.to), key.either != 0, *score};
}

std::vector<LeafPath> find_paths(Model& model) {
  const std::vector<PathPoint> points = points_by_path(model);
  const auto leaves = static_cast<double>(parts_of(model));
  std::vector<LeafPath> paths;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin;
    while (end < points.size() && points[end].path == points[begin].path) ++end;
    const PathPoints path = std::span(points).subspan(begin, end - begin);
    if (const std::optional<LeafPath> slow = slow_path(model, path, leaves * (leaves + 1))) {
      paths.push_back(*slow);
      for (const auto& [number, place] : path) model.points[place].block = static_cast<float>(slow->score.median);
    }
    begin = end;
  }
  return paths;
}

/// By rail, the strata of one kind whose readings stay on that rail.
using Centres = std::map<std::int16_t, const Stratum*>;

std::optional<SlowRail> compare(const Model& model, const Centres& centres, std::int16_t rail) {
  std::vector<double> others;
  for (const auto& [other, stratum] : centres) {
    if (other != rail) others.push_back(stratum->centre);
  }
  if (others.empty()) return std::nullopt;
  const Stratum& own = *centres.at(rail);
  SlowRail slow{rail, own.centre, upper_median(others), 0, {}};
  slow.score.median = std::log(own.centre / slow.expected);
  slow.score.readings = own.readings;
  const double error = kMedianOverMeanError * own.scale / std::sqrt(static_cast<double>(own.readings));
  slow.score.false_alarm =
      family_wise(normal_below(slow.score.median / (std::sqrt(2.0) * error)), static_cast<double>(centres.size()));
  if (slow.score.median >= model.slow || slow.score.false_alarm >= model.settings.false_alarm) return std::nullopt;
  return slow;
}

/// Counts the hosts that were measured both on a rail and on others, and those that are slower on it.
void count_hosts(const Model& model, std::int16_t kind, SlowRail& rail) {
  struct Rates {
    std::vector<float> own;
    std::vector<float> others;
  };
  std::map<std::int32_t, Rates> rates;  // by host
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    if (reading.kind != kind || reading.from_rail != reading.to_rail) continue;
    for (const std::int32_t host : {reading.from, reading.to}) {
      Rates& of_host = rates[host];
      (reading.from_rail == rail.rail ? of_host.own : of_host.others).push_back(reading.rate);
    }
  }
  for (auto& [host, of_host] : rates) {
    if (of_host.own.empty() || of_host.others.empty()) continue;
    ++rail.score.hosts;
    const double share = median_of(of_host.own) / median_of(of_host.others);
    rail.slow_hosts += std::log(share) < model.slow ? 1 : 0;
  }
}

}  // namespace

Blocks find_blocks(Model& model) {
  Blocks blocks;
  if (model.structure.levels.empty()) return blocks;
  while (const std::optional<LeafRow> row = worst_row(model, blocks.rows)) {
    apply(model, *row);
    blocks.rows.push_back(*row);
  }
  measure_again(model, blocks.rows);
  blocks.paths = find_paths(model);
  return blocks;
}

std::vector<SlowRail> find_slow_rails(const Model& model) {
  std::map<std::tuple<std::int16_t, bool, std::int32_t, bool>, Centres> groups;
  for (const Stratum& stratum : model.strata) {
    if (stratum.from_rail != stratum.to_rail) continue;
    groups[{stratum.kind, stratum.both_ways, stratum.distance, stratum.slow_kind}][stratum.from_rail] = &stratum;
  }
  std::map<std::int32_t, SlowRail> worst;  // by rail
  for (const auto& [key, centres] : groups) {
    for (const auto& [rail, stratum] : centres) {
      std::optional<SlowRail> slow = compare(model, centres, rail);
      if (!slow) continue;
      count_hosts(model, stratum->kind, *slow);
      if (slow->score.hosts < kHostsOfBlock || 2 * slow->slow_hosts <= slow->score.hosts) continue;
      const auto [at, added] = worst.try_emplace(rail, *slow);
      if (!added && slow->score.median < at->second.score.median) at->second = *slow;
    }
  }
  std::vector<SlowRail> rails;
  rails.reserve(worst.size());
  for (const auto& [rail, slow] : worst) rails.push_back(slow);
  return rails;
}

}  // namespace fabricbench::cluster
