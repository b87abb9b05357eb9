#include "cluster/pairs/structure/clustering.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "cluster/pairs/sets.h"

namespace fabricbench::cluster {
namespace {

/// Below it a gain may be what rounding leaves.
constexpr double kLeastGain = 1e-6;
/// Passes over all nodes; a local optimum is reached in far fewer.
constexpr int kMostPasses = 50;

struct Neighbour {
  std::int32_t node = 0;
  double weight = 0;
};

/// Ties by node; each tie is listed at both of its ends.
class Graph {
 public:
  Graph(std::span<const Tie> ties, std::int32_t nodes) : offset_(at(nodes) + 1, 0) {
    for (const Tie& tie : ties) {
      ++offset_[at(tie.first) + 1];
      ++offset_[at(tie.second) + 1];
    }
    for (std::size_t i = 1; i < offset_.size(); ++i) offset_[i] += offset_[i - 1];
    neighbours_.resize(2 * ties.size());
    std::vector<std::size_t> next(offset_.begin(), offset_.end() - 1);
    for (const Tie& tie : ties) {
      neighbours_[next[at(tie.first)]++] = {tie.second, tie.weight};
      neighbours_[next[at(tie.second)]++] = {tie.first, tie.weight};
    }
  }

  [[nodiscard]] std::int32_t nodes() const { return static_cast<std::int32_t>(offset_.size()) - 1; }
  [[nodiscard]] std::span<const Neighbour> of(std::int32_t node) const {
    const auto place = at(node);
    return std::span(neighbours_).subspan(offset_[place], offset_[place + 1] - offset_[place]);
  }

