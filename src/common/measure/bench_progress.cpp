// What a run tells of its progress, and of how long it will take.

#include "common/measure/bench.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/measure/bench_subject.h"

namespace fabricbench {
namespace {

constexpr Seconds kLong = 30;    // of a run, which then says how long it will take
constexpr Seconds kTelling = 1;  // of a measurement, by which the time of larger sizes can be told

}  // namespace

void Bench::announce(std::int64_t cases) const {
  if (!team_.world().is_root() || options_.iterations) return;
  const Seconds most = static_cast<double>(cases) * options_.time_budget;
  if (most * kFirstShare < kLong) return;
  fmt::print(stderr,
             "fabricbench: {} measurements of {} to {} each take {} to {}; a lower --time-budget shortens them\n",
             cases, readable_duration(options_.time_budget * kFirstShare), readable_duration(options_.time_budget),
             readable_duration(most * kFirstShare), readable_duration(most));
}

/// Tells once how long it will take if operations are too long for their time budget. Subjects after `last` are not
/// planned yet: if `last` is too long, larger ones are so in the ratio of their sizes.
void Bench::announce_long_operations(const std::vector<Subject>& subjects, std::size_t last) {
  if (has_announced_ || !team_.world().is_root()) return;
  const Subject& known = subjects[last];
  const bool is_long = known.visit_time > share_of_epoch() && known.which.size > 0;
  if (!is_long && last + 1 < subjects.size()) return;  // one that is short changes nothing: there may be 100,000 sizes
  Seconds all = 0;
  Seconds longest = 0;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Subject& subject = i <= last ? subjects[i] : known;
    const double ratio = static_cast<double>(subjects[i].which.size) / static_cast<double>(subject.which.size);
    const Seconds visit = subject.visit_time * (i > last && is_long ? std::max(1.0, ratio) : 1.0);
    all += visit * static_cast<double>(std::min(subject.most_epochs, options_.epochs));
    longest = std::max(longest, visit);
  }
  if (all < kLong || all < options_.time_budget * static_cast<double>(subjects.size())) return;
  has_announced_ = true;
  fmt::print(stderr,
             "fabricbench: {} measurements take about {}: operations of up to {} are long for --time-budget {:g}\n",
             subjects.size(), readable_duration(all), readable_duration(longest), options_.time_budget);
}

/// Tells once how long the rest of a run with a fixed number of iterations will take, by a measurement that `took` long
/// enough to tell: as long as that, or longer in the ratio of the sizes.
void Bench::announce_rest(std::span<const Subject> rest, const Case& measured, Seconds took) {
  if (has_announced_ || took < kTelling || measured.size == 0 || !team_.world().is_root()) return;
  double of_one_size = 0;
  for (const Subject& subject : rest) {
    of_one_size += std::max(1.0, static_cast<double>(subject.which.size) / static_cast<double>(measured.size));
  }
  if (took * of_one_size < kLong) return;
  has_announced_ = true;
  fmt::print(stderr, "fabricbench: the remaining {} measurements take about {}; a lower --iters shortens them\n",
             rest.size(), readable_duration(took * of_one_size));
}

std::string Bench::place_text(std::size_t place, std::size_t subjects, const Subject& subject) const {
  return fmt::format("measurement {} of {}; now {}", place + 1, subjects, case_text(subject));
}

void Bench::show_planning(const Subject& subject, std::size_t place, std::size_t subjects) {
  if (!progress_.is_due()) return;
  progress_.show(fmt::format("estimating {} of {}: {}", place + 1, subjects, case_text(subject)));
}

void Bench::show_progress(const std::vector<Subject>& subjects, const Subject& visited) {
  if (!progress_.is_due()) return;
  std::int64_t done = 0;
  std::int64_t planned = 0;
  for (const Subject& subject : subjects) {
    done += subject.epochs_done;
    const bool more = subject.epochs_done < options_.epochs || wants_more(subject, subjects.size());
    planned += more ? std::min(epochs_planned_, subject.most_epochs) : subject.epochs_done;
  }
  std::string left;
  if (done > 0) {
    const double all = (now() - began_) / static_cast<double>(done) * static_cast<double>(planned);
    const Seconds later = all / static_cast<double>(subjects.size()) * static_cast<double>(measured_later_);
    left = fmt::format(", about {} left", readable_duration(all - (now() - began_) + later));
  }
  progress_.show(
      fmt::format("epoch {} of {}{}; now {}", visited.epochs_done + 1, epochs_planned_, left, case_text(visited)));
}

}  // namespace fabricbench
