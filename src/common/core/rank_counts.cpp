#include "common/core/rank_counts.h"

#include <algorithm>

#include "common/core/distributions.h"

namespace fabricbench {
namespace {

/// The rank with most weight; empty if two are equal.
std::optional<int> leader_of(const std::map<int, double>& weights) {
  const auto most = std::max_element(weights.begin(), weights.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto have_most = std::count_if(weights.begin(), weights.end(), [&](const auto& each) {
    constexpr double kRounding = 1e-9;
    return each.second > most->second * (1 - kRounding);
  });
  return have_most == 1 ? std::optional(most->first) : std::nullopt;
}

}  // namespace

void RankCounts::add(const Block& block, int rank, double weight) { weights_[block][rank] += weight; }

std::optional<RankCounts::Leader> RankCounts::leader(std::int64_t ranks) const {
  constexpr double kSignificance = 0.01;
  std::map<int, std::int64_t> blocks_won;
  for (const auto& block : weights_) {
    if (const auto rank = leader_of(block.second)) ++blocks_won[*rank];
  }
  Leader leader{0, 0, static_cast<std::int64_t>(weights_.size())};
  for (const auto& [rank, blocks] : blocks_won) {
    if (blocks > leader.blocks) leader = {rank, blocks, leader.all_blocks};
  }
  if (ranks < 2 || leader.blocks == 0) return std::nullopt;
  const auto count = static_cast<double>(ranks);
  const double by_chance = count * binomial_tail(leader.all_blocks, 1 / count, leader.blocks);
  return by_chance > kSignificance ? std::nullopt : std::optional(leader);
}

}  // namespace fabricbench
