// A row of a run, as expectations and presets take it: of several runs (-N) the best one.
#pragma once

#include <algorithm>
#include <vector>

#include "common/core/units.h"
#include "common/record/baseline.h"

namespace fabricbench::expected {

struct MeasuredRow {
  baseline::RowKey key{};
  int group = 0;
  double busbw = 0;           ///< bytes per second
  Seconds time = 0;           ///< median
  double operations = 0;      ///< timed ones of all runs, for which bytes were counted
  double processor_wait = 0;  ///< as Measurement has it
};

/// The largest share of the time for which ranks waited for a processor in one of the rows.
[[nodiscard]] inline double most_waited(const std::vector<MeasuredRow>& rows) {
  double most = 0;
  for (const MeasuredRow& row : rows) most = std::max(most, row.processor_wait);
  return most;
}

}  // namespace fabricbench::expected
