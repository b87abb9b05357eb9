#pragma once

#include <cstddef>
#include <vector>

#include "common/core/matrix_row.h"
#include "common/record/context.h"
#include "common/record/reading.h"
#include "common/report/endpoint_statistics.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

/// A sweep over pairs, as far as its readings tell: what a sweep that is cut short can still state. It keeps the
/// readings of at most kMostEndpoints endpoints, because the matrix of a large cluster does not fit into one process;
/// of more it states nothing.
class InterimSweep {
 public:
  static constexpr std::size_t kMostEndpoints = 1024;  // 16 MiB of readings

  /// Before everything else. Of a run that is no sweep, nothing is stated.
  void begin(const Context& context);
  void add(const PairReading& reading);
  /// Forgets what the run has stated itself.
  void remove(const EndpointSummary& summary);
  void remove(const MatrixRow& row);
  /// By endpoint, of those that have readings. Each is marked as cut short.
  [[nodiscard]] std::vector<EndpointSummary> summaries() const;
  /// By receiver, of all endpoints. None: no readings.
  [[nodiscard]] std::vector<MatrixRow> matrix() const;

 private:
  struct Endpoint {
    EndpointStatistics statistics;
    bool has_summary = false;  // which the run has stated
    bool has_row = false;      // of the matrix
  };
  [[nodiscard]] Endpoint* find(int endpoint);

  SweepFacts facts_;
  std::vector<Endpoint> endpoints_;
  bool has_readings_ = false;
};

}  // namespace fabricbench
