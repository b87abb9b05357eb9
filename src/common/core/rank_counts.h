#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace fabricbench {

/// How often each rank was the extreme one of all ranks, such as the slowest. Measurements that follow each other are
/// alike, so they are counted by blocks: those of a block are near in time, and each block counts once.
class RankCounts {
 public:
  using Block = std::pair<std::int64_t, std::int64_t>;

  /// In a measurement of this block, `rank` was the extreme one, with a weight such as its share of the samples.
  void add(const Block& block, int rank, double weight);

  struct Leader {
    int rank = 0;
    std::int64_t blocks = 0;  ///< in which it has more weight than any other rank
    std::int64_t all_blocks = 0;
  };
  /// The rank that leads in more blocks than chance explains. If all `ranks` ranks are alike, there is one in less than
  /// 1 of 100 runs: a binomial test, with Bonferroni's correction for the choice of the rank.
  [[nodiscard]] std::optional<Leader> leader(std::int64_t ranks) const;

 private:
  std::map<Block, std::map<int, double>> weights_;  // by rank: sum over the measurements of the block
};

}  // namespace fabricbench
