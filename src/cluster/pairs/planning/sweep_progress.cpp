#include "cluster/pairs/planning/sweep_progress.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// The last round in which a unit had a reading with a rate; -1: it never had one. A unit is host * rails + rail; if
/// `rails` is 1, it is the host, with all of its rails.
std::vector<std::int32_t> last_success(const Sweep& sweep, std::int32_t rails) {
  std::vector<std::int32_t> rounds(sweep.hosts.size() * at(rails), -1);
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome != Outcome::kMeasured) continue;
    for (const auto& [host, rail] :
         {std::pair(reading.from, reading.from_rail), std::pair(reading.to, reading.to_rail)}) {
      const std::int32_t unit = host * rails + (rails == 1 ? 0 : rail);
      std::int32_t& last = rounds[at(unit)];
      last = std::max(last, reading.round);
    }
  }
  return rounds;
}

/// The failures of a host since its last success.
struct Failures {
  std::map<std::int32_t, bool> works;  // by partner
  std::int32_t latest = -1;            // round
};

std::vector<Failures> failures_since(const Sweep& sweep, const std::vector<std::int32_t>& worked) {
  std::vector<Failures> failures(sweep.hosts.size());
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome != Outcome::kFailed) continue;
    for (const auto& [host, partner] : {std::pair(reading.from, reading.to), std::pair(reading.to, reading.from)}) {
      if (reading.round <= worked[at(host)]) continue;
      const bool has_never_worked = worked[at(host)] < 0;
      bool& works = failures[at(host)].works[partner];
      works = works || worked[at(partner)] > (has_never_worked ? -1 : reading.round);
      failures[at(host)].latest = std::max(failures[at(host)].latest, reading.round);
    }
  }
  return failures;
}

/// See SweepProgress::left_out. Each failure costs a time limit, so the wait before a host is tried again becomes
/// longer with each partner after the second, but for one: mostly one more has failed before the second has shown that
/// it works.
std::vector<std::uint8_t> dead_hosts(const Sweep& sweep, std::int64_t last_round) {
  constexpr double kFirstWait = 8;  // rounds: another time for most faults
  constexpr double kLonger = 3;
  const std::vector<std::int32_t> worked = last_success(sweep, 1);
  std::vector<std::uint8_t> dead;
  for (const Failures& failures : failures_since(sweep, worked)) {
    const auto proven = std::ranges::count_if(failures.works, [](const auto& partner) { return partner.second; });
    const bool has_worked = worked[dead.size()] >= 0;
    const bool nobody_works = !has_worked && std::cmp_greater_equal(failures.works.size(), 2 * kMoreThanOne);
    const double wait = kFirstWait * std::pow(kLonger, std::max<std::int64_t>(proven - kMoreThanOne - 1, 0));
    const bool is_due = has_worked && static_cast<double>(last_round + 1 - failures.latest) > wait;
    dead.push_back(static_cast<std::uint8_t>((proven >= kMoreThanOne || nobody_works) && !is_due));
  }
  return dead;
}

/// If a meeting gives a reading in each direction, one of them alone is not enough.
bool is_measured(const PairsMet& met, const Pair& meeting, bool both_directions) {
  const bool forth = met.readings(meeting.first, meeting.second) > 0;
  const bool back = met.readings(meeting.second, meeting.first) > 0;
  return both_directions ? forth && back : forth || back;
}

