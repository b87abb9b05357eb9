#include "cluster/planning/idle_hosts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fabricbench::cluster {

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

}  // namespace fabricbench::cluster
