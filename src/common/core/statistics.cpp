#include "common/core/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace fabricbench {
namespace {

constexpr double kConfidence = 0.95;

/// P(Binomial(n, 1/2) = i), by logarithms so that it holds for large n.
double half_binomial(std::int64_t n, std::int64_t i) {
  const auto count = static_cast<double>(n);
  const auto index = static_cast<double>(i);
  return std::exp(std::lgamma(count + 1) - std::lgamma(index + 1) - std::lgamma(count - index + 1) -
                  count * std::log(2.0));
}

std::optional<double> quantile_if_enough(std::span<const double> sorted, double q) {
  if (static_cast<std::int64_t>(sorted.size()) < samples_needed(q)) return std::nullopt;
  return quantile(sorted, q);
}

/// Growth of the epochs' medians from the first to the last, relative to their median. Empty: too few epochs.
std::optional<double> relative_drift(std::span<const Epoch> epochs, std::span<const double> medians, double centre) {
  std::vector<double> began;
  for (const Epoch& epoch : epochs) {
    if (!epoch.samples.empty()) began.push_back(epoch.began);
  }
  if (began.size() < 3 || centre <= 0) return std::nullopt;
  return theil_sen_slope(began, medians) * (began.back() - began.front()) / centre;
}

constexpr auto kBySecond = [](const auto& a, const auto& b) { return a.second < b.second; };

void describe_ranks(std::span<const Epoch> epochs, Summary& summary) {
  std::map<int, std::int64_t> slowest;
  std::map<int, std::int64_t> preempted;
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    std::map<int, std::int64_t> samples;
    for (const int rank : epochs[i].slowest_ranks) ++samples[rank];
    for (const auto& [rank, count] : samples) {
      summary.times_slowest.push_back({rank, static_cast<std::int64_t>(i), count});
      slowest[rank] += count;
    }
    preempted[epochs[i].most_preempted_rank] += epochs[i].preemptions;
  }
  std::int64_t most = 0;
  for (const auto& [rank, count] : slowest) {
    if (count <= most) continue;
    most = count;
    summary.slowest_rank = rank;
    summary.slowest_share = static_cast<double>(most) / static_cast<double>(summary.samples);
  }
  summary.most_preempted_rank = std::max_element(preempted.begin(), preempted.end(), kBySecond)->first;
}

/// Mean difference between consecutive samples. The last sample of an epoch and the first of the next are not
/// consecutive.
std::optional<Seconds> mean_step(std::span<const Epoch> epochs) {
  Seconds sum = 0;
  std::size_t steps = 0;
  for (const Epoch& epoch : epochs) {
    for (std::size_t i = 1; i < epoch.samples.size(); ++i, ++steps) {
      sum += std::abs(epoch.samples[i] - epoch.samples[i - 1]);
    }
  }
  return steps == 0 ? std::nullopt : std::optional(sum / static_cast<double>(steps));
}

void describe_distribution(std::vector<double> samples, Summary& summary) {
  summary.autocorrelation = sign_autocorrelation(samples);
  std::sort(samples.begin(), samples.end());
  summary.samples = static_cast<std::int64_t>(samples.size());
  summary.mean = mean(samples);
  summary.standard_deviation = standard_deviation(samples);
  summary.min = samples.front();
  summary.p5 = quantile(samples, 0.05);
  summary.p95 = quantile(samples, 0.95);
  summary.p99 = quantile_if_enough(samples, 0.99);
  summary.p999 = quantile_if_enough(samples, 0.999);
  summary.max = samples.back();
  summary.outliers = far_out_values(samples);
}

}  // namespace

void append_by_rank(const std::vector<std::vector<Seconds>>& more, std::vector<std::vector<Seconds>>& by_rank) {
  by_rank.resize(more.size());
  for (std::size_t rank = 0; rank < more.size(); ++rank) {
    by_rank[rank].insert(by_rank[rank].end(), more[rank].begin(), more[rank].end());
  }
}

void Epoch::add(const Epoch& visit) {
  if (samples.empty()) began = visit.began;
  samples.insert(samples.end(), visit.samples.begin(), visit.samples.end());
  slowest_ranks.insert(slowest_ranks.end(), visit.slowest_ranks.begin(), visit.slowest_ranks.end());
  cpu_times.insert(cpu_times.end(), visit.cpu_times.begin(), visit.cpu_times.end());
  host_times.insert(host_times.end(), visit.host_times.begin(), visit.host_times.end());
  append_by_rank(visit.own_times, own_times);
  append_by_rank(visit.own_means, own_means);
  if (visit.most_preemptions > most_preemptions) {
    most_preemptions = visit.most_preemptions;
    most_preempted_rank = visit.most_preempted_rank;
  }
  late += visit.late;
  preemptions += visit.preemptions;
  clock_error = std::max(clock_error, visit.clock_error);
  resolution = visit.resolution;
  common_start = common_start && visit.common_start;
}

