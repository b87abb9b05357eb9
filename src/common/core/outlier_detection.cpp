#include "common/core/outlier_detection.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "common/core/statistics.h"

namespace fabricbench {
namespace {

constexpr OutlierBounds kBounds{0.1, 4};  // shares of the others' median; machines differ by less than a tenth anyway
constexpr std::size_t kLeastToBlame = 3;  // of two that differ, either may be the slow one

/// The contenders of one comparison, including the one that is compared.
class Peers {
 public:
  void add(const ComparedRate& each) {
    sorted_.push_back(each.rate);
    if (each.rate > slower_) return;
    slower_ = each.rate;
    most_of_slower_ = std::max(each.rate, each.most);
  }

  /// Call this after the last one was added.
  void conclude() {
    std::sort(sorted_.begin(), sorted_.end());
    const double centre = median(sorted_);
    tolerance_ = kBounds.distance(centre > 0 ? deviation_about(sorted_, centre) / centre : 0);
  }

  [[nodiscard]] Comparison compare(const ComparedRate& each) const {
    if (sorted_.size() < 2) return {OutlierStatus::kAlone, each.rate};
    const double others = lower_median_without(each.rate);
    if (sorted_.size() < kLeastToBlame) {
      return {differ() ? OutlierStatus::kUndecided : OutlierStatus::kUsual, each.rate, others};
    }
    const bool slow = std::max(each.rate, each.most) < others * (1 - tolerance_);
    return {slow ? OutlierStatus::kSlow : OutlierStatus::kUsual, each.rate, others};
  }

 private:
  [[nodiscard]] bool differ() const { return most_of_slower_ < sorted_.back() * (1 - kBounds.least); }

  [[nodiscard]] double lower_median_without(double rate) const {
    const auto own = static_cast<std::size_t>(std::lower_bound(sorted_.begin(), sorted_.end(), rate) - sorted_.begin());
    const std::size_t middle = (sorted_.size() - 2) / 2;
    return sorted_[middle < own ? middle : middle + 1];
  }

  std::vector<double> sorted_;
  double slower_ = std::numeric_limits<double>::infinity();  // the lowest rate
  double most_of_slower_ = 0;
  double tolerance_ = kBounds.least;
};

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

using Key = std::pair<std::string, std::string>;  // kind and host; no host: all hosts

/// Prefers the comparison within the host if it can blame; else takes the one over all hosts, if that has more
/// contenders.
Comparison combined(const Comparison& own_host, Comparison all_hosts, bool several_hosts) {
  if (own_host.status == OutlierStatus::kSlow || !several_hosts) return own_host;
  all_hosts.across_hosts = true;
  if (all_hosts.status == OutlierStatus::kSlow) return all_hosts;
  return own_host.status == OutlierStatus::kUsual ? own_host : all_hosts;
}

}  // namespace

double median_of_others(std::vector<double> values, std::size_t place) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(place));
  return median(values);
}

std::vector<Comparison> detect_outliers(std::span<const ComparedRate> compared) {
  std::map<Key, Peers> groups;
  std::map<std::string, std::string> first_host;
  std::map<std::string, bool> several_hosts;
  for (const ComparedRate& each : compared) {
    groups[{each.like, each.host}].add(each);
    groups[{each.like, ""}].add(each);
    if (first_host.try_emplace(each.like, each.host).first->second != each.host) {
      several_hosts[each.like] = true;
    }
  }
  for (auto& [key, peers] : groups) peers.conclude();
  std::vector<Comparison> comparisons;
  comparisons.reserve(compared.size());
  for (const ComparedRate& each : compared) {
    comparisons.push_back(combined(groups.at({each.like, each.host}).compare(each),
                                   groups.at({each.like, ""}).compare(each), several_hosts.count(each.like) > 0));
  }
  return comparisons;
}

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
