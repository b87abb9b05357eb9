#pragma once

#include "common/core/statistics.h"
#include "common/record/field.h"

namespace fabricbench {

template <typename Form, record::Of<Interval> Record>
void describe(Form& form, Record& interval) {
  using namespace record;
  form.part("interval", "The 95 % interval of a median, see Interval");
  form("low_us", us(interval.low), "lower end");
  form("high_us", us(interval.high), "upper end");
  form("confidence", interval.confidence, "actual coverage of the order statistics");
  form.derived("half_width_percent", interval.half_width() * 100, "half the width, relative to the median");
  form.hidden(interval.centre);
}

}  // namespace fabricbench