/// Finds the next round of the schedule. It is the rest of the last round if that was broken off, was to have about as
/// many pairs, so that it was no round for a few questions, and none of the missing pairs' hosts was in it.
void find_next(const Sweep& sweep, const SweepPlan& plan, const Schedule& schedule, SweepProgress& progress) {
  const auto is_in_last = [&](const Reading& reading) { return reading.round == progress.last; };
  const PairsMet met_in_last(sweep, is_in_last);
  std::vector<std::uint8_t> engaged = progress.left_out;
  std::int64_t planned = 0;
  std::int64_t engaged_hosts = 0;
  for (const Reading& each : sweep.readings) {
    if (!is_in_last(each)) continue;
    planned = std::max(planned, std::int64_t{each.concurrent});
    if (!is_measured(met_in_last, {each.from, each.to}, plan.both_directions)) continue;
    for (const std::int32_t host : {each.from, each.to})
      engaged_hosts += std::exchange(engaged[at(host)], 1) == 0 ? 1 : 0;
  }
  std::vector<Pair> round;
  for (; progress.place < schedule.rounds() && progress.next.empty(); ++progress.place) {
    round = schedule.round(progress.place);
    std::ranges::copy_if(round, std::back_inserter(progress.next), [&](const Pair& each) {
      const bool is_left_out = progress.left_out[at(each.first)] + progress.left_out[at(each.second)] > 0;
      return !is_left_out && !is_measured(progress.met, each, plan.both_directions);
    });
  }
  if (!progress.next.empty()) --progress.place;
  const auto was_in_last = [&](const Pair& each) { return met_in_last.between(each.first, each.second) > 0; };
  const auto is_engaged = [&](const Pair& each) { return engaged[at(each.first)] + engaged[at(each.second)] > 0; };
  const std::int64_t finished = engaged_hosts / 2;
  progress.is_rest = !progress.next.empty() && finished < planned &&
                     2 * planned >= finished + std::ssize(progress.next) && std::ranges::any_of(round, was_in_last) &&
                     std::ranges::none_of(progress.next, is_engaged);
  progress.engaged = progress.is_rest ? std::move(engaged) : progress.left_out;
}

/// Counts the rounds for all hosts. One pair is never such a round by its size.
void count_rounds(const Sweep& sweep, const SweepPlan& plan, SweepProgress& progress) {
  std::map<std::int32_t, std::int64_t> pairs;  // by round: at the same time
  auto round = pairs.end();                    // readings of one round come one after the other
  for (const Reading& reading : sweep.readings) {
    if (pairs.empty() || round->first != reading.round) round = pairs.try_emplace(reading.round, 0).first;
    round->second = std::max(round->second, std::int64_t{reading.concurrent});
  }
  const std::int64_t possible = std::min(progress.at_once, progress.taking_part() / 2);
  std::int64_t full = 0;
  std::int64_t all = 0;
  for (const auto& [each, number] : pairs) {
    full += number > 1 && 2 * number >= possible ? 1 : 0;
    all += std::min(number, possible);  // hosts that are left out were in earlier ones
  }
  const std::int64_t of_schedule = std::min(progress.place, progress.last + 1);
  progress.for_all = std::clamp(full, of_schedule, std::max<std::int64_t>(of_schedule, plan.most_meetings));
  const std::int64_t hosts = std::max<std::int64_t>(progress.taking_part(), 1);
  progress.meetings = (2 * all + hosts - 1) / hosts;
}

}  // namespace

PairsMet::PairsMet(const Sweep& sweep, const std::function<bool(const Reading&)>& counts)
    : receivers_(sweep.hosts.size()) {
  for (const Reading& reading : sweep.readings) {
    if (!counts(reading)) continue;
    receivers_[at(reading.from)].push_back(reading.to);
    if (reading.both_ways) receivers_[at(reading.to)].push_back(reading.from);
  }
  for (std::vector<std::int32_t>& receivers : receivers_) std::ranges::sort(receivers);
}

std::int64_t PairsMet::readings(std::int32_t from, std::int32_t to) const {
  const auto [first, last] = std::equal_range(receivers_[at(from)].begin(), receivers_[at(from)].end(), to);
  return last - first;
}

std::int64_t SweepProgress::taking_part() const { return std::ranges::count(left_out, std::uint8_t{0}); }

SweepProgress progress_of(const Sweep& sweep, const SweepPlan& plan, const Schedule& schedule) {
  SweepProgress progress{.met = PairsMet(sweep)};
  for (const Reading& reading : sweep.readings) progress.last = std::max(progress.last, std::int64_t{reading.round});
  progress.absent.assign(sweep.hosts.size(), 0);
  progress.left_out = dead_hosts(sweep, progress.last);
  for (const std::int32_t host : plan.absent) progress.absent[at(host)] = progress.left_out[at(host)] = 1;
  const std::int64_t all = std::max(plan.schedule.endpoints / 2, 1);
  progress.at_once = plan.schedule.concurrent > 0 ? std::min<std::int64_t>(plan.schedule.concurrent, all) : all;
  find_next(sweep, plan, schedule, progress);
  count_rounds(sweep, plan, progress);
  return progress;
}

}  // namespace fabricbench::cluster
