// Definitions and statistics shared by the outputs of a sweep over pairs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/units.h"
#include "common/record/context.h"
#include "common/record/reading.h"

namespace fabricbench {

/// Facts that readings do not contain; empty for a program that is not a sweep.
struct SweepFacts {
  struct Place {
    int rank = 0;
    std::string host;
    std::string rail;   ///< name of the endpoint on its host: its GPU or local rank; empty if the host has one endpoint
    std::string gpu{};  ///< its PCI address; empty: none
    std::string gpu_uuid{};  ///< empty: unknown
  };
  std::vector<Place> endpoints;
  std::string test;     ///< the program's name
  bool checked = true;  ///< whether received data are compared with sent data
};
[[nodiscard]] SweepFacts sweep_facts(const Context& context);

/// Adds the ends and the test to a reading; the ends' texts are owned by `facts`.
void add_facts(PairReading& reading, const SweepFacts& facts);
/// Adds the same to an endpoint and to its slowest peers.
void add_facts(EndpointSummary& summary, const SweepFacts& facts);
/// The hosts of endpoints.
[[nodiscard]] std::vector<std::string> hosts_of(const std::vector<int>& endpoints, const SweepFacts& facts);

/// The plan of the sweep.
[[nodiscard]] SweepPlanFacts plan_facts(const Context& context);

/// The unit that is paired; never EndpointLevel::kAuto.
[[nodiscard]] EndpointLevel paired(const Context& context);

/// A name for every endpoint: its host, or `host:r3` with its rank where the host has several.
[[nodiscard]] std::vector<std::string> endpoint_names(const Context& context);

/// The maximum number of pairs in a round; with ScheduleKind::kShift, of flows.
[[nodiscard]] std::int64_t most_at_once(const Context& context);

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

/// The median of any number of positive values in bounded memory. Accurate within 0.1 %, and exact if no other value is
/// that close.
class RunningMedian {
 public:
  void add(double value);

  [[nodiscard]] std::int64_t values() const { return values_; }
  /// 0 if there are no values.
  [[nodiscard]] double median() const;

 private:
  struct Bin {
    std::int64_t values = 0;
    double sum = 0;
  };

  [[nodiscard]] double value_at(std::int64_t place) const;

  std::map<int, Bin> bins_;  // by logarithm; a bin is 0.1 % wide
  std::int64_t values_ = 0;
};

}  // namespace fabricbench