double median(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return (*std::max_element(copy.begin(), middle) + *middle) / 2;
}

double deviation_about(std::span<const double> values, double centre) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return kDeviationsPerMad * median(distances);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// In two passes, relative to the least value: exact if all are equal, and without cancellation against a large mean.
double standard_deviation(std::span<const double> sorted) {
  const auto count = static_cast<double>(sorted.size());
  double above = 0;
  for (const double sample : sorted) above += sample - sorted.front();
  double squares = 0;
  for (const double sample : sorted) squares += std::pow(sample - sorted.front() - above / count, 2);
  return std::sqrt(squares / count);
}

double quantile(std::span<const double> sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size()) - 1e-9));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::int64_t samples_needed(double q) {
  return static_cast<std::int64_t>(std::ceil(std::log(1 - kConfidence) / std::log(q)));
}

std::optional<Interval> median_interval(std::span<const double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  double below = 0;  // P(Binomial < lower)
  std::int64_t lower = 0;
  while (lower < n / 2 && 1 - 2 * (below + half_binomial(n, lower)) >= kConfidence) below += half_binomial(n, lower++);
  if (lower == 0) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[static_cast<std::size_t>(lower - 1)], sorted[static_cast<std::size_t>(n - lower)],
                  1 - 2 * below, median(sorted)};
}

Interval widened(Interval interval, Seconds resolution) {
  interval.low = std::max(0.0, interval.low - resolution);
  interval.high += resolution;
  if (!(interval.centre > 0)) interval.centre = (interval.low + interval.high) / 2;
  return interval;
}

std::int64_t far_out_values(std::span<const double> sorted) {
  const double first = quantile(sorted, 0.25);
  const double third = quantile(sorted, 0.75);
  const double fence = third + 3 * (third - first);
  return sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), fence);
}

double theil_sen_slope(std::span<const double> x, std::span<const double> y) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  return slopes.empty() ? 0 : median(slopes);
}

double sign_autocorrelation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double centre = median(values);
  const auto sign = [&](double value) -> std::int64_t { return value > centre ? 1 : value < centre ? -1 : 0; };
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < values.size(); ++i) sum += sign(values[i - 1]) * sign(values[i]);
  return static_cast<double>(sum) / static_cast<double>(values.size() - 1);
}

double chance_to_find(std::uint64_t checked, double rarity) {
  return -std::expm1(static_cast<double>(checked) * std::log1p(-1 / rarity));
}

double rarest_found(std::uint64_t checked, double chance) {
  return -1 / std::expm1(std::log1p(-chance) / static_cast<double>(checked));
}

double explaining_wait(std::span<const double> most_by_epoch) {
  constexpr double kExplains = 0.1;
  const double share = most_by_epoch.empty() ? 0 : median(most_by_epoch);
  return share < kExplains ? 0 : share;
}

Summary summarize(std::span<const Epoch> epochs) {
  Summary summary;
  std::vector<double> medians;
  std::vector<double> samples;
  for (const Epoch& epoch : epochs) {
    summary.late += epoch.late;
    summary.preemptions = summary.preemptions.value_or(0) + epoch.preemptions;
    summary.clock_error = std::max(summary.clock_error, epoch.clock_error);
    summary.common_start = summary.common_start && epoch.common_start;
    if (epoch.samples.empty()) continue;
    medians.push_back(median(epoch.samples));
    samples.insert(samples.end(), epoch.samples.begin(), epoch.samples.end());
  }
  summary.epochs = static_cast<std::int64_t>(medians.size());
  summary.median = median(medians);
  summary.resolution = epochs.back().resolution;
  summary.interval = median_interval(medians);
  if (summary.interval && summary.resolution > 0) summary.interval = widened(*summary.interval, summary.resolution);
  summary.drift = relative_drift(epochs, medians, summary.median);
  summary.jitter = mean_step(epochs);
  summary.epoch_medians = std::move(medians);
  describe_distribution(std::move(samples), summary);
  describe_ranks(epochs, summary);
  return summary;
}

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
