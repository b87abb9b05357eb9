// Findings on slow devices.

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "cluster/attribution/devices.h"

namespace fabricbench::cluster {

std::vector<char> readings_over(const Sweep& sweep, const std::vector<SlowDevices>& slow) {
  std::array<std::vector<char>, 2> is_slow;  // by device: when it sends, when it receives
  for (std::vector<char>& way : is_slow) way.assign(sweep.devices.size(), 0);
  for (const SlowDevices& each : slow) {
    for (const std::int32_t device : each.devices) {
      if (each.sends) is_slow[0][static_cast<std::size_t>(device)] = 1;
      if (each.receives) is_slow[1][static_cast<std::size_t>(device)] = 1;
    }
  }
  std::vector<char> over(sweep.readings.size(), 0);
  for (std::size_t place = 0; place < over.size(); ++place) {
    for (const bool receiver : {false, true}) {
      const Route* route = sweep.route_of(place, receiver);
      if (route == nullptr) continue;
      for (const std::int32_t device : route->devices) {
        if (device != Route::kNone && is_slow[receiver ? 1 : 0][static_cast<std::size_t>(device)] != 0) over[place] = 1;
      }
    }
  }
  return over;
}

void report_devices(const std::vector<SlowDevices>& slow, Verdict& verdict) {
  for (const SlowDevices& each : slow) {
    Finding finding;
    finding.blame = Blame::kDevice;
    finding.devices = each.devices;
    finding.hosts = each.slow_hosts;
    finding.hosts_met = static_cast<std::int64_t>(each.hosts.size());
    finding.fine_without = static_cast<std::int64_t>(each.fast_elsewhere.size());
    finding.direction = each.sends == each.receives ? Direction::kBoth
                        : each.sends                ? Direction::kSends
                                                    : Direction::kReceives;
    finding.ratio = std::exp(each.score.median);
    finding.rate = std::exp(each.score.cap);
    finding.expected = finding.rate / finding.ratio;
    finding.readings = each.readings;
    finding.partners = each.score.informative_hosts;
    finding.slow_partners = each.score.slow_hosts;
    finding.false_alarm = each.false_alarm;
    verdict.findings.push_back(std::move(finding));
  }
}

}  // namespace fabricbench::cluster
