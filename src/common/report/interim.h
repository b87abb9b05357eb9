// What a run that is cut short can still state: rows and sweeps, as far as they were measured.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "common/core/heat_map.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/reading.h"
#include "common/record/row.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

/// The rows that are being measured, as far as their finished epochs tell.
class InterimRows {
 public:
  /// Before everything else: whether rows are of windows of messages.
  void begin(Figure figure) { of_windows_ = figure == Figure::kBandwidth || figure == Figure::kBothWays; }
  void add(const EpochRecord& epoch) { epochs_.push_back(epoch); }
  /// What is known of a case until its first epoch: no sample.
  void estimate(const EpochRecord& estimate) { estimates_.push_back(estimate); }
  /// Forgets the epochs of a row that is complete.
  void remove(const Row& row);
  /// Replaces the copies by what is known of them now. None: all are complete.
  void keep(std::vector<CopyRow> copies) { copies_ = std::move(copies); }
  /// Each is marked as cut short.
  [[nodiscard]] std::vector<CopyRow> copies() const;
  /// In the order of the table: by datatype, reduction and root as they were begun, then by size, then by group. Each
  /// is marked as cut short. An epoch counts as one sample, its median, and an estimate as none.
  [[nodiscard]] std::vector<Row> rows() const;

 private:
  bool of_windows_ = false;
  std::vector<EpochRecord> epochs_;
  std::vector<EpochRecord> estimates_;
  std::vector<CopyRow> copies_;
};

/// A sweep over pairs, as far as its readings tell. It keeps the
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
