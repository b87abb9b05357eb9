// Hosts that are slow or fail now and then, whoever their partner is.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/pairs/attribution/failures.h"
#include "cluster/pairs/attribution/findings.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// A host is measured until it is decided whether it is slow in kUnsteadyShare of its meetings, or only as often as
/// chance makes hosts slow (Wald's sequential test, Sequential Analysis, 1947). With fewer meetings it is measured
/// further while the evidence is not against it; with more, while it exceeds what chance gives about one of all hosts
/// (Ville's inequality).
constexpr std::int64_t kEnoughMeetings = 60;
/// The prior of the usual share: so many slow ones in kMany meetings of two readings, about one in fifty. It grows with
/// the readings of a meeting.
constexpr double kSlowBefore = 0.28;

using Two = std::pair<std::int32_t, std::int32_t>;
using HostShares = std::vector<double>;  // by host: the share of slow meetings; 0: it is steady

Two hosts_of(const Model& model, const PairEffect& pair) {
  return std::minmax(model.ids.host(pair.sender), model.ids.host(pair.receiver));
}

bool is_either(const HostShares& shares, const Reading& reading) {
  return shares[at(reading.from)] != 0 || shares[at(reading.to)] != 0;
}

/// Pairs of hosts whose slow readings are explained by their path, ascending: it is slow for good, or may be, or
/// (`now_and_then`) now and then.
std::vector<Two> settled_pairs(const Model& model, const PairEffects& pairs, bool now_and_then) {
  std::vector<Two> hosts;
  for (const PairEffect& pair : pairs.pairs) {
    const bool is_noise = pair.state == PairState::kNoise || pair.state == PairState::kUnclear;
    const bool may_be_a_host =
        pair.state == PairState::kNowAndThen || (pair.state == PairState::kOpen && pair.retests == 0);
    if (!is_noise && (now_and_then || !may_be_a_host)) hosts.push_back(hosts_of(model, pair));
  }
  return sorted_unique(std::move(hosts));
}

/// Readings that nothing explains, and the slow ones among them.
struct Background {
  std::vector<const Point*> slow;
  std::int64_t readings = 0;
};

/// The background, without readings of `unsteady` hosts. `now_and_then`: as of settled_pairs.
Background find_background(const Model& model, const PairEffects& pairs, const HostShares& unsteady,
                           bool now_and_then = false) {
  const std::vector<Two> settled = settled_pairs(model, pairs, now_and_then);
  Background background;
  for (const Point& point : model.points) {
    if (!model.is_blameless(point) || is_either(unsteady, model.reading_of(point))) continue;
    ++background.readings;
    if (point.residual - model.near_limit_of(point) >= outlier_bound(model, point)) continue;
    const Two hosts = std::minmax(model.ids.host(point.sender), model.ids.host(point.receiver));
    const bool is_suspect = pairs.is_suspect(point.sender) || pairs.is_suspect(point.receiver);
    if (!is_suspect && !std::ranges::binary_search(settled, hosts)) background.slow.push_back(&point);
  }
  return background;
}

constexpr float kFailedResidual = -100;

/// A slow meeting of a host with a partner in a round: the lowest residual, which is kFailedResidual if a reading
/// failed.
struct SlowMeeting {
  std::int32_t host = 0;
  Two with;  ///< partner and round
  float residual = 0;

  [[nodiscard]] auto key() const { return std::tie(host, with, residual); }
};

/// The number of residuals, ascending, at this one or below.
std::int64_t count_up_to(const std::vector<float>& residuals, float residual) {
  return std::upper_bound(residuals.begin(), residuals.end(), residual) - residuals.begin();
}

std::vector<float> residuals_of(std::span<const SlowMeeting> meetings) {
  std::vector<float> residuals;
  for (const SlowMeeting& meeting : meetings) residuals.push_back(meeting.residual);
  std::ranges::sort(residuals);
  return residuals;
}

/// The evidence, in nats, that a host with so many slow meetings is slow in kUnsteadyShare of them, and not with the
/// probability `chance`. 0 if `chance` is not lower.
double evidence_for(std::int64_t meetings, std::int64_t slow, double chance) {
  if (chance >= kUnsteadyShare) return 0;
  const auto hits = static_cast<double>(slow);
  const auto misses = static_cast<double>(meetings - slow);
  return hits * std::log(kUnsteadyShare / chance) + misses * std::log((1 - kUnsteadyShare) / (1 - chance));
}

