#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/record/sweep_plan.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

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

/// Prints the results of a sweep over pairs: a line for every failed reading as soon as it fails, and at the end a row
/// per endpoint, the drawn matrix, and a summary of all readings. Every line but the rows is marked with `#`.
/// docs/output.md describes it. It keeps O(N) data for N endpoints.
class SweepTableSink final : public Sink {
 public:
  /// `colour`: whether the map uses a terminal's colours.
  SweepTableSink(OutputFile output, bool colour) : output_(std::move(output)), colour_(colour) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

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
  std::vector<std::int64_t> trouble_;       // by endpoint: number of failed readings
  std::int64_t trouble_shown_ = 0;          // lines printed for them
  std::int64_t failed_ = 0;                 // failed readings
  RunningMedian bandwidths_;                // of successful readings
  RunningMedian latencies_;                 // of successful readings
  std::optional<PairReading> slowest_;      // of successful readings
  std::vector<EndpointSummary> summaries_;  // by endpoint
  std::vector<MatrixRow> receivers_;        // kept only if the map can be drawn
  std::optional<SweepVerdict> verdict_;     // only if rounds are planned
};

}  // namespace fabricbench
