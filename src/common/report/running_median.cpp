#include "common/report/running_median.h"

#include <cmath>

namespace fabricbench {

void RunningMedian::add(double value) {
  constexpr double kWidth = 1.001;
  Bin& bin = bins_[static_cast<int>(std::floor(std::log(value) / std::log(kWidth)))];
  ++bin.values;
  bin.sum += value;
  ++values_;
}

double RunningMedian::median() const {
  if (values_ == 0) return 0;
  return (value_at((values_ - 1) / 2) + value_at(values_ / 2)) / 2;
}

/// The value at a place in ascending order, from 0; approximate if other values are close.
double RunningMedian::value_at(std::int64_t place) const {
  std::int64_t before = 0;
  for (const auto& [number, bin] : bins_) {
    before += bin.values;
    if (place < before) return bin.sum / static_cast<double>(bin.values);
  }
  return 0;
}

}  // namespace fabricbench
