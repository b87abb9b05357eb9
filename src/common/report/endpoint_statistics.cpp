#include "common/report/endpoint_statistics.h"

#include <cmath>
#include <limits>

#include "common/core/statistics.h"

namespace fabricbench {
namespace {

/// Adds the number of failed readings to `failed`.
EndpointSummary::Direction summarized(const std::vector<float>& bandwidths, std::int64_t& failed) {
  EndpointSummary::Direction direction;
  std::vector<double> figures;
  figures.reserve(bandwidths.size());
  for (std::size_t partner = 0; partner < bandwidths.size(); ++partner) {
    const double bandwidth = bandwidths[partner];
    if (std::isnan(bandwidth)) continue;
    if (bandwidth <= 0) {
      ++failed;
      continue;
    }
    if (figures.empty() || bandwidth < direction.least) {
      direction.least = bandwidth;
      direction.least_partner = static_cast<int>(partner);
    }
    figures.push_back(bandwidth);
  }
  direction.readings = static_cast<std::int64_t>(figures.size());
  if (!figures.empty()) direction.median = median(figures);
  return direction;
}

}  // namespace

EndpointStatistics::EndpointStatistics(int endpoints)
    : sent_(static_cast<std::size_t>(endpoints), std::numeric_limits<float>::quiet_NaN()), received_(sent_) {}

EndpointSummary EndpointStatistics::summary(int endpoint) const {
  EndpointSummary summary;
  summary.endpoint = endpoint;
  summary.sent = summarized(sent_, summary.failed);
  summary.received = summarized(received_, summary.failed);
  if (!latencies_.empty()) summary.latency = median(latencies_);
  return summary;
}

}  // namespace fabricbench
