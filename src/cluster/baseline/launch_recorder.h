// A launch as baselines keep it, from the records of a run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/record/baseline.h"
#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/reading.h"
#include "common/record/row.h"

namespace fabricbench::baseline {

/// The key of one placement of a row. The subject is left out if there is one group.
[[nodiscard]] RowKey key_of(const Row& row, const Context& context, const char* placement);

/// Takes the records of one run, in their order.
class LaunchRecorder {
 public:
  void begin(const Context& context) { context_ = context; }
  void take(const Row& row);
  void take(const PairReading& reading);
  void take(const CopyRow& row);
  void take(int pair, const ConnectTimes& step);

  /// The launch. Several times of one row, as in a sweep that measures pairs twice, become one row with their median.
  [[nodiscard]] Launch finish() const;

 private:
  void take(const Row& row, const std::optional<Measurement>& measured, const char* placement);
  void add(RowTimes row);

  Context context_;
  std::vector<RowTimes> rows_;
  std::map<RowKey, std::size_t> place_of_;                      // in rows_
  std::map<std::string, std::map<std::string, double>> bytes_;  // by host and network device
  double payload_ = 0;                                          // bytes of all messages, without a collective's factor
};

}  // namespace fabricbench::baseline
