// What a run tells of its progress, and of how long it will take.

#include "common/measure/bench.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/measure/bench_subject.h"
#include "common/measure/visit_progress.h"

namespace fabricbench {
namespace {

constexpr double kEnoughToTell = 0.02;  // of what is planned, from which the time left can be told
constexpr Seconds kTelling = 1;         // of a measurement, by which the time of larger sizes can be told
constexpr Bytes kLarge =
    1 << 20;  // sizes from which times grow with them, and a wait for a processor is not most of it

}  // namespace

void Bench::announce(std::int64_t cases) const {
  if (!team_.world().is_root() || options_.iterations) return;
  const Seconds most = static_cast<double>(cases) * options_.time_budget;
  if (most < kLongRun) return;
  fmt::print(stderr,
             "fabricbench: {} measurements of {} to {} each take {} to {}; a lower --time-budget shortens them\n",
             cases, readable_duration(options_.time_budget * kFirstShare), readable_duration(options_.time_budget),
             readable_duration(most * kFirstShare), readable_duration(most));
}

/// Of a subject whose operations take `each`: warm-up, timed operations, and about one more for the check.
Seconds Bench::expected_visit(Seconds each) const {
  const std::int64_t fitting = operations_that_fit(share_of_epoch(), each);
  const std::int64_t warmup = fitting_warmup(options_.warmup, fitting);
  const std::int64_t started = warmup + std::max<std::int64_t>(fitting - warmup, 1) + (options_.checks > 0 ? 1 : 0);
  return each * static_cast<double>(started);
}

/// The time of an operation of a subject that is not planned yet, from those up to `last`, of which the last one is too
/// long for its time budget: from a large size in the ratio of the sizes, by the fastest large one; else as the
/// shortest. A busy host prolongs some operations, and hardly all.
Seconds Bench::expected_operation(const std::vector<Subject>& subjects, std::size_t last, Bytes size) const {
  const bool is_large = subjects[last].which.size >= kLarge;
  Seconds shortest = std::numeric_limits<Seconds>::infinity();
  for (std::size_t i = 0; i <= last; ++i) {
    const Subject& known = subjects[i];
    if (is_large && (known.which.size < kLarge || !is_long(known))) continue;
    const double ratio = is_large ? static_cast<double>(size) / static_cast<double>(known.which.size) : 1.0;
    shortest = std::min(shortest, known.operation_time * ratio);
  }
  return shortest;
}

/// Whether its visits take more than their part of the time budget.
bool Bench::is_long(const Subject& subject) const {
  const VisitPlan& plan = subject.plan;
  const std::int64_t timed = plan.samples * plan.iterations * std::max<std::int64_t>(plan.launches, 1);
  return subject.operation_time * static_cast<double>(plan.warmup + timed) > share_of_epoch();
}

/// Tells once how long it will take if operations are too long for their time budget. Subjects after `last` are not
/// planned yet.
void Bench::announce_long_operations(const std::vector<Subject>& subjects, std::size_t last) {
  constexpr std::size_t kFew = 3;  // small sizes of which a busy host may prolong all
  constexpr double kToPlan = 3;    // operations: two, and about one more to fill the buffers
  if (has_announced_ || !team_.world().is_root()) return;
  const bool tells = is_long(subjects[last]) && (subjects[last].which.size >= kLarge || last >= kFew);
  if (!tells && last + 1 < subjects.size()) return;  // one that is short changes nothing: there may be 100,000 sizes
  Seconds all = 0;
  Seconds longest = 0;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const bool is_known = i <= last;
    const Seconds each =
        is_known ? subjects[i].operation_time : expected_operation(subjects, last, subjects[i].which.size);
    all += is_known ? subjects[i].spent : kToPlan * each;
    all += expected_visit(each) * static_cast<double>(epochs_that_fit(each));
    longest = std::max(longest, each);
  }
  if (all < kLongRun || all < options_.time_budget * static_cast<double>(subjects.size())) return;
  has_announced_ = true;
  progress_.clear();
  fmt::print(stderr,
             "fabricbench: {} measurements take about {}: operations of up to {} are long for --time-budget {:g}; "
             "shorter with {}\n",
             subjects.size(), readable_duration(all), readable_duration(longest), options_.time_budget,
             options_.quick ? "-n 1" : "--quick or -n 3");
}

/// How many times as long as a measurement the rest takes: each as long as that, or longer in the ratio of the sizes.
double Bench::times_as_long(std::span<const Subject> rest, const Case& measured) {
  double times = 0;
  for (const Subject& subject : rest) {
    const double ratio =
        measured.size > 0 ? static_cast<double>(subject.which.size) / static_cast<double>(measured.size) : 1;
    times += std::max(1.0, ratio);
  }
  return times;
}

/// Tells once how long the rest of a run with a fixed number of iterations will take, by a measurement that `took` long
/// enough to tell.
void Bench::announce_rest(std::span<const Subject> rest, const Case& measured, Seconds took) {
  if (has_announced_ || took < kTelling || measured.size == 0 || !team_.world().is_root()) return;
  const Seconds left = took * times_as_long(rest, measured);
  if (left < kLongRun) return;
  has_announced_ = true;
  progress_.clear();
  fmt::print(stderr, "fabricbench: the remaining {} measurements take about {}; a lower --iters shortens them\n",
             rest.size(), readable_duration(left));
}

std::string Bench::place_text(std::size_t place, std::size_t subjects, const Subject& subject) const {
  return fmt::format("measurement {} of {}; now {}", place + 1, subjects, case_text(subject));
}

void Bench::show_planning(const Subject& subject, std::size_t place, std::size_t subjects) {
  if (!progress_.is_due()) return;
  progress_.show(fmt::format("estimating {} of {}: {}", place + 1, subjects, case_text(subject)));
}

/// `epoch_done`: the share of the epoch under way. Subjects count by the time that their visits take.
void Bench::show_progress(const std::vector<Subject>& subjects, const Subject& visited, double epoch_done) {
  if (!progress_.is_due()) return;
  Seconds done = 0;
  Seconds planned = 0;
  for (const Subject& subject : subjects) {
    const bool more = subject.epochs_done < options_.epochs || wants_more(subject, subjects.size());
    const std::int64_t epochs = more ? std::min(epochs_planned_, subject.most_epochs) : subject.epochs_done;
    const Seconds visit = expected_visit(subject.operation_time);
    done += visit * std::min(static_cast<double>(subject.epochs_done) + epoch_done, static_cast<double>(epochs));
    planned += visit * static_cast<double>(epochs);
  }
  std::string left;
  if (done >= kEnoughToTell * planned && done > 0) {
    const Seconds all = (now() - began_) / done * planned;
    const Seconds later = all / static_cast<double>(subjects.size()) * static_cast<double>(measured_later_);
    left = fmt::format(", about {} left", readable_duration(std::max(all - (now() - began_), 0.0) + later));
  }
  progress_.show(
      fmt::format("epoch {} of {}{}; now {}", visited.epochs_done + 1, epochs_planned_, left, case_text(visited)));
}

}  // namespace fabricbench
