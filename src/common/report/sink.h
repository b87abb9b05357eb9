#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/heat_map.h"
#include "common/core/ownership.h"
#include "common/record/baseline.h"
#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/expected.h"
#include "common/record/preflight.h"
#include "common/record/reading.h"
#include "common/record/row.h"
#include "common/record/sweep_plan.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

// What a run that is cut short can still state: rows and sweeps, as far as they were measured.

/// The rows that are being measured, as far as their finished epochs tell.
class InterimRows {
 public:
  /// Before everything else: whether rows are of windows of messages.
  void begin(RowKind row_kind) { of_windows_ = row_kind == RowKind::kBandwidth || row_kind == RowKind::kBothWays; }
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

/// A reference to one record that a run reports between its beginning and its end.
class AnyRecord {
 public:
  template <typename Record>
  AnyRecord(const Record& record) : record_(&record) {}  // NOLINT(google-explicit-constructor): it is the record

  /// The record if it is of that type; else null.
  template <typename Record>
  [[nodiscard]] const Record* as() const {
    const auto* found = std::get_if<const Record*>(&record_);
    return found != nullptr ? *found : nullptr;
  }
  /// Calls `action` with the record.
  template <typename Action>
  void visit(const Action& action) const {
    std::visit([&](const auto* record) { action(*record); }, record_);
  }

 private:
  std::variant<const EpochRecord*, const Row*, const PairReading*, const EndpointSummary*, const MatrixRow*,
               const SweepRound*, const SweepVerdict*, const SilentEndpoints*, const CopyRow*, const ConnectRow*,
               const PreflightFinding*, const PreflightUnseen*, const PreflightCheck*, const PreflightTraffic*,
               const baseline::RowComparison*, const baseline::HistoryChange*, const baseline::BaselineComparison*,
               const expected::RowExpectation*, const expected::Expectation*, const expected::PresetComparison*>
      record_;
};

class Outputs;

/// Receives the reports of a run: first begin, then records as they become known, then end. Lives on rank 0. Every call
/// leaves the output complete and flushed.
class Sink : public InterfaceBase {
 public:
  virtual void begin(const Context& context) = 0;
  virtual void record(const AnyRecord& record) = 0;
  /// Before `end`: a sink that judges the run may change its ending, and report records of its own to all sinks.
  virtual void conclude(Ending& /*ending*/, const Outputs& /*outputs*/) {}
  virtual void end(const Ending& ending) = 0;
  /// Replaces `end` if the run was aborted. A sink whose last lines report success prints nothing.
  virtual void abandon(const Ending& /*ending*/) {}
};

/// All sinks of a run; only the process that owns the outputs has any. Of `end` and `abandon`, only the first call
/// counts, and nothing is reported after it: another thread may abandon a run that goes on or is about to end.
class Outputs {
 public:
  Outputs() = default;
  Outputs(Outputs&&) = default;
  /// Takes the sinks, unless another thread has abandoned this run.
  Outputs& operator=(Outputs&& other) noexcept;
  ~Outputs() = default;

  void add(std::unique_ptr<Sink> sink) { sinks_.push_back(std::move(sink)); }

  void begin(const Context& context) const;
  void record(const AnyRecord& record) const;
  /// What can be stated of copies that are being measured, if the run ends early.
  void keep(std::vector<CopyRow> copies) const;
  /// The estimate of a case that is going to be measured, for the same.
  void keep(const EpochRecord& estimate) const;
  void conclude(Ending& ending) const {
    for (const auto& sink : sinks_) sink->conclude(ending, *this);
  }
  /// After a sink has failed, the following ones are told that the run failed. Throws what the first one threw.
  void end(const Ending& ending) const;
  /// Reports what the finished epochs of unfinished rows and the readings of an unfinished sweep tell, then that the
  /// run ended early. Returns whether there was a sink to tell. Throws what the first sink threw, when all were told.
  bool abandon(const Ending& ending) const;

 private:
  /// What threads share.
  struct State {
    std::timed_mutex mutex;  // of the sinks, and of:
    InterimRows interim;
    InterimSweep sweep;
    std::atomic_flag ended;  // `abandon` goes without the mutex if a sink is stuck
  };
  void remember(const AnyRecord& record) const;

  std::vector<std::unique_ptr<Sink>> sinks_;
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

}  // namespace fabricbench
