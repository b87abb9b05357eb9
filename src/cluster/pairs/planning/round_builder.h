// A round as it is put together, from pairs that are wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/pairs/planning/sweep_progress.h"
#include "cluster/pairs/verdict.h"
#include "common/core/schedule.h"

namespace fabricbench::cluster {

/// A pair that would settle something: any of `hosts` with any of `partners`.
struct WantedPair {
  std::span<const std::int32_t> hosts;
  std::span<const std::int32_t> partners;
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  std::int64_t fewer_than = kAny;       ///< readings between the two so far
  const FollowUp* follow_up = nullptr;  ///< that it is for
};

/// Takes pairs, first come first served, as long as both hosts are free and the round is not full.
class RoundBuilder {
 public:
  /// `barred`: hosts that take no part. `turn`: moves on from round to round, and decides between equal partners.
  RoundBuilder(const PairsMet& met, std::vector<std::uint8_t> barred, std::int64_t most, std::int64_t turn)
      : met_(&met), taken_(std::move(barred)), most_(static_cast<std::size_t>(most)), turn_(turn) {}

  bool add(const Meeting& meeting) {
    if (is_full() || taken_[at(meeting.first)] != 0 || taken_[at(meeting.second)] != 0) return false;
    take(meeting.first);
    take(meeting.second);
    meetings_.push_back(meeting);
    return true;
  }

  /// Adds the two that have met least.
  bool add(const WantedPair& wanted) {
    if (is_full()) return false;
    std::optional<Meeting> best;
    std::int64_t least = wanted.fewer_than;
    for (const std::int32_t host : wanted.hosts) {
      if (taken_[at(host)] != 0) continue;
      for (std::size_t step = 0; step < wanted.partners.size() && least > 0; ++step) {
        const std::size_t place = (step + static_cast<std::size_t>(host + turn_ + 1)) % wanted.partners.size();
        const std::int32_t other = wanted.partners[place];
        if (other == host || taken_[at(other)] != 0) continue;
        const std::int64_t times = met_->between(host, other);
        if (times >= least) continue;
        least = times;
        best = Meeting{host, other};
      }
    }
    return best.has_value() && add(*best);
  }

  /// Adds pairs of hosts that are free.
  void add_idle_hosts(std::int64_t fewer_than) {
    std::vector<std::int32_t> idle;
    for (std::int32_t host = 0; std::cmp_less(host, taken_.size()); ++host) {
      if (taken_[at(host)] == 0) idle.push_back(host);
    }
    for (const std::int32_t& host : idle) add({{&host, 1}, idle, fewer_than});
  }

  /// From now on the pairs have no group in common either, such as a leaf.
  void keep_apart(const std::vector<std::int32_t>& group_of) { group_of_ = &group_of; }

  [[nodiscard]] const std::vector<Meeting>& meetings() const { return meetings_; }

 private:
  [[nodiscard]] bool is_full() const { return meetings_.size() >= most_; }
  void take(std::int32_t host) {
    taken_[at(host)] = 1;
    for (std::size_t other = 0; group_of_ != nullptr && other < taken_.size(); ++other) {
      if ((*group_of_)[other] == (*group_of_)[at(host)]) taken_[other] = 1;
    }
  }

  const PairsMet* met_;
  const std::vector<std::int32_t>* group_of_ = nullptr;
  std::vector<std::uint8_t> taken_;
  std::size_t most_;
  std::int64_t turn_;
  std::vector<Meeting> meetings_;
};

}  // namespace fabricbench::cluster
