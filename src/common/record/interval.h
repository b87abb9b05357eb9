#pragma once

#include "common/core/statistics.h"
#include "common/record/field.h"

namespace fabricbench {

template <typename Form, record::Of<Interval> Record>
void describe(Form& form, Record& interval) {
  using namespace record;
  form.part("interval", "The 95 % interval of a median, see Interval");
  form("low_us", us(interval.low), "its lower end");
  form("high_us", us(interval.high), "its upper end");
  form("confidence", interval.confidence, "what the order statistics really give");
  form.derived("half_width_percent", interval.half_width() * 100, "half its width, of the median");
  form.hidden(interval.centre);
}

}  // namespace fabricbench