/// The evidence above which a host is measured further.
double bar_for(std::int64_t meetings, std::int32_t hosts) {
  return meetings < kEnoughMeetings ? -1 : std::log(static_cast<double>(hosts));
}

/// How many more meetings, all of them fast, would bring the evidence below the bar.
std::int64_t meetings_to_clear(std::int64_t meetings, std::int64_t slow, double chance, std::int32_t hosts) {
  std::int64_t more = 1;
  while (more < kMany && evidence_for(meetings + more, slow, chance) > bar_for(meetings + more, hosts)) ++more;
  return more;
}

/// The slow meetings of all hosts that are not unsteady, and how often chance makes a meeting slow.
class Meetings {
 public:
  Meetings(const Model& model, const PairEffects& pairs, std::span<const std::int32_t> failed,
           const HostShares& unsteady)
      : model_(model), unsteady_(unsteady) {
    Background background = find_background(model, pairs, unsteady);
    slow_ = std::move(background.slow);
    readings_ = background.readings;
    for (const Point* point : slow_) add(model.reading_of(*point), point->residual);
    for (const std::int32_t place : failed) {
      const Reading& reading = model.sweep->readings[at(place)];
      if (is_either(unsteady, reading)) continue;
      add(reading, kFailedResidual);
      ++readings_;
    }
    std::ranges::sort(meetings_, [](const SlowMeeting& a, const SlowMeeting& b) { return a.key() < b.key(); });
    const auto end = std::unique(meetings_.begin(), meetings_.end(), [](const SlowMeeting& a, const SlowMeeting& b) {
      return a.host == b.host && a.with == b.with;
    });
    meetings_.erase(end, meetings_.end());
    for (const SlowMeeting& meeting : meetings_) {
      if (meeting.with.first > meeting.host) residuals_.push_back(meeting.residual);  // once for both hosts
    }
    std::ranges::sort(residuals_);
  }

  /// Hosts that are slow now and then, or may be.
  [[nodiscard]] std::vector<UnsteadyHost> judge(const ComingAndGoing& known) const {
    std::vector<UnsteadyHost> hosts;
    for (auto begin = meetings_.begin(); begin != meetings_.end();) {
      const std::int32_t host = begin->host;
      const auto end = std::find_if(begin, meetings_.end(), [&](const SlowMeeting& each) { return each.host != host; });
      const std::span<const SlowMeeting> slow(begin, end);
      begin = end;
      const Own own = this->own(host, slow);
      UnsteadyHost found;
      found.finding.blame = Blame::kTransient;
      found.finding.hosts = {host};
      found.finding.readings = own.all;
      tell(slow, found);
      const auto blamed = known.find(host);
      judge_residuals(own, blamed != known.end() ? blamed->second : 1, found);
      if (!found.sure && found.wanted == 0) continue;
      tell_rates(found);
      hosts.push_back(std::move(found));
    }
    return hosts;
  }

 private:
  /// The meetings of a host, and what is slow of them.
  struct Own {
    std::int64_t all = 0;
    double readings = 1;             ///< of a meeting, the mean; 1 or more
    double others = 0;               ///< meetings of other hosts, plus those of the prior
    std::vector<float> residuals;    ///< of slow meetings, ascending
    std::vector<float> with_others;  ///< the same without the partner with most of them
  };
  /// The slowest meetings of a host, down to some residual.
  struct Depth {
    std::int64_t slow = 0;
    double chance = 1;  ///< the probability that a meeting of a healthy host is as slow
    double evidence = -std::numeric_limits<double>::infinity();
  };

  void add(const Reading& reading, float residual) {
    meetings_.push_back({reading.from, {reading.to, reading.round}, residual});
    meetings_.push_back({reading.to, {reading.from, reading.round}, residual});
  }

