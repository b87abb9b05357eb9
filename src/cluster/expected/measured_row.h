// A row of a run, as expectations and presets take it: of several runs (-N) the best one.
#pragma once

#include "common/core/units.h"
#include "common/record/baseline.h"

namespace fabricbench::expected {

struct MeasuredRow {
  baseline::RowKey key{};
  int group = 0;
  double busbw = 0;       ///< bytes per second
  Seconds time = 0;       ///< median
  double operations = 0;  ///< timed ones of all runs, for which bytes were counted
};

}  // namespace fabricbench::expected
