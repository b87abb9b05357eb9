#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/units.h"

namespace fabricbench::verbs {

/// The rate of a stream of messages: bursts of some, each as long after the previous one as its bytes take at this
/// rate. A stream that falls behind makes up for at most one burst.
class Pace {
 public:
  Pace(double bytes_per_s, std::uint64_t burst) : bytes_per_s_(bytes_per_s), burst_(burst) {}

  /// How many of `messages` may start now, which is `at`; they count as started.
  [[nodiscard]] std::uint64_t take(std::uint64_t messages, Bytes size, Seconds at) {
    if (left_ == 0 && (!next_ || at >= *next_)) {
      const Seconds each = static_cast<double>(burst_ * size) / bytes_per_s_;
      next_ = (next_ ? std::max(*next_, at - each) : at) + each;
      left_ = burst_;
    }
    const std::uint64_t taken = std::min(messages, left_);
    left_ -= taken;
    return taken;
  }

 private:
  double bytes_per_s_;
  std::uint64_t burst_;
  std::uint64_t left_ = 0;       // of the burst under way
  std::optional<Seconds> next_;  // begin of the next one
};

}  // namespace fabricbench::verbs