  [[nodiscard]] Own own(std::int32_t host, std::span<const SlowMeeting> slow) const {
    std::vector<Two> measured;
    for (const std::int32_t effect : effects_of(model_, host)) {
      for (const Entry entry : model_.entries_of(effect)) {
        const Point& point = model_.point_of(entry);
        const std::int32_t partner = model_.ids.host(entry.other);
        if (unsteady_[at(partner)] == 0 && model_.is_blameless(point))
          measured.emplace_back(partner, model_.reading_of(point).round);
      }
    }
    const auto readings = static_cast<double>(measured.size());
    measured = sorted_unique(std::move(measured));
    Own own;
    own.readings = std::max(1.0, readings / std::max(1.0, static_cast<double>(measured.size())));
    own.others = std::max(static_cast<double>(readings_) - readings, 0.0) / own.readings + kMany;
    own.all = std::ssize(measured) + std::ranges::count_if(slow, [&](const SlowMeeting& meeting) {
                return !std::ranges::binary_search(measured, meeting.with);
              });
    own.residuals = residuals_of(slow);
    std::map<std::int32_t, std::int64_t> times;  // slow, by partner
    for (const SlowMeeting& meeting : slow) ++times[meeting.with.first];
    const auto most = std::ranges::max_element(times, {}, [](const auto& each) { return each.second; });
    std::vector<SlowMeeting> with_others(slow.begin(), slow.end());
    std::erase_if(with_others, [&](const SlowMeeting& meeting) { return meeting.with.first == most->first; });
    own.with_others = residuals_of(with_others);
    return own;
  }

  /// The probability that a meeting of a healthy host is at this residual or below, estimated from other hosts, plus
  /// `errors` standard errors.
  [[nodiscard]] double chance_of(const Own& own, float residual, double errors) const {
    const auto elsewhere =
        std::max(0.0, static_cast<double>(count_up_to(residuals_, residual) - count_up_to(own.residuals, residual)));
    // No noise makes a reading fail.
    const double prior = residual == kFailedResidual ? kSlowBefore : kSlowBefore * std::sqrt(own.readings);
    const double error = std::sqrt(residual == kFailedResidual ? elsewhere : elsewhere + prior);
    return std::min(1.0, (elsewhere + prior + errors * error) / own.others);
  }

  /// The depth with most evidence: the slowest meetings may be slower than those of other hosts, and the rest chance.
  /// `residuals`: of the host's slow meetings, ascending, or of some of them; the other ones do not count.
  [[nodiscard]] Depth deepest(const Own& own, const std::vector<float>& residuals) const {
    const std::int64_t all = own.all - (std::ssize(own.residuals) - std::ssize(residuals));
    Depth best;
    for (const float residual : residuals) {
      Depth depth{count_up_to(residuals, residual), chance_of(own, residual, kErrors)};
      depth.evidence = evidence_for(all, depth.slow, depth.chance);
      if (depth.evidence > best.evidence) best = depth;
    }
    return best;
  }

  /// Sets whether a host is blamed: if chance reaches its evidence in fewer sweeps than the settings allow, however
  /// long it was measured (Ville's inequality), and if there is evidence without the partner that it was slow with most
  /// often: else the path may be to blame.
  void judge_residuals(const Own& own, double false_alarm, UnsteadyHost& found) const {
    const std::int32_t hosts = model_.ids.hosts;
    Finding& finding = found.finding;
    const float last = own.residuals.back();
    const Depth depth = deepest(own, own.residuals);
    const auto depths = static_cast<double>(own.residuals.size());
    finding.false_alarm = std::min(false_alarm, family_wise(depths * std::exp(-std::max(depth.evidence, 0.0)), hosts));
    const auto enough = std::clamp(hosts - 2, 2, kSeveral);
    found.sure = finding.false_alarm < model_.settings.false_alarm && finding.partners >= enough &&
                 std::ssize(finding.slow_rounds) >= enough && deepest(own, own.with_others).evidence > 0;
    if (found.sure) return;
    const double usual = chance_of(own, last, kErrors);
    const bool hopeless = chance_of(own, last, 0) >= kExceptions;
    const double bar = bar_for(own.all, hosts);
    if (!hopeless && evidence_for(own.all, finding.slow, usual) > bar) {
      found.wanted = meetings_to_clear(own.all, finding.slow, usual, hosts);
    } else if (depth.evidence > std::max(bar, 0.0) + std::log(depths)) {
      found.wanted = meetings_to_clear(own.all, depth.slow, depth.chance, hosts);
    }
  }