 private:
  std::vector<std::size_t> offset_;
  std::vector<Neighbour> neighbours_;
};

/// Moves each node to the cluster with which it has most in common, or to one of its own, until no move gains.
void move_nodes(const Graph& graph, std::vector<std::int32_t>& cluster) {
  const auto nodes = at(graph.nodes());
  std::vector<std::int32_t> members(nodes, 0);
  for (const std::int32_t own : cluster) ++members[at(own)];
  std::vector<double> common(nodes, 0);
  std::vector<std::int32_t> met;
  std::vector<std::int32_t> empty;
  for (std::size_t i = nodes; i-- > 0;) {
    if (members[i] == 0) empty.push_back(static_cast<std::int32_t>(i));
  }
  bool moved = true;
  for (int pass = 0; moved && pass < kMostPasses; ++pass) {
    moved = false;
    for (std::int32_t node = 0; node < graph.nodes(); ++node) {
      for (const Neighbour& neighbour : graph.of(node)) {
        const std::int32_t other = cluster[at(neighbour.node)];
        if (common[at(other)] == 0) met.push_back(other);
        common[at(other)] += neighbour.weight;
      }
      std::int32_t& own = cluster[at(node)];
      std::int32_t best = own;
      double most = common[at(own)] + kLeastGain;
      for (const std::int32_t other : met) {
        if (common[at(other)] <= most) continue;
        best = other;
        most = common[at(other)] + kLeastGain;
      }
      const bool leaves = most < 0 && members[at(own)] > 1;
      for (const std::int32_t other : met) common[at(other)] = 0;
      met.clear();
      if (leaves) {
        best = empty.back();
        empty.pop_back();
      }
      if (best == own) continue;
      if (--members[at(own)] == 0) empty.push_back(own);
      ++members[at(best)];
      own = best;
      moved = true;
    }
  }
}

/// The ties between clusters, summed up, in the order of both: by buckets of the lower one, since there are many.
std::vector<Tie> ties_between(std::span<const Tie> ties, std::span<const std::int32_t> cluster, std::int32_t clusters) {
  std::vector<std::vector<Neighbour>> above(at(clusters));
  for (const Tie& tie : ties) {
    const auto [low, high] = std::minmax(cluster[at(tie.first)], cluster[at(tie.second)]);
    if (low != high) above[at(low)].push_back({high, tie.weight});
  }
  std::vector<Tie> merged;
  std::vector<double> sums(at(clusters), 0);
  std::vector<char> is_met(at(clusters), 0);
  std::vector<std::int32_t> met;
  for (std::int32_t low = 0; low < clusters; ++low) {
    met.clear();
    for (const auto& [high, weight] : above[at(low)]) {
      const auto place = at(high);
      if (std::exchange(is_met[place], 1) == 0) met.push_back(high);
      sums[place] += weight;
    }
    std::ranges::sort(met);
    for (const std::int32_t high : met) {
      const auto place = at(high);
      merged.push_back({low, high, static_cast<float>(std::exchange(sums[place], 0))});
      is_met[place] = 0;
    }
  }
  return merged;
}

/// Values in bins as wide as the scale, smoothed over three of them; of sorted values.
std::vector<double> histogram_of(const std::vector<float>& sorted, double scale) {
  const double first = sorted.front();
  constexpr double kMostBins = 1 << 20;
  std::vector<double> bins(3 + static_cast<std::size_t>(std::min((sorted.back() - first) / scale, kMostBins)), 0);
  for (const float value : sorted) {
    const auto bin = 1 + static_cast<std::size_t>(std::min((value - first) / scale, kMostBins));
    bins[bin - 1] += 0.5;
    bins[bin] += 1;
    bins[bin + 1] += 0.5;
  }
  return bins;
}

}  // namespace

std::vector<std::int32_t> sizes_of(std::span<const std::int32_t> clusters) {
  std::vector<std::int32_t> sizes;
  for (const std::int32_t own : clusters) {
    if (own < 0) continue;
    if (at(own) >= sizes.size()) sizes.resize(at(own) + 1, 0);
    ++sizes[at(own)];
  }
  return sizes;
}

std::vector<std::int32_t> renumbered(std::span<const std::int32_t> values) {
  std::map<std::int32_t, std::int32_t> numbers;
  std::vector<std::int32_t> result;
  result.reserve(values.size());
  for (const std::int32_t value : values) {
    result.push_back(numbers.try_emplace(value, static_cast<std::int32_t>(numbers.size())).first->second);
  }
  return result;
}

std::vector<std::int32_t> cluster_by(std::span<const Tie> ties, std::int32_t nodes) {
  std::vector<std::int32_t> cluster(at(nodes));
  std::iota(cluster.begin(), cluster.end(), 0);
  const Graph graph(ties, nodes);
  for (int level = 0; level < kMostPasses; ++level) {
    move_nodes(graph, cluster);
    cluster = renumbered(cluster);
    const std::int32_t before = cluster.empty() ? 0 : *std::ranges::max_element(cluster) + 1;
    const Graph merged(ties_between(ties, cluster, before), before);
    std::vector<std::int32_t> of_cluster(at(before));
    std::iota(of_cluster.begin(), of_cluster.end(), 0);
    move_nodes(merged, of_cluster);
    of_cluster = renumbered(of_cluster);
    const std::int32_t after = of_cluster.empty() ? 0 : *std::ranges::max_element(of_cluster) + 1;
    if (after == before) break;
    for (std::int32_t& own : cluster) own = of_cluster[at(own)];
  }
  return renumbered(cluster);
}

std::vector<Mode> modes_of(const std::vector<float>& sorted, double scale) {
  const std::vector<double> bins = histogram_of(sorted, scale);
  const auto centre_of = [&](std::size_t bin) { return sorted.front() + (static_cast<double>(bin) - 0.5) * scale; };
  std::vector<Mode> modes;
  std::size_t lowest = 0;  // since the last mode
  std::size_t last_lowest = 0;
  std::size_t highest = 0;
  bool rising = true;
  for (std::size_t bin = 1; bin < bins.size(); ++bin) {
    if (rising && bins[bin] >= bins[highest]) highest = bin;
    if (rising && bins[bin] < bins[highest]) {
      modes.push_back({centre_of(highest), (centre_of(lowest) + centre_of(last_lowest)) / 2, 0});
      rising = false;
      lowest = last_lowest = bin;
    } else if (!rising && bins[bin] <= bins[lowest]) {
      if (bins[bin] < bins[lowest]) lowest = bin;
      last_lowest = bin;
    } else if (!rising) {
      rising = true;
      highest = bin;
    }
  }
  if (rising) modes.push_back({centre_of(highest), (centre_of(lowest) + centre_of(last_lowest)) / 2, 0});
  std::size_t place = 0;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const double end = i + 1 < modes.size() ? modes[i + 1].valley_before : INFINITY;
    const std::size_t begin = place;
    while (place < sorted.size() && sorted[place] < end) ++place;
    modes[i].values = place - begin;
  }
  return modes;
}

}  // namespace fabricbench::cluster
