#include "common/core/outlier_detection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "common/core/statistics.h"

namespace fabricbench {
namespace {

constexpr double kFloor = 0.1;            // share of the others' median; machines differ by less than this anyway
constexpr double kDeviations = 4;         // standard deviations beyond chance
constexpr double kSigmaOfMad = 1.4826;    // of a normal distribution: standard deviation over median absolute deviation
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
    std::vector<double> deviations;
    deviations.reserve(sorted_.size());
    for (const double rate : sorted_) deviations.push_back(std::abs(rate - centre));
    const double spread = centre > 0 ? kSigmaOfMad * median(deviations) / centre : 0;
    tolerance_ = std::max(kFloor, kDeviations * spread);
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
  [[nodiscard]] bool differ() const { return most_of_slower_ < sorted_.back() * (1 - kFloor); }

  [[nodiscard]] double lower_median_without(double rate) const {
    const auto own = static_cast<std::size_t>(std::lower_bound(sorted_.begin(), sorted_.end(), rate) - sorted_.begin());
    const std::size_t middle = (sorted_.size() - 2) / 2;
    return sorted_[middle < own ? middle : middle + 1];
  }

  std::vector<double> sorted_;
  double slower_ = std::numeric_limits<double>::infinity();  // the lowest rate
  double most_of_slower_ = 0;
  double tolerance_ = kFloor;
};

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

}  // namespace fabricbench
