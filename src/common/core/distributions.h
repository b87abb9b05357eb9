// Tails and quantiles of the distributions that judgements use.
#pragma once

#include <cmath>
#include <cstdint>

namespace fabricbench {

/// The probability of a standard normal value of at most `z`.
[[nodiscard]] inline double normal_below(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

/// The value that a standard normal one exceeds with the probability `tail`, 0 < tail < 1.
[[nodiscard]] double normal_quantile(double tail);

/// The probability of `least` or more hits in `trials` independent ones of probability `hit` each.
[[nodiscard]] double binomial_tail(std::int64_t trials, double hit, std::int64_t least);

/// The probability of each trial for which `least` or more of `trials` hit with the probability `tail`: the inverse of
/// binomial_tail. 1 <= least <= trials, 0 < tail < 1.
[[nodiscard]] double binomial_hit(std::int64_t trials, std::int64_t least, double tail);

/// The probability of a value above `t` of Student's distribution with `degrees` > 0 degrees of freedom, by the
/// incomplete beta function's continued fraction (DLMF 8.17.22).
[[nodiscard]] double student_tail(double t, double degrees);

/// The value that Student's distribution exceeds with the probability `tail`, 0 < tail < 1.
[[nodiscard]] double student_quantile(double tail, double degrees);

}  // namespace fabricbench
