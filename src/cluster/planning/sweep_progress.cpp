#include "cluster/planning/sweep_progress.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "cluster/last_success.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

constexpr std::uint8_t kForth = 1;
constexpr std::uint8_t kBack = 2;
constexpr std::uint8_t kBoth = kForth | kBack;
constexpr std::int64_t kTwicePairs = 8;  // the hosts of two pairs, twice: one pair alone is never a round of most hosts

std::size_t at(std::int32_t host) { return static_cast<std::size_t>(host); }

/// 1 if these bits say that a pair has been measured; else 0.
std::uint8_t all_bits(bool both_directions, std::uint8_t bits) {
  return both_directions ? static_cast<std::uint8_t>(bits == kBoth) : static_cast<std::uint8_t>(bits != 0);
}

/// A failure of a host with a partner, and whether that partner works.
struct Failure {
  std::int32_t host;
  std::int32_t partner;
  bool partner_works;
  std::int32_t round;
};

/// The failures of each host after its last success, by host and partner.
std::vector<Failure> failures_since(const Sweep& sweep, const std::vector<std::int32_t>& worked) {
  std::vector<Failure> failures;
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome != Outcome::kFailed) continue;
    for (const auto& [host, partner] : {std::pair(reading.from, reading.to), std::pair(reading.to, reading.from)}) {
      if (reading.round <= worked[at(host)]) continue;
      const bool has_never_worked = worked[at(host)] < 0;
      failures.push_back({host, partner, worked[at(partner)] > (has_never_worked ? -1 : reading.round), reading.round});
    }
  }
  std::sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
    return std::tie(a.host, a.partner, b.partner_works) < std::tie(b.host, b.partner, a.partner_works);
  });
  return failures;
}

/// Whether it is time to try a host again that has worked before, and may fail now and then. The wait grows with the
/// number of partners that it has failed with, since each failure costs a time limit.
bool is_worth_trying(std::int32_t failed_with, std::int32_t least, std::int64_t rounds_since) {
  constexpr std::int64_t kFirstWait = 8;  // rounds
  constexpr std::int64_t kLonger = 3;
  std::int64_t wait = kFirstWait;
  // Mostly one more partner has failed before the last of `least` partners has shown that it works.
  for (std::int32_t failures = least + 1; failures < failed_with && wait <= rounds_since; ++failures) wait *= kLonger;
  return rounds_since > wait;
}

std::vector<std::uint8_t> hosts_left_out(const Sweep& sweep, const SweepPlan& plan, std::int64_t last_round) {
  std::vector<std::uint8_t> out(sweep.hosts.size(), 0);
  const std::vector<std::int32_t> worked = last_success(sweep, 1);
  const std::vector<Failure> failures = failures_since(sweep, worked);
  for (std::size_t i = 0; i < failures.size();) {
    const std::int32_t host = failures[i].host;
    std::int32_t proven = 0;
    std::int32_t partners = 0;
    std::int32_t latest = 0;
    for (std::int32_t earlier = -1; i < failures.size() && failures[i].host == host; ++i) {
      latest = std::max(latest, failures[i].round);
      if (failures[i].partner == earlier) continue;  // the first failure with a partner says whether it works
      earlier = failures[i].partner;
      ++partners;
      if (failures[i].partner_works) ++proven;
    }
    const bool has_worked = worked[at(host)] >= 0;
    const bool nobody_works = !has_worked && partners >= 2 * plan.failures;
    const bool is_due = has_worked && is_worth_trying(proven, plan.failures, last_round + 1 - latest);
    if ((proven >= plan.failures || nobody_works) && !is_due) out[at(host)] = 1;
  }
  return out;
}

/// Sets the planned and finished pairs of the last round.
void look_at_last_round(const Sweep& sweep, SweepProgress& progress) {
  progress.busy.assign(sweep.hosts.size(), 0);
  for (const Reading& reading : sweep.readings) {
    if (reading.round != progress.last) continue;
    progress.at_once = std::max(progress.at_once, std::int64_t{reading.concurrent});
    progress.busy[at(reading.from)] |= reading.both_ways ? kBoth : kForth;
    progress.busy[at(reading.to)] |= reading.both_ways ? kBoth : kBack;
  }
  std::int64_t hosts = 0;
  for (std::uint8_t& bits : progress.busy) {
    bits = all_bits(progress.both_directions, bits);
    hosts += bits;
  }
  progress.finished = hosts / 2;
}

/// The number of whole rounds that the readings can have filled, plus one.
std::int64_t rounds_to_look_at(const Sweep& sweep, const SweepProgress& progress, const Schedule& schedule,
                               std::int64_t most) {
  const std::int64_t idle = static_cast<std::int64_t>(sweep.hosts.size()) - progress.taking_part();
  const std::int64_t least_meetings = schedule.meetings() - idle;
  if (least_meetings <= 0) return most;
  return std::min(most, static_cast<std::int64_t>(sweep.readings.size()) / least_meetings + 1);
}

std::size_t place_of(const Schedule& schedule, const Schedule::Slot& slot) {
  return static_cast<std::size_t>(slot.whole_round) * static_cast<std::size_t>(schedule.meetings()) +
         static_cast<std::size_t>(slot.index);
}

/// Marks the measured meetings of the first whole rounds.
void note_measured(const Sweep& sweep, const Schedule& schedule, SweepProgress& progress) {
  for (const Reading& reading : sweep.readings) {
    if (reading.from == reading.to) continue;  // within a host
    const std::size_t place = place_of(schedule, schedule.slot_of({reading.from, reading.to}));
    if (place >= progress.measured.size()) continue;
    progress.measured[place] |= reading.both_ways ? kBoth : (reading.from < reading.to ? kForth : kBack);
  }
}

