#include "cluster/baseline/judgement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "common/core/distributions.h"
#include "common/core/statistics.h"

namespace fabricbench::baseline {
namespace {

constexpr double kPower = 0.975;            // with which the least slowdown is found
constexpr double kOutsideInterval = 0.025;  // on each side

/// Degrees of freedom of the tail of launches. Few launches show little of their tail, so it is taken to be heavy, and
/// heavier where a single launch decides.
double degrees_of_launches(std::size_t fresh) { return fresh < 3 ? 2 : 3; }

/// The smallest number that is more than half.
std::size_t majority(std::size_t launches) { return launches / 2 + 1; }

/// Quantiles by their arguments, which most rows share: each takes a search for a root.
class Quantiles {
 public:
  [[nodiscard]] double student(double tail, double degrees) {
    return remembered({tail, degrees, 0}, [&] { return student_quantile(tail, degrees); });
  }
  [[nodiscard]] double normal(double tail) {
    return remembered({tail, 0, 0}, [&] { return normal_quantile(tail); });
  }
  /// See binomial_hit; `trials` and `least` are small.
  [[nodiscard]] double hit(std::int64_t trials, std::int64_t least, double tail) {
    return remembered({tail, -static_cast<double>(trials), static_cast<double>(least)},
                      [&] { return binomial_hit(trials, least, tail); });
  }

 private:
  template <typename Function>
  double remembered(const std::array<double, 3>& arguments, const Function& find) {
    const auto known = values_.find(arguments);
    return known != values_.end() ? known->second : values_.emplace(arguments, find()).first->second;
  }

  std::map<std::array<double, 3>, double> values_;
};

/// How far the fresh launches of one row may be from its centre.
class NoiseOfRow {
 public:
  NoiseOfRow(const NoiseModel& noise, Quantiles& quantiles, std::size_t row, std::size_t fresh)
      : noise_(noise),
        quantiles_(quantiles),
        row_(row),
        spread_(noise.of(row)),
        fresh_(static_cast<std::int64_t>(fresh)) {}

  /// What the majority of an unchanged system's launches exceeds with the probability `tail`; `slower` or falls below.
  [[nodiscard]] double limit(double tail, bool slower) const {
    const auto most = static_cast<std::int64_t>(majority(static_cast<std::size_t>(fresh_)));
    return of_launches_and_occasions(quantiles_.hit(fresh_, most, tail), tail, slower);
  }
  /// What one launch exceeds with that probability.
  [[nodiscard]] double limit_of_one(double tail, bool slower) const {
    return of_launches_and_occasions(tail, tail, slower);
  }
  /// How far beyond a limit a slowdown has to be, so that the majority exceeds the limit with a probability of kPower.
  [[nodiscard]] double reserve() const {
    const auto most = static_cast<std::int64_t>(majority(static_cast<std::size_t>(fresh_)));
    const double launches = spread_.launches * quantiles_.student(1 - quantiles_.hit(fresh_, most, kPower), degrees());
    return std::hypot(launches, spread_.days_known ? occasions() * quantiles_.normal(1 - kPower) : 0);
  }

 private:
  [[nodiscard]] double degrees() const { return degrees_of_launches(static_cast<std::size_t>(fresh_)); }
  [[nodiscard]] double occasions() const { return std::hypot(spread_.allocations, spread_.days); }

  /// Launches of one occasion share what is its own; limits of both add up as standard deviations do.
  [[nodiscard]] double of_launches_and_occasions(double tail_of_launch, double tail, bool slower) const {
    const double quantile = quantiles_.student(tail_of_launch, degrees());
    return std::hypot(noise_.launch_limit(row_, tail_of_launch, quantile, slower), of_occasions(tail));
  }
  [[nodiscard]] double of_occasions(double tail) const {
    if (!spread_.days_known) return occasions() * quantiles_.normal(tail);
    const auto days = static_cast<double>(spread_.of_days);
    return occasions() * quantiles_.student(tail, std::max(3.0, days - 1)) * std::sqrt(1 + 1 / days);
  }

  const NoiseModel& noise_;
  Quantiles& quantiles_;
  std::size_t row_;
  const Spread& spread_;
  std::int64_t fresh_;
};

Judgement judge_row(const NoiseModel& noise, Quantiles& quantiles, std::size_t number, std::vector<double> fresh,
                    double false_alarm, const JudgementSettings& settings) {
  const Spread& spread = noise.of(number);
  Judgement judgement;
  judgement.ratio = std::exp(median(fresh) - spread.centre);
  judgement.usual = std::exp(spread.centre);
  if (spread.of_launches < kFewestLaunches) return judgement;

  const NoiseOfRow row(noise, quantiles, number, fresh.size());
  judgement.low = judgement.ratio * std::exp(-row.limit(kOutsideInterval, true));
  judgement.high = judgement.ratio * std::exp(row.limit(kOutsideInterval, false));
  judgement.usual_low = judgement.usual * std::exp(-row.limit_of_one(kOutsideInterval, false));
  judgement.usual_high = judgement.usual * std::exp(row.limit_of_one(kOutsideInterval, true));
  const double ignored = std::log1p(settings.ignored);
  const double slow_limit = ignored + row.limit(false_alarm, true);
  judgement.least_slowdown = std::expm1(slow_limit + row.reserve());

  std::sort(fresh.begin(), fresh.end());
  const std::size_t most = majority(fresh.size());
  if (fresh[fresh.size() - most] - spread.centre > slow_limit) {
    judgement.verdict = RowVerdict::kSlower;
  } else if (spread.centre - fresh[most - 1] > ignored + row.limit(false_alarm, false)) {
    judgement.verdict = RowVerdict::kFaster;
  } else if (judgement.least_slowdown <= settings.wanted && judgement.low <= 1 + settings.wanted) {
    judgement.verdict = RowVerdict::kSame;  // and not if half of the launches are far slower
  }
  return judgement;
}

}  // namespace

std::vector<Judgement> judge(std::span<const RowHistory> rows, const JudgementSettings& settings) {
  const NoiseModel noise(rows);
  const double false_alarm = settings.false_alarm / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  Quantiles quantiles;
  std::vector<Judgement> judgements;
  judgements.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> fresh;
    for (const Seconds time : rows[i].fresh) fresh.push_back(std::log(time));
    judgements.push_back(judge_row(noise, quantiles, i, std::move(fresh), false_alarm, settings));
  }
  return judgements;
}

}  // namespace fabricbench::baseline
