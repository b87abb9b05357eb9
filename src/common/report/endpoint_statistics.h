#pragma once

#include <vector>

#include "common/core/units.h"
#include "common/record/reading.h"

namespace fabricbench {

/// The readings of one endpoint: a bandwidth for each partner and direction. The matrix of a sweep is distributed over
/// the endpoints, one row and one column on each.
class EndpointStatistics {
 public:
  explicit EndpointStatistics(int endpoints);

  /// Bytes per second; 0: the reading failed.
  void note_sent(int to, double bandwidth) { sent_[static_cast<std::size_t>(to)] = static_cast<float>(bandwidth); }
  void note_received(int from, double bandwidth) {
    received_[static_cast<std::size_t>(from)] = static_cast<float>(bandwidth);
  }
  void note_latency(Seconds latency) { latencies_.push_back(latency); }

  [[nodiscard]] EndpointSummary summary(int endpoint) const;
  [[nodiscard]] const std::vector<float>& received() const { return received_; }

 private:
  std::vector<float> sent_;  // by endpoint; not a number: no reading
  std::vector<float> received_;
  std::vector<Seconds> latencies_;
};

}  // namespace fabricbench
