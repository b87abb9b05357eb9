#pragma once

#include <cstdint>
#include <map>

namespace fabricbench {

/// The median of any number of positive values in bounded memory. Accurate within 0.1 %, and exact if no other value is
/// that close.
class RunningMedian {
 public:
  void add(double value);

  [[nodiscard]] std::int64_t values() const { return values_; }
  /// 0 if there are no values.
  [[nodiscard]] double median() const;

 private:
  struct Bin {
    std::int64_t values = 0;
    double sum = 0;
  };

  [[nodiscard]] double value_at(std::int64_t place) const;

  std::map<int, Bin> bins_;  // by logarithm; a bin is 0.1 % wide
  std::int64_t values_ = 0;
};

}  // namespace fabricbench
