#pragma once

#include <cstdint>
#include <map>

namespace fabricbench {

/// The median of any number of positive values, in bounded memory. It is exact within 0.1 %, and exact where no other
/// value is that near.
class RunningMedian {
 public:
  void add(double value);

  [[nodiscard]] std::int64_t values() const { return values_; }
  /// 0 where there are no values.
  [[nodiscard]] double median() const;

 private:
  struct Bin {
    std::int64_t values = 0;
    double sum = 0;
  };

  [[nodiscard]] double value_at(std::int64_t place) const;

  std::map<int, Bin> bins_;  // by the logarithm: a bin is 0.1 % wide
  std::int64_t values_ = 0;
};

}  // namespace fabricbench
