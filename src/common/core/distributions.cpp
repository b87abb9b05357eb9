#include "common/core/distributions.h"

#include <algorithm>
#include <limits>

namespace fabricbench {
namespace {

/// The x between `low` and `high` at which the decreasing function `f` is 0, to the precision of doubles.
template <typename Function>
double zero_of(const Function& f, double low, double high) {
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
    (f(middle) > 0 ? low : high) = middle;
  }
  return low;
}

/// The continued fraction of the incomplete beta function by Lentz's method; it converges for x < (a + 1) / (a + b +
/// 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kSmallest = std::numeric_limits<double>::min();
  constexpr int kMostTerms = 500;
  const auto nonzero = [](double value) { return std::abs(value) < kSmallest ? kSmallest : value; };
  double c = 1;
  double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / nonzero(1 + term * d);
      c = nonzero(1 + term / c);
      change = c * d;
      fraction *= change;
    }
    if (std::abs(change - 1) < 1e-15) break;
  }
  return fraction;
}

/// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double factor =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return factor * beta_fraction(x, a, b) / a;
  return 1 - factor * beta_fraction(1 - x, b, a) / b;
}

}  // namespace

double normal_quantile(double tail) {
  constexpr double kBeyondAllTails = 40;  // below the smallest double
  return zero_of([&](double z) { return normal_below(-z) - tail; }, -kBeyondAllTails, kBeyondAllTails);
}

double binomial_tail(std::int64_t trials, double hit, std::int64_t least) {
  if (least <= 0 || hit >= 1) return 1;
  if (least > trials || hit <= 0) return 0;
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(least);
  double term = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(hit) +
                         (n - k) * std::log1p(-hit));
  double sum = 0;
  for (std::int64_t hits = least; hits <= trials; ++hits) {
    sum += term;
    const double ratio = static_cast<double>(trials - hits) / static_cast<double>(hits + 1) * hit / (1 - hit);
    // Terms rise up to the mean and fall behind it: only there may the rest be left out.
    if (ratio < 1 && term < 1e-12 * sum) break;
    term *= ratio;
  }
  // So far below the mean that the first term is no number: the tail is nearly everything.
  if (sum == 0 && k < n * hit) return 1;
  return std::min(sum, 1.0);
}

double binomial_hit(std::int64_t trials, std::int64_t least, double tail) {
  return zero_of([&](double hit) { return tail - binomial_tail(trials, hit, least); }, 0, 1);
}

double student_tail(double t, double degrees) {
  const double both = incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
  return t > 0 ? both / 2 : 1 - both / 2;
}

double student_quantile(double tail, double degrees) {
  if (tail > 0.5) return -student_quantile(1 - tail, degrees);
  double high = 1;
  while (student_tail(high, degrees) > tail) high *= 2;
  return zero_of([&](double t) { return student_tail(t, degrees) - tail; }, 0, high);
}

}  // namespace fabricbench
