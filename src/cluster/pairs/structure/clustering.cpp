#include "cluster/pairs/structure/clustering.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

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
  Graph(std::span<const Tie> ties, std::int32_t nodes) : offset_(static_cast<std::size_t>(nodes) + 1, 0) {
    for (const Tie& tie : ties) {
      ++offset_[static_cast<std::size_t>(tie.first) + 1];
      ++offset_[static_cast<std::size_t>(tie.second) + 1];
    }
    for (std::size_t i = 1; i < offset_.size(); ++i) offset_[i] += offset_[i - 1];
    neighbours_.resize(2 * ties.size());
    std::vector<std::size_t> next(offset_.begin(), offset_.end() - 1);
    for (const Tie& tie : ties) {
      neighbours_[next[static_cast<std::size_t>(tie.first)]++] = {tie.second, tie.weight};
      neighbours_[next[static_cast<std::size_t>(tie.second)]++] = {tie.first, tie.weight};
    }
  }

  [[nodiscard]] std::int32_t nodes() const { return static_cast<std::int32_t>(offset_.size()) - 1; }
  [[nodiscard]] std::span<const Neighbour> of(std::int32_t node) const {
    const auto at = static_cast<std::size_t>(node);
    return std::span(neighbours_).subspan(offset_[at], offset_[at + 1] - offset_[at]);
  }

 private:
  std::vector<std::size_t> offset_;
  std::vector<Neighbour> neighbours_;
};

/// Moves each node to the cluster with which it has most in common, or to one of its own, until no move gains.
void move_nodes(const Graph& graph, std::vector<std::int32_t>& cluster) {
  const auto nodes = static_cast<std::size_t>(graph.nodes());
  std::vector<std::int32_t> members(nodes, 0);
  for (const std::int32_t own : cluster) ++members[static_cast<std::size_t>(own)];
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
        const std::int32_t other = cluster[static_cast<std::size_t>(neighbour.node)];
        if (common[static_cast<std::size_t>(other)] == 0) met.push_back(other);
        common[static_cast<std::size_t>(other)] += neighbour.weight;
      }
      std::int32_t& own = cluster[static_cast<std::size_t>(node)];
      std::int32_t best = own;
      double most = common[static_cast<std::size_t>(own)] + kLeastGain;
      for (const std::int32_t other : met) {
        if (common[static_cast<std::size_t>(other)] <= most) continue;
        best = other;
        most = common[static_cast<std::size_t>(other)] + kLeastGain;
      }
      const bool leaves = most < 0 && members[static_cast<std::size_t>(own)] > 1;
      for (const std::int32_t other : met) common[static_cast<std::size_t>(other)] = 0;
      met.clear();
      if (leaves) {
        best = empty.back();
        empty.pop_back();
      }
      if (best == own) continue;
      if (--members[static_cast<std::size_t>(own)] == 0) empty.push_back(own);
      ++members[static_cast<std::size_t>(best)];
      own = best;
      moved = true;
    }
  }
}

/// The ties between clusters, summed up, in the order of both: by buckets of the lower one, since there are many.
std::vector<Tie> ties_between(std::span<const Tie> ties, std::span<const std::int32_t> cluster, std::int32_t clusters) {
  std::vector<std::vector<Neighbour>> above(static_cast<std::size_t>(clusters));
  for (const Tie& tie : ties) {
    const auto [low, high] =
        std::minmax(cluster[static_cast<std::size_t>(tie.first)], cluster[static_cast<std::size_t>(tie.second)]);
    if (low != high) above[static_cast<std::size_t>(low)].push_back({high, tie.weight});
  }
  std::vector<Tie> merged;
  std::vector<double> sums(static_cast<std::size_t>(clusters), 0);
  std::vector<char> is_met(static_cast<std::size_t>(clusters), 0);
  std::vector<std::int32_t> met;
  for (std::int32_t low = 0; low < clusters; ++low) {
    met.clear();
    for (const auto& [high, weight] : above[static_cast<std::size_t>(low)]) {
      const auto at = static_cast<std::size_t>(high);
      if (std::exchange(is_met[at], 1) == 0) met.push_back(high);
      sums[at] += weight;
    }
    std::sort(met.begin(), met.end());
    for (const std::int32_t high : met) {
      const auto at = static_cast<std::size_t>(high);
      merged.push_back({low, high, static_cast<float>(std::exchange(sums[at], 0))});
      is_met[at] = 0;
    }
  }
  return merged;
}

}  // namespace

std::vector<std::int32_t> sizes_of(std::span<const std::int32_t> clusters) {
  std::vector<std::int32_t> sizes;
  for (const std::int32_t own : clusters) {
    if (own < 0) continue;
    if (static_cast<std::size_t>(own) >= sizes.size()) sizes.resize(static_cast<std::size_t>(own) + 1, 0);
    ++sizes[static_cast<std::size_t>(own)];
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
  std::vector<std::int32_t> cluster(static_cast<std::size_t>(nodes));
  std::iota(cluster.begin(), cluster.end(), 0);
  const Graph graph(ties, nodes);
  for (int level = 0; level < kMostPasses; ++level) {
    move_nodes(graph, cluster);
    cluster = renumbered(cluster);
    const std::int32_t before = cluster.empty() ? 0 : *std::max_element(cluster.begin(), cluster.end()) + 1;
    const Graph merged(ties_between(ties, cluster, before), before);
    std::vector<std::int32_t> of_cluster(static_cast<std::size_t>(before));
    std::iota(of_cluster.begin(), of_cluster.end(), 0);
    move_nodes(merged, of_cluster);
    of_cluster = renumbered(of_cluster);
    const std::int32_t after = of_cluster.empty() ? 0 : *std::max_element(of_cluster.begin(), of_cluster.end()) + 1;
    if (after == before) break;
    for (std::int32_t& own : cluster) own = of_cluster[static_cast<std::size_t>(own)];
  }
  return renumbered(cluster);
}

}  // namespace fabricbench::cluster
