// A launch as baselines keep it, from the records of a run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/run/identity.h"
#include "common/record/baseline.h"
#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/reading.h"
#include "common/record/row.h"

namespace fabricbench::baseline {

/// The key of one placement of a row. The subject is left out if there is one group.
[[nodiscard]] RowKey key_of(const Row& row, const Context& context, const char* placement);

/// Calls `action` with the key and the figures of each placement of a row that has a time.
template <typename Action>
void for_each_measurement(const Row& row, const Context& context, const Action& action) {
  const auto call = [&](const std::optional<Measurement>& measured, const char* placement) {
    if (measured && measured->summary.median > 0) action(key_of(row, context, placement), *measured);
  };
  call(row.out_of_place, is_of_pairs(context.row_kind) ? "" : "out_of_place");
  call(row.in_place, "in_place");
}

/// Why these cannot be the times of a row, such as a median that is not that of the epochs; empty: they can.
[[nodiscard]] std::string contradiction_in(const RowTimes& row);

/// The largest share of the time for which ranks waited for a processor in a row of the launch; 0: in none for long.
[[nodiscard]] double most_waited(const Launch& launch);

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
  void add(RowTimes row);

  Context context_;
  std::vector<RowTimes> rows_;
  std::map<RowKey, std::size_t> place_of_;  // in rows_
  DeviceBytes bytes_;
  double payload_ = 0;  // bytes of all messages, without a collective's factor
};

}  // namespace fabricbench::baseline
