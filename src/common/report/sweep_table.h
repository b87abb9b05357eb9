#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/record/sweep_plan.h"
#include "common/report/output_file.h"
#include "common/report/running_median.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Prints what a sweep over pairs found: a line for every reading that failed, as soon as it did, and at the end a row
/// an endpoint, the matrix as a picture, and what all readings come to. Every line but the rows is marked with `#`.
/// docs/output.md describes it. Of N endpoints it keeps O(N).
class SweepTableSink final : public Sink {
 public:
  /// `colour`: whether the picture gets the colours of a terminal.
  SweepTableSink(OutputFile output, bool colour) : output_(std::move(output)), colour_(colour) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;

 private:
  void add(const PairReading& reading);
  [[nodiscard]] const std::string& name(int endpoint) const { return names_[static_cast<std::size_t>(endpoint)]; }
  [[nodiscard]] std::string trouble_lines(const PairReading& reading);
  [[nodiscard]] std::string table() const;
  [[nodiscard]] std::string map() const;
  [[nodiscard]] std::string closing_lines() const;
  [[nodiscard]] std::string readings_line() const;
  [[nodiscard]] std::string verdict_lines() const;
  [[nodiscard]] std::string slowest_endpoint_line() const;

  OutputFile output_;
  bool colour_;
  Context context_;
  std::vector<std::string> names_;          // of the endpoints
  std::vector<std::int64_t> trouble_;       // by endpoint: its readings that failed
  std::int64_t trouble_shown_ = 0;          // lines on them
  std::int64_t failed_ = 0;                 // readings
  RunningMedian bandwidths_;                // of the readings that did not
  RunningMedian latencies_;                 // the same
  std::optional<PairReading> slowest_;      // of those
  std::vector<EndpointSummary> summaries_;  // by endpoint
  std::vector<MatrixRow> receivers_;        // kept only where they can be drawn
  std::optional<SweepVerdict> verdict_;     // where rounds are planned
};

}  // namespace fabricbench
