#include "cluster/run/judgement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "common/core/statistics.h"

namespace fabricbench::baseline {
namespace {

/// pi / 2: the variance of the median of many normal values over that of their mean.
constexpr double kMedianOverMeanVariance = 1.5708;

using Groups = std::map<int, std::vector<double>>;

/// The sum of squared deviations from the mean.
double squares(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

/// One value for each job, if some days have several and some jobs have several launches.
bool merge_jobs(std::vector<LaunchValue>& values) {
  Groups jobs;
  std::map<int, Occasion> occasions;
  std::set<int> days;
  for (const LaunchValue& each : values) {
    jobs[each.occasion.allocation].push_back(each.value);
    occasions[each.occasion.allocation] = each.occasion;
    days.insert(each.occasion.day);
  }
  if (jobs.size() == values.size() || jobs.size() == days.size()) return false;
  values.clear();
  for (const auto& [job, of_job] : jobs) values.push_back({mean(of_job), occasions[job]});
  return true;
}

constexpr double kShareOfGates = 0.9;       // of the false alarm
constexpr double kOutsideInterval = 0.025;  // on each side; also with which the least slowdown of a row is missed

/// What is no finding.
struct Range {
  double low = 0;
  double high = 0;
};

/// What new values are in, but for the probability `tail` on each side, whatever their distribution: order statistics
/// (Wilks, 1941), or the extreme ones if there are too few.
Range range_seen(std::vector<double> values, double tail) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(tail * static_cast<double>(values.size() + 1));
  const std::size_t outside = std::max<std::size_t>(rank, 1) - 1;
  return {values[outside], values[values.size() - 1 - outside]};
}

/// What a judgement goes by.
struct Rules {
  const JudgementSettings& settings;
  double ignored = 0;  // as a logarithm
  double alarm_of_gate = 0;
  double alarm_of_row = 0;
  std::map<std::pair<double, double>, double> quantiles = {};  // most rows share them, and each takes a search

  /// What a new value exceeds with the probability `tail`.
  [[nodiscard]] double limit(const Prediction& prediction, double tail) {
    const auto [known, is_new] = quantiles.try_emplace({tail, prediction.degrees});
    if (is_new) known->second = student_quantile(tail, prediction.degrees);
    return prediction.scale * known->second;
  }
  /// Days that are unknown may also differ by what is ignored.
  [[nodiscard]] Prediction predict_all(Spread spread, std::size_t fresh) const {
    if (spread.of_days == 1) spread.days += ignored * ignored;
    return predict(spread, fresh);
  }
  /// What is ignored adds to noise as a further standard deviation does, and to what launches have shown.
  [[nodiscard]] Range range(double centre, double noise, const Range& seen = {}) const {
    const double either = std::hypot(ignored, noise);
    return {std::min(centre - either, seen.low - ignored), std::max(centre + either, seen.high + ignored)};
  }
};

/// How far a row, or all rows of a gate, are from what is usual, in logarithms.
struct Deviations {
  std::map<std::size_t, double> recorded;  // by number of the launch
  std::vector<double> fresh;
  Spread spread;

  void learn(std::span<const Occasion> occasions) {
    std::vector<LaunchValue> values;
    for (const auto& [launch, value] : recorded) values.push_back({value, occasions[launch]});
    spread = spread_of(std::move(values));
  }
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> all;
    for (const auto& [launch, value] : recorded) all.push_back(value);
    return all;
  }
  /// What the majority of the fresh launches is at least, or at most if not `slower`.
  [[nodiscard]] double majority(bool slower) const {
    std::vector<double> sorted = fresh;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t most = sorted.size() / 2 + 1;
    return slower ? sorted[sorted.size() - most] : sorted[most - 1];
  }
  [[nodiscard]] RowVerdict verdict(const Range& range) const {
    if (majority(true) > range.high) return RowVerdict::kSlower;
    return majority(false) < range.low ? RowVerdict::kFaster : RowVerdict::kUndecided;
  }
};

/// The rows of one gate.
struct GateRows {
  std::vector<std::size_t> numbers = {};  // among all rows
  std::vector<Seconds> usual = {};
  std::vector<Deviations> rows = {};
  std::vector<Deviations> alone = {};  // without what they have in common; the same if there are few rows
  Deviations together = {};            // the median over rows in each launch
};

Deviations medians_of(std::span<const Deviations> rows) {
  std::map<std::size_t, std::vector<double>> recorded;
  std::vector<std::vector<double>> fresh(rows.front().fresh.size());
  for (const Deviations& row : rows) {
    for (const auto& [launch, value] : row.recorded) recorded[launch].push_back(value);
    for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i].push_back(row.fresh[i]);
  }
  Deviations all;
  for (const auto& [launch, values] : recorded) all.recorded[launch] = median(values);
  for (const std::vector<double>& values : fresh) all.fresh.push_back(median(values));
  return all;
}

