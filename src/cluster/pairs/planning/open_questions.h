// The open questions of a verdict, as rounds of the pairs that would settle them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pairs/planning/planner.h"
#include "cluster/pairs/planning/sweep_progress.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/verdict.h"
#include "common/core/schedule.h"

namespace fabricbench::cluster {

/// The hosts that are no suspects: no finding names them, and no follow-up is about them alone. The hosts of a slow
/// path are none, since they are fine with all others.
[[nodiscard]] std::vector<std::int32_t> hosts_without_suspicion(const Verdict& verdict, std::size_t hosts);

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
      : met_(&met), taken_(std::move(barred)), most_(at(most)), turn_(turn) {}

  bool add(const Pair& meeting) {
    if (is_full() || taken_[at(meeting.first)] != 0 || taken_[at(meeting.second)] != 0) return false;
    take(meeting.first);
    take(meeting.second);
    meetings_.push_back(meeting);
    return true;
  }

  /// Adds the two that have met least.
  bool add(const WantedPair& wanted) {
    if (is_full()) return false;
    std::optional<Pair> best;
    std::int64_t least = wanted.fewer_than;
    for (const std::int32_t host : wanted.hosts) {
      if (taken_[at(host)] != 0) continue;
      for (std::size_t step = 0; step < wanted.partners.size() && least > 0; ++step) {
        const std::size_t place = (step + at(host + turn_ + 1)) % wanted.partners.size();
        const std::int32_t other = wanted.partners[place];
        if (other == host || taken_[at(other)] != 0) continue;
        const std::int64_t times = met_->between(host, other);
        if (times >= least) continue;
        least = times;
        best = Pair{host, other};
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

  [[nodiscard]] const std::vector<Pair>& meetings() const { return meetings_; }

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
  std::vector<Pair> meetings_;
};

/// Each question is a list of wanted pairs, the most important first, and becomes a round of as many of them as fit
/// beside each other. The rounds have no number yet; no meetings: there is no such question. The arguments of the
/// constructor have to outlive it.
class OpenQuestions {
 public:
  OpenQuestions(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict);

  [[nodiscard]] std::int64_t suspects() const { return std::ssize(sweep_.hosts) - std::ssize(no_suspects_); }
  /// Hosts and follow-ups in a few words each, as many as fit into a line.
  [[nodiscard]] std::string text(bool (*is_asked)(const FollowUp&)) const;
  /// Dead hosts with each other.
  [[nodiscard]] PlannedRound dead_hosts() const;
  /// Do pairs share links? Up to six pairs of one round, the slowest that nothing explains: each alone, then the whole
  /// round again, since its load is what may have slowed them; and all this once more if single readings differ.
  [[nodiscard]] PlannedRound shared_links(double tolerance) const;
  /// Hosts of groups that may be one, if `most_rounds` rounds can decide that.
  [[nodiscard]] PlannedRound between_groups(std::int64_t most_rounds) const;
  /// Hosts with hosts of their own group, until each has met `partners` of them or all, and those that are not judged
  /// twice; the finest groups first. Slow uplinks hide the rates within groups, so groups are skipped whose rate across
  /// is `most_across` times that within or more.
  [[nodiscard]] PlannedRound within_groups(std::int64_t partners, double most_across, std::int64_t most_pairs) const;
  /// Follow-ups with hosts of the same leaf of a locality: many at once, since these share no links.
  [[nodiscard]] PlannedRound near_again() const;
  /// Hosts that are not judged, with those that they have met least alone.
  [[nodiscard]] PlannedRound not_judged(std::int64_t most_pairs) const;
  /// Suspects with each other, since slow hosts are slow with each other too and hosts behind slow uplinks are not;
  /// suspects with the partner that they have met least; then pairs, each alone. Pairs are measured beside each other
  /// if there are too many for the rounds left, without a leaf in common as long as that suffices; or `among_many`
  /// others.
  [[nodiscard]] PlannedRound follow_ups(std::int64_t most_pairs, std::int64_t rounds_left, bool among_many) const;

 private:
  /// A pair that was measured alone, or that a follow-up is about.
  struct History {
    std::set<std::int32_t> alone;   ///< rounds
    std::set<std::int32_t> failed;  ///< of these, rounds in which it failed
    std::set<std::int32_t> beside;  ///< rounds with others, after the first one alone
    bool is_given_up = false;  ///< the latest attempt was skipped: messages of an earlier one may still be under way
  };

  [[nodiscard]] std::map<HostPair, History> histories() const;
  [[nodiscard]] const History& history_of(std::int32_t host, std::int32_t other) const;
  [[nodiscard]] RoundBuilder empty_round(std::int64_t most_pairs) const;
  /// The hosts of a host's group of a level, itself among them.
  [[nodiscard]] std::span<const std::int32_t> members(std::size_t level, const std::int32_t& host) const;
  [[nodiscard]] PlannedRound slow_pairs(double tolerance) const;
  template <typename Asked>
  [[nodiscard]] std::vector<WantedPair> wanted(const Asked& is_asked) const;
  [[nodiscard]] std::vector<WantedPair> pairs_again() const;
  [[nodiscard]] std::string add_pairs(std::int64_t rounds_left, bool among_many, RoundBuilder& round) const;

  const Sweep& sweep_;
  const SweepProgress& progress_;
  const Verdict& verdict_;
  std::vector<std::vector<std::int32_t>> group_of_;  // by level of Verdict::groupings and host; -1: none
  std::vector<std::int32_t> no_suspects_;            // hosts
  std::map<HostPair, History> histories_;
};

}  // namespace fabricbench::cluster
