#include "common/copies/copy_bench.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "common/copies/copy_rates.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/shuffle.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kMostCopiesPerVisit = 100;

/// The sum of `own` over the processes before this one, and over all.
std::pair<std::size_t, std::size_t> place_among(const mpi::Communicator& host, std::size_t own) {
  const std::vector<std::uint64_t> counts = host.all_gather(own);
  const auto self = counts.begin() + host.rank();
  return {std::accumulate(counts.begin(), self, std::size_t{0}),
          std::accumulate(counts.begin(), counts.end(), std::size_t{0})};
}

}  // namespace

struct CopyBench::Subject {
  SizedCopy which;
  std::int64_t samples = 0;  // of a visit; 0: not planned yet
  std::vector<Epoch> epochs{};
  std::vector<double> to_device{};  // both ways: bytes per second, by visit
  std::vector<double> to_host{};
  std::optional<std::uint64_t> wrong{};
  std::string first_wrong{};
};

CopyBench::CopyBench(const mpi::Communicator& world, const CopySetup& setup, gpu::GpuCopies* copies,
                     Heartbeat& heartbeat, std::uint64_t seed)
    : setup_(setup), options_(setup.options), copies_(copies), heartbeat_(heartbeat), random_(seed) {
  std::tie(first_, all_) = place_among(*setup.host, setup.copies.size());
  most_ = static_cast<std::size_t>(world.max(static_cast<std::int64_t>(all_)));
}

std::vector<CopyRow> CopyBench::measure_copies(
    const std::function<void(const std::vector<CopyRow>& rows)>& after_epoch) {
  std::vector<Subject> subjects;
  subjects.reserve(setup_.copies.size());
  for (const SizedCopy& which : setup_.copies) subjects.push_back({which});
  const std::int64_t epochs = options_.iterations ? 1 : options_.epochs;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    if (epoch > 0) after_epoch(rows_of(subjects));
    run_epoch(subjects);
  }
  return rows_of(subjects);
}

std::vector<CopyRow> CopyBench::rows_of(const std::vector<Subject>& subjects) const {
  std::vector<CopyRow> rows;
  rows.reserve(subjects.size());
  for (const Subject& subject : subjects) rows.push_back(conclude(subject));
  return rows;
}

/// Every process of the host goes through all of the host's copies in the same order.
void CopyBench::run_epoch(std::vector<Subject>& subjects) {
  std::vector<std::size_t> order(all_);
  std::iota(order.begin(), order.end(), 0);
  if (!options_.iterations) shuffle(order, random_);
  for (const std::size_t index : order) {
    if (index >= first_ && index - first_ < subjects.size()) try_visit(subjects[index - first_]);
    setup_.host->barrier();
    heartbeat_.tick();
  }
  // Every host takes the same number of steps, which shows the watchdog who is behind.
  for (std::size_t i = all_; i < most_; ++i) heartbeat_.tick();
}

/// Adds to an error which copy failed.
void CopyBench::try_visit(Subject& subject) {
  const std::string label = describe(subject.which);
  heartbeat_.enter_case(label);
  try {
    visit(subject);
  } catch (const Error& error) {
    throw Error(error.status(), fmt::format("{}: {}", label, error.what()));
  }
  heartbeat_.enter_case("");
}

void CopyBench::visit(Subject& subject) {
  const auto& [copy, size] = subject.which;
  if (subject.samples == 0) plan(subject);
  copies_->prepare(copy, size);
  if (options_.warmup > 0) (void)copies_->time_copies(copy, size, options_.warmup);
  Epoch epoch;
  epoch.began = now();
  subject.epochs.push_back(std::move(epoch));
  add_times(subject, copies_->time_copies(copy, size, subject.samples));
  if (options_.checks > 0) check(subject);
}

/// Decides the number of copies in a visit from one untimed copy, and makes the additional checked copies.
void CopyBench::plan(Subject& subject) {
  const auto& [copy, size] = subject.which;
  for (std::int64_t i = 0; i < options_.checks; ++i) {
    copies_->prepare(copy, size);
    (void)copies_->time_copies(copy, size, 1);
    check(subject);
  }
  if (options_.iterations) {
    subject.samples = *options_.iterations;
    return;
  }
  copies_->prepare(copy, size);
  const auto times = copies_->time_copies(copy, size, 1);
  const Seconds each = std::max_element(times.begin(), times.end())->front();
  const Seconds share = options_.time_budget / static_cast<double>(options_.epochs);
  const double fitting = std::min(share / std::max(each, 1e-9), static_cast<double>(kMostCopiesPerVisit));
  subject.samples = std::max<std::int64_t>(static_cast<std::int64_t>(fitting) - options_.warmup, 1);
}

void CopyBench::check(Subject& subject) {
  const auto wrong = copies_->check(subject.which.copy, subject.which.size);
  subject.wrong = std::max(subject.wrong.value_or(0), wrong ? wrong->count : 0);
  if (wrong && subject.first_wrong.empty()) {
    subject.first_wrong =
        fmt::format("first at byte {}: expected {}, got {}", wrong->first_offset, wrong->expected, wrong->got);
  }
}

/// For both ways a visit is one sample: the time in which one copy's bytes have gone each way.
void CopyBench::add_times(Subject& subject, const std::vector<std::vector<Seconds>>& times) const {
  std::vector<Seconds>& samples = subject.epochs.back().samples;
  if (times.size() == 1) {
    samples = times.front();
    return;
  }
  const Bytes size = subject.which.size;
  const BothRates rates = rates_of_both(size, times[0], times[1]);
  subject.to_device.push_back(rates.first);
  subject.to_host.push_back(rates.second);
  samples = {rates.sum() > 0 ? 2 * static_cast<double>(size) / rates.sum() : 0};
}

CopyRow CopyBench::conclude(const Subject& subject) const {
  const auto& [copy, size] = subject.which;
  CopyRow row;
  row.host = setup_.placed.host;
  row.gpu = setup_.gpu(copy.device);
  row.kind = copy.kind;
  row.memory_node = copy.memory_node;
  if (copy.peer >= 0) row.peer = setup_.gpu(copy.peer);
  row.over_host = copies_->over_host(copy);
  row.size = size;
  row.summary = summarize(subject.epochs);
  const bool both = !subject.to_device.empty();
  const double carried = static_cast<double>(size) * (both ? 2 : 1);
  row.bandwidth = row.summary.median > 0 ? carried / row.summary.median : 0;
  if (both) row.directions = {median(subject.to_device), median(subject.to_host)};
  row.bound = copies_->bound(copy).value_or(CopyBound{});
  row.wrong = subject.wrong;
  row.first_wrong = subject.first_wrong;
  return row;
}

std::string CopyBench::describe(const SizedCopy& which) const {
  const CopyGpu& gpu = setup_.gpu(which.copy.device);
  std::string text =
      fmt::format("{} {} on GPU {} ({})", readable_bytes(which.size), short_name(which.copy.kind), gpu.device, gpu.pci);
  if (which.copy.memory_node) text += fmt::format(", NUMA node {}", *which.copy.memory_node);
  if (which.copy.peer >= 0) text += fmt::format(", to GPU {}", which.copy.peer);
  return text;
}

}  // namespace fabricbench