/// Learns the spread of each row. A few days show little of one row, so the share that days have in its variance is the
/// mean over rows.
void learn(std::vector<Deviations>& rows, std::span<const Occasion> occasions) {
  double of_days = 0;
  double noisy = 0;
  for (Deviations& row : rows) {
    row.learn(occasions);
    if (row.spread.variance() <= 0) continue;
    of_days += row.spread.days / row.spread.variance();
    ++noisy;
  }
  if (noisy > 0) of_days /= noisy;
  for (Deviations& row : rows) {
    const double variance = row.spread.variance();
    row.spread.days = of_days * variance;
    row.spread.launches = variance - row.spread.days;
  }
}

GateRows rows_of(Gate gate, std::span<const RowHistory> histories, std::span<const Occasion> occasions) {
  GateRows found;
  for (std::size_t number = 0; number < histories.size(); ++number) {
    if (histories[number].gate != gate) continue;
    Deviations row;
    for (const LaunchTime& each : histories[number].recorded) row.recorded[each.launch] = std::log(each.time);
    const double usual = median(row.values());
    for (auto& [launch, value] : row.recorded) value -= usual;
    for (const Seconds time : histories[number].fresh) row.fresh.push_back(std::log(time) - usual);
    found.numbers.push_back(number);
    found.usual.push_back(std::exp(usual));
    found.rows.push_back(std::move(row));
  }
  if (found.rows.empty()) return found;
  found.together = medians_of(found.rows);
  found.together.learn(occasions);
  found.alone = found.rows;
  if (found.rows.size() >= kFewestTogether) {
    for (Deviations& row : found.alone) {
      for (auto& [launch, value] : row.recorded) value -= found.together.recorded.at(launch);
      for (std::size_t i = 0; i < row.fresh.size(); ++i) row.fresh[i] -= found.together.fresh[i];
    }
  }
  learn(found.rows, occasions);
  learn(found.alone, occasions);
  return found;
}

GateJudgement judge_together(Gate gate, const GateRows& rows, Rules& rules) {
  const Deviations& all = rows.together;
  GateJudgement judged{
      gate, rows.rows.size(), RowVerdict::kUndecided, std::exp(median(all.fresh) - all.spread.centre), {}};
  if (all.recorded.size() < kFewestLaunches) return judged;
  const Prediction noise = rules.predict_all(all.spread, all.fresh.size());
  judged.verdict = all.verdict(rules.range(all.spread.centre, rules.limit(noise, rules.alarm_of_gate),
                                           range_seen(all.values(), rules.alarm_of_gate)));
  judged.bound = std::max(rules.settings.ignored, std::expm1(all.majority(false) - all.spread.centre +
                                                             rules.limit(noise, rules.settings.false_alarm)));
  if (judged.verdict == RowVerdict::kUndecided && *judged.bound <= rules.settings.wanted) {
    judged.verdict = RowVerdict::kSame;
  }
  return judged;
}

/// `seen`: how far any row of the gate was from the others in recorded launches.
Judgement judge_row(const GateRows& rows, std::size_t i, RowVerdict of_gate, const Range& seen, Rules& rules) {
  const Deviations& row = rows.rows[i];
  const Deviations& alone = rows.alone[i];
  Judgement judged;
  judged.usual = rows.usual[i];
  judged.ratio = std::exp(median(row.fresh));
  if (row.recorded.size() < kFewestLaunches) return judged;
  const Prediction noise = rules.predict_all(row.spread, row.fresh.size());
  const double either = rules.limit(noise, kOutsideInterval);
  judged.low = judged.ratio * std::exp(-either);
  judged.high = judged.ratio * std::exp(either);
  const double of_next = rules.limit(rules.predict_all(row.spread, 1), kOutsideInterval);
  judged.usual_low = judged.usual * std::exp(-of_next);
  judged.usual_high = judged.usual * std::exp(of_next);

  const Prediction own = rows.rows.size() < kFewestTogether ? noise : predict(alone.spread, row.fresh.size());
  const Range range = rules.range(alone.spread.centre, rules.limit(own, rules.alarm_of_row), seen);
  judged.least_slowdown = std::expm1(range.high + rules.limit(own, kOutsideInterval));
  const RowVerdict of_alone = alone.verdict(range);
  const RowVerdict with_gate = row.verdict(rules.range(row.spread.centre, rules.limit(noise, rules.alarm_of_gate)));
  if (of_alone == row.verdict(rules.range(row.spread.centre, 0))) judged.verdict = of_alone;
  if (with_gate == of_gate) judged.verdict = with_gate;
  if (judged.verdict == RowVerdict::kUndecided && *judged.least_slowdown <= rules.settings.wanted &&
      *judged.low <= 1 + rules.settings.wanted) {
    judged.verdict = RowVerdict::kSame;
  }
  return judged;
}