/// By round, the number of new pairs, of the whole rounds that are done.
std::map<std::int32_t, std::int64_t> new_pairs_by_round(const Sweep& sweep, const Schedule& schedule,
                                                        std::int64_t whole_done) {
  std::map<std::int32_t, std::int64_t> pairs;
  std::vector<std::uint8_t> counted(static_cast<std::size_t>(whole_done) *
                                    static_cast<std::size_t>(schedule.meetings()));
  for (const Reading& reading : sweep.readings) {
    if (reading.from == reading.to) continue;
    const std::size_t place = place_of(schedule, schedule.slot_of({reading.from, reading.to}));
    if (place >= counted.size() || counted[place] != 0) continue;
    counted[place] = 1;
    ++pairs[reading.round];
  }
  return pairs;
}

/// The number of hosts in each round, and the number of rounds of each host.
struct Attendance {
  std::map<std::int32_t, std::int64_t> hosts;  // by round
  std::vector<std::int64_t> rounds;            // by host
};

Attendance attendance_of(const Sweep& sweep) {
  Attendance attendance;
  attendance.rounds.assign(sweep.hosts.size(), 0);
  std::vector<std::int32_t> last(sweep.hosts.size(), -1);
  auto round = attendance.hosts.end();  // readings of one round come one after the other
  for (const Reading& reading : sweep.readings) {
    if (round == attendance.hosts.end() || round->first != reading.round) {
      round = attendance.hosts.try_emplace(reading.round, 0).first;
    }
    for (const std::int32_t host : {reading.from, reading.to}) {
      if (std::exchange(last[at(host)], reading.round) == reading.round) continue;
      ++attendance.rounds[at(host)];
      ++round->second;
    }
  }
  return attendance;
}

/// The median number of rounds of hosts that take part.
std::int64_t usual_meetings(const Attendance& attendance, const SweepProgress& progress) {
  std::vector<std::int64_t> rounds;
  for (std::size_t host = 0; host < attendance.rounds.size(); ++host) {
    if (progress.left_out[host] == 0) rounds.push_back(attendance.rounds[host]);
  }
  return rounds.empty() ? 0 : upper_median(rounds);
}

/// See SweepProgress::extra.
std::int64_t extra_rounds(const Attendance& attendance, const std::map<std::int32_t, std::int64_t>& new_pairs,
                          const SweepPlan& plan, const SweepProgress& progress) {
  std::int64_t everybody = 0;
  std::int64_t again = 0;
  for (const auto& [round, hosts] : attendance.hosts) {
    const auto found = new_pairs.find(round);
    if (found != new_pairs.end() && 4 * found->second >= hosts) {  // half of its pairs or more
      ++everybody;
    } else if (2 * hosts >= std::max<std::int64_t>(progress.taking_part(), kTwicePairs)) {
      ++again;
    }
  }
  const std::int64_t allowed = std::max<std::int64_t>(plan.most_meetings - everybody, 0);
  return progress.last + 1 - everybody - std::min<std::int64_t>(again, allowed);
}

bool is_done(const SweepProgress& progress, const Schedule& schedule, std::int64_t whole_round) {
  for (std::int64_t part = 0; part < schedule.parts(); ++part) {
    for (const Meeting& meeting : schedule.round(whole_round * schedule.parts() + part)) {
      if (progress.needs(schedule, meeting)) return false;
    }
  }
  return true;
}

}  // namespace

bool SweepProgress::needs(const Schedule& schedule, const Meeting& meeting) const {
  if (left_out[at(meeting.first)] != 0 || left_out[at(meeting.second)] != 0) return false;
  const std::size_t place = place_of(schedule, schedule.slot_of(meeting));
  return place >= measured.size() || all_bits(both_directions, measured[place]) == 0;
}

std::int64_t SweepProgress::taking_part() const {
  return std::count(left_out.begin(), left_out.end(), std::uint8_t{0});
}

SweepProgress progress_of(const Sweep& sweep, const SweepPlan& plan, const Schedule& schedule,
                          std::int64_t whole_rounds) {
  SweepProgress progress;
  progress.both_directions = plan.both_directions;
  for (const Reading& reading : sweep.readings) progress.last = std::max(progress.last, std::int64_t{reading.round});
  look_at_last_round(sweep, progress);
  progress.left_out = hosts_left_out(sweep, plan, progress.last);
  progress.absent.assign(sweep.hosts.size(), 0);
  for (const std::int32_t host : plan.absent) progress.absent[at(host)] = progress.left_out[at(host)] = 1;
  const std::int64_t looked_at = rounds_to_look_at(sweep, progress, schedule, whole_rounds);
  progress.measured.assign(static_cast<std::size_t>(looked_at) * static_cast<std::size_t>(schedule.meetings()), 0);
  note_measured(sweep, schedule, progress);
  while (progress.whole_done < looked_at && is_done(progress, schedule, progress.whole_done)) ++progress.whole_done;
  if (!plan.find) return progress;
  const Attendance attendance = attendance_of(sweep);
  progress.met = usual_meetings(attendance, progress);
  progress.extra = extra_rounds(attendance, new_pairs_by_round(sweep, schedule, progress.whole_done), plan, progress);
  return progress;
}

}  // namespace fabricbench::cluster
