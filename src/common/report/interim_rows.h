#pragma once

#include <utility>
#include <vector>

#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/row.h"

namespace fabricbench {

/// The rows that are being measured, as far as their finished epochs tell: what a run that is cut short can still
/// state.
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

}  // namespace fabricbench
