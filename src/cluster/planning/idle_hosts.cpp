#include "cluster/planning/idle_hosts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fabricbench::cluster {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

bool none_is_busy(const SweepProgress& progress, const std::vector<Meeting>& meetings) {
  return std::none_of(meetings.begin(), meetings.end(), [&](const Meeting& meeting) {
    return progress.busy[static_cast<std::size_t>(meeting.first)] != 0 ||
           progress.busy[static_cast<std::size_t>(meeting.second)] != 0;
  });
}

/// Whether the last round is this round of the schedule, broken off: some of its pairs were finished, no host of the
/// missing pairs took part, and it was to have about as many pairs, so that it was no round for follow-ups.
bool is_rest_of_last(const Sweep& sweep, const SweepProgress& progress, const std::vector<Meeting>& round,
                     const std::vector<Meeting>& missing) {
  const auto size = progress.finished + static_cast<std::int64_t>(missing.size());
  if (!progress.is_broken_off() || 2 * progress.at_once < size || !none_is_busy(progress, missing)) return false;
  std::set<Pair> pairs;
  for (const Meeting& meeting : round) pairs.insert(std::minmax(meeting.first, meeting.second));
  return std::any_of(sweep.readings.begin(), sweep.readings.end(), [&](const Reading& reading) {
    return reading.round == progress.last && pairs.count(std::minmax(reading.from, reading.to)) > 0;
  });
}

}  // namespace

std::vector<std::int32_t> idle_hosts(const SweepProgress& progress, bool is_completed,
                                     const std::vector<Meeting>& meetings) {
  std::vector<std::uint8_t> engaged = progress.left_out;
  for (std::size_t host = 0; is_completed && host < engaged.size(); ++host) engaged[host] |= progress.busy[host];
  for (const Meeting& meeting : meetings) {
    engaged[static_cast<std::size_t>(meeting.first)] = engaged[static_cast<std::size_t>(meeting.second)] = 1;
  }
  std::vector<std::int32_t> idle;
  for (std::size_t host = 0; host < engaged.size(); ++host) {
    if (engaged[host] == 0) idle.push_back(static_cast<std::int32_t>(host));
  }
  return idle;
}

void pair_idle_hosts(const Sweep& sweep, std::vector<std::int32_t> idle, std::size_t at_once,
                     std::vector<Meeting>& meetings) {
  if (idle.size() < 2) return;
  std::vector<std::uint8_t> is_idle(sweep.hosts.size(), 0);
  for (const std::int32_t host : idle) is_idle[static_cast<std::size_t>(host)] = 1;
  std::set<std::pair<std::int32_t, std::int32_t>> met;
  for (const Reading& reading : sweep.readings) {
    const bool both =
        is_idle[static_cast<std::size_t>(reading.from)] != 0 && is_idle[static_cast<std::size_t>(reading.to)] != 0;
    if (both) met.insert(std::minmax(reading.from, reading.to));
  }
  while (idle.size() > 1 && meetings.size() < at_once) {
    const std::int32_t host = idle.front();
    idle.erase(idle.begin());
    const auto other = std::find_if(idle.begin(), idle.end(), [&](std::int32_t candidate) {
      return met.count({host, candidate}) == 0;
    });
    if (other == idle.end()) continue;
    meetings.push_back({host, *other});
    idle.erase(other);
  }
}

OfSchedule next_of_schedule(const Sweep& sweep, const SweepProgress& progress, const Schedule& schedule,
                            std::size_t at_once) {
  OfSchedule next;
  for (next.place = progress.whole_done * schedule.parts(); next.place < schedule.rounds(); ++next.place) {
    const std::vector<Meeting> round = schedule.round(next.place);
    for (const Meeting& meeting : round) {
      if (progress.needs(schedule, meeting)) next.meetings.push_back(meeting);
    }
    if (next.meetings.empty()) continue;
    next.is_completed = is_rest_of_last(sweep, progress, round, next.meetings);
    // If rounds are split, some hosts always wait.
    if (schedule.parts() == 1) {
      pair_idle_hosts(sweep, idle_hosts(progress, next.is_completed, next.meetings), at_once, next.meetings);
    }
    break;
  }
  return next;
}

}  // namespace fabricbench::cluster