/// The number of independent tests that two with correlated launches are worth (Nyholt, 2004).
double independent_tests(const Deviations& one, const Deviations& other) {
  const std::vector<double> a = one.values();
  const std::vector<double> b = other.values();
  if (a.size() != b.size()) return a.empty() || b.empty() ? 1 : 2;
  const auto product = [](const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0) - static_cast<double>(x.size()) * mean(x) * mean(y);
  };
  const double of_both = product(a, a) * product(b, b);
  return of_both > 0 ? std::max(1.0, 2 - product(a, b) * product(a, b) / of_both) : 2;
}

}  // namespace

Spread spread_of(std::vector<LaunchValue> values) {
  Spread spread;
  spread.jobs_are_launches = merge_jobs(values);
  Groups by_day;
  for (const LaunchValue& each : values) by_day[each.occasion.day].push_back(each.value);
  std::vector<double> means;
  double within = 0;
  double shares = 0;
  for (const auto& [day, of_day] : by_day) {
    means.push_back(mean(of_day));
    within += squares(of_day);
    shares += 1 / static_cast<double>(of_day.size());
  }
  spread.centre = mean(means);
  spread.of_launches = values.size();
  spread.of_days = by_day.size();
  const auto days = static_cast<double>(spread.of_days);
  spread.launches_per_day = days / shares;
  const std::size_t degrees = spread.of_launches - spread.of_days;
  if (degrees > 0) spread.launches = within / static_cast<double>(degrees);
  spread.days = spread.of_days == 1
                    ? spread.launches
                    : std::max(0.0, squares(means) / (days - 1) - spread.launches / spread.launches_per_day);
  return spread;
}

Prediction predict(const Spread& spread, std::size_t fresh) {
  const auto days = static_cast<double>(spread.of_days);
  const double of_median =
      spread.jobs_are_launches ? 1 : std::min(1.0, kMedianOverMeanVariance / static_cast<double>(fresh));
  const double launches = spread.launches * (of_median + 1 / (days * spread.launches_per_day));
  const double between = spread.days * (1 + 1 / days);
  const double variance = launches + between;
  if (variance <= 0) return {};
  const double of_launches = std::max(1.0, static_cast<double>(spread.of_launches) - days);
  const double of_days = days > 1 ? days - 1 : of_launches;
  return {std::sqrt(variance), variance * variance / (launches * launches / of_launches + between * between / of_days)};
}

RunJudgement judge(std::span<const RowHistory> rows, std::span<const Occasion> launches,
                   const JudgementSettings& settings) {
  const std::map<Gate, GateRows> gates = {{Gate::kLatency, rows_of(Gate::kLatency, rows, launches)},
                                          {Gate::kBandwidth, rows_of(Gate::kBandwidth, rows, launches)}};
  const double tests = independent_tests(gates.at(Gate::kLatency).together, gates.at(Gate::kBandwidth).together);
  Rules rules{.settings = settings,
              .ignored = std::log1p(settings.ignored),
              .alarm_of_gate = kShareOfGates * settings.false_alarm / tests,
              .alarm_of_row = (1 - kShareOfGates) * settings.false_alarm / static_cast<double>(rows.size())};
  RunJudgement judged;
  judged.rows.resize(rows.size());
  for (const auto& [gate, of_gate] : gates) {
    if (of_gate.rows.empty()) continue;
    judged.gates.push_back(judge_together(gate, of_gate, rules));
    std::vector<double> alone;
    for (const Deviations& row : of_gate.alone) {
      for (const auto& [launch, value] : row.recorded) alone.push_back(value);
    }
    const Range seen = range_seen(std::move(alone), rules.alarm_of_row);
    for (std::size_t i = 0; i < of_gate.rows.size(); ++i) {
      judged.rows[of_gate.numbers[i]] = judge_row(of_gate, i, judged.gates.back().verdict, seen, rules);
    }
  }
  return judged;
}

}  // namespace fabricbench::baseline
