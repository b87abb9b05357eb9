#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/sweep/flow.h"
#include "cluster/sweep/steps.h"
#include "common/core/units.h"
#include "common/record/reading.h"
#include "common/record/row.h"

namespace fabricbench::sweep {

/// An endpoint's report on a step: the figures of the messages that it received, if any.
struct Report {
  std::int64_t step = 0;
  std::optional<int> from;  ///< the endpoint whose messages were received; empty: none expected
  ReadingStatus status = ReadingStatus::kOk;
  double bandwidth = 0;  ///< bytes per second, as in PairReading
  double least_bandwidth = 0;
  double most_bandwidth = 0;
  std::int64_t windows = 0;
  std::int64_t messages = 0;
  std::optional<Seconds> latency;
  double processor_wait = 0;
  std::uint64_t wrong = 0;
  bool has_abandoned = false;  ///< messages of this endpoint may still be under way
  std::string reason;
};

template <typename Visitor, record::Of<Report> Record>
void describe(Visitor& visitor, Record& report) {
  visitor.internal(report.step, report.from, report.status, report.bandwidth, report.least_bandwidth,
                   report.most_bandwidth, report.windows, report.messages, report.latency, report.processor_wait,
                   report.wrong, report.has_abandoned, report.reason);
}

[[nodiscard]] Report report_of(std::int64_t step, const Flows& flows, const StepResult& result, Bytes size,
                               bool has_abandoned);

/// The first endpoint's account of a running sweep: the endpoints that have reported on the current step, and totals.
/// It passes every reading on at once and keeps none, so its memory grows with the endpoints, not with their pairs.
class Ledger {
 public:
  /// `names` of the endpoints, such as `rank 3 on node-07`. `publish` is given every reading. `required`: bytes per
  /// second of each reading; 0: none.
  Ledger(std::vector<std::string> names, Bytes size, std::function<void(PairReading)> publish, double required = 0);

  void begin(const SweepStep& step);
  void note(int endpoint, const Report& report);

  [[nodiscard]] bool is_complete() const { return waiting_ == 0; }
  /// The endpoints that have not reported, and their peers, for people.
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] std::vector<int> missing_endpoints() const;
  /// Whether any endpoint gave up messages.
  [[nodiscard]] bool has_abandoned() const { return has_abandoned_; }
  /// Bytes of all timed windows.
  [[nodiscard]] Bytes carried() const { return carried_; }
  /// The ending that follows from the readings.
  [[nodiscard]] Ending ending() const;

 private:
  struct Slowest {
    int from = 0;
    int to = 0;
    double bandwidth = 0;
  };
  void judge(const Report& report, int to);

  std::vector<std::string> names_;
  Bytes size_;
  std::function<void(PairReading)> publish_;
  double required_;
  SweepStep step_;
  std::vector<std::uint8_t> reported_;  // by endpoint
  std::size_t waiting_ = 0;             // endpoints that have not reported
  bool has_abandoned_ = false;
  Bytes carried_ = 0;
  std::optional<Slowest> slowest_;  // of the readings below what is required
  std::int64_t slow_ = 0;           // their number
  std::int64_t readings_ = 0;
  std::int64_t timed_out_ = 0;
  std::int64_t waited_ = 0;  // readings whose ranks waited for a processor
  double most_waited_ = 0;   // the largest share of the time
  std::int64_t wrong_ = 0;
};

}  // namespace fabricbench::sweep