  /// Fills in the numbers of a host's slow meetings.
  void tell(std::span<const SlowMeeting> slow, UnsteadyHost& found) const {
    Finding& finding = found.finding;
    std::set<std::int32_t> partners;
    std::set<std::int32_t> rounds;
    for (const SlowMeeting& meeting : slow) {
      partners.insert(meeting.with.first);
      rounds.insert(meeting.with.second);
      finding.failed += meeting.residual == kFailedResidual ? 1 : 0;
    }
    finding.slow = std::ssize(slow);
    finding.partners = std::ssize(partners);
    finding.slow_rounds.assign(rounds.begin(), rounds.end());
  }

  /// Fills in the rates of a host's slow readings, and why readings failed.
  void tell_rates(UnsteadyHost& found) const {
    Finding& finding = found.finding;
    std::vector<float> residuals;
    std::vector<float> usual;
    for (const Point* point : slow_) {
      const Reading& reading = model_.reading_of(*point);
      if (reading.from != found.host() && reading.to != found.host()) continue;
      residuals.push_back(point->residual);
      usual.push_back(reading.rate / std::exp(point->residual));
      found.rail = reading.from == found.host() ? reading.from_rail : reading.to_rail;
    }
    if (!residuals.empty()) {
      finding.ratio = std::exp(median_of(residuals));
      finding.expected = median_of(usual);
      finding.rate = finding.ratio * finding.expected;
    }
    if (finding.failed == 0) return;
    const auto& readings = model_.sweep->readings;
    const auto failed = std::ranges::find_if(readings, [&](const Reading& reading) {
      return reading.outcome == Outcome::kFailed && (reading.from == found.host() || reading.to == found.host());
    });
    finding.reason = reason_of(*model_.sweep, at(failed - readings.begin()));
  }

  const Model& model_;
  const HostShares& unsteady_;
  std::vector<const Point*> slow_;
  std::int64_t readings_ = 0;          // that nothing explains, and failed ones
  std::vector<SlowMeeting> meetings_;  // by host, partner and round
  std::vector<float> residuals_;       // of each meeting of two hosts, ascending
};

/// Whether the readings of a blamed host come and go, which a lasting fault does not allow.
struct Steadiness {
  std::int64_t readings = 0;
  std::int64_t fast = 0;
  std::int32_t mixed = 0;                             ///< partners that were met again, fast once and slow once
  std::size_t repeated = 0;                           ///< that were met again
  std::array<std::vector<std::int32_t>, 2> met_once;  ///< hosts: slow ones, fast ones

  [[nodiscard]] bool is_in_doubt() const {
    return fast > 1 && static_cast<double>(fast) > kExceptions * static_cast<double>(readings);
  }
  [[nodiscard]] bool comes_and_goes() const { return is_in_doubt() && mixed >= kMoreThanOne; }
  [[nodiscard]] bool is_open() const { return is_in_doubt() && mixed < kMoreThanOne && repeated < kFew; }
};

Steadiness steadiness_of(const Model& model, const UnitEffect& found) {
  // The cap is a median, and lies between fast and slow readings if half of them are slow. If the partner is slow too,
  // the readings that it does not explain are the slowest by chance.
  const auto tells = [&](Entry entry) {
    const Point& point = model.point_of(entry);
    return model.missing(found.effect, point) < model.slow && !model.is_flagged(entry.other) &&
           !explained_otherwise(model, point, entry.other);
  };
  std::vector<float> below;
  for (const Entry entry : model.entries_of(found.effect)) {
    const Point& point = model.point_of(entry);
    const auto excess = static_cast<float>(point.residual - model.missing(found.effect, point));
    if (tells(entry) && excess < 0) below.push_back(excess);
  }
  const double slow_residual = below.empty() ? 0 : static_cast<double>(median_of(below));
  Steadiness steadiness;
  for_each_partner(model, found.effect, [&](std::span<const Entry> group) {
    std::set<std::int32_t> rounds;
    std::array<bool, 2> any{};
    for (const Entry entry : group) {
      if (!tells(entry)) continue;
      const Point& point = model.point_of(entry);
      const double residual = model.missing(found.effect, point) + slow_residual;
      const bool is_fast = point.residual > std::max(kPart * residual, residual + kErrors * model.scale_of(point));
      any[is_fast ? 1 : 0] = true;
      ++steadiness.readings;
      steadiness.fast += is_fast ? 1 : 0;
      rounds.insert(model.reading_of(point).round);
    }
    const std::int32_t host = model.ids.host(group.front().other);
    if (rounds.size() == 1) steadiness.met_once[any[1] ? 1 : 0].push_back(host);
    steadiness.repeated += rounds.size() > 1 ? 1 : 0;
    steadiness.mixed += rounds.size() > 1 && any[0] && any[1] ? 1 : 0;
  });
  return steadiness;
}

/// Asks for the same partners again: does it depend on the partner, or on the time?
void ask_again(const Model& model, const UnitEffect& found, const Steadiness& steadiness, Verdict& verdict) {
  // A host that is slow now, or fast now, is so with all partners: those that it was fast with tell, or the others.
  std::array<std::size_t, 2> kinds{1, 0};
  if (steadiness.repeated % 2 == 1) std::swap(kinds[0], kinds[1]);
  std::vector<std::int32_t> partners;
  for (std::size_t i = 0; i < kFew; ++i) {
    for (const std::size_t kind : kinds) {
      if (i < steadiness.met_once[kind].size()) partners.push_back(steadiness.met_once[kind][i]);
    }
  }
  partners.resize(std::min<std::size_t>(partners.size(), kFew));
  for (const std::int32_t partner : partners) {
    verdict.follow_ups.push_back(
        {model.ids.host(found.effect), partner, static_cast<std::int16_t>(model.ids.rail(found.effect)), 1,
         "slow with some partners and not with others: does it depend on the partner or on the time?", true});
  }
}

}  // namespace

double outlier_bound(const Model& model, const Point& point) {
  return std::min(model.slow, -kSureErrors * model.scale_of(point));
}

ComingAndGoing take_unsteady(Model& model, UnitEffects& units, Verdict& verdict) {
  ComingAndGoing unsteady;
  for (const UnitEffect& found : units.blamed) {
    const Steadiness steadiness = steadiness_of(model, found);
    if (steadiness.comes_and_goes()) {
      const auto known = unsteady.try_emplace(model.ids.host(found.effect), found.false_alarm).first;
      known->second = std::min(known->second, found.false_alarm);
    }
    if (steadiness.is_open()) ask_again(model, found, steadiness, verdict);
  }
  std::erase_if(units.blamed, [&](const UnitEffect& found) {
    const bool is_unsteady = unsteady.contains(model.ids.host(found.effect));
    if (is_unsteady) model.clear_blame(found.effect);
    return is_unsteady;
  });
  return unsteady;
}

std::vector<UnsteadyHost> find_unsteady(const Model& model, const UnitEffects& units, const PairEffects& pairs,
                                        std::span<const std::int32_t> failed, const ComingAndGoing& coming_and_going) {
  std::vector<UnsteadyHost> known;
  HostShares unsteady(at(model.ids.hosts), 0);
  for (const UnitEffect& found : units.blamed) unsteady[at(model.ids.host(found.effect))] = 1;
  for (;;) {
    std::vector<UnsteadyHost> found = Meetings(model, pairs, failed, unsteady).judge(coming_and_going);
    const auto surest = std::ranges::min_element(found, [](const UnsteadyHost& a, const UnsteadyHost& b) {
      return std::tuple(!a.sure, a.finding.false_alarm) < std::tuple(!b.sure, b.finding.false_alarm);
    });
    if (surest == found.end() || !surest->sure) {
      std::move(found.begin(), found.end(), std::back_inserter(known));
      return known;
    }
    unsteady[at(surest->host())] = 1;
    known.push_back(std::move(*surest));
  }
}

void report_unsteady(const std::vector<UnsteadyHost>& hosts, Verdict& verdict) {
  for (const auto& [finding, sure, wanted, rail] : hosts) {
    if (sure) verdict.findings.push_back(finding);
    if (sure || finding.partners == 1) continue;  // the path is measured again first
    verdict.follow_ups.push_back({finding.hosts.front(), -1, rail, static_cast<std::int32_t>(wanted),
                                  fmt::format("slow or failed in {} of {} meetings, with {} partners", finding.slow,
                                              finding.readings, finding.partners),
                                  false, true});
  }
}

double share_of_outliers(const Model& model, const PairEffects& pairs, const HostShares& unsteady) {
  const Background background = find_background(model, pairs, unsteady, !pairs.too_many);
  if (background.readings == 0) return 0;
  return static_cast<double>(background.slow.size()) / static_cast<double>(background.readings);
}

}  // namespace fabricbench::cluster
