#include "common/mpi/common_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace fabricbench::mpi {
namespace {

constexpr int kPingPongs = 20;
constexpr std::size_t kMostHistory = 32;
constexpr Seconds kLeastSpan = 0.5;
constexpr Seconds kHistoryStep = kLeastSpan / 8;
constexpr double kLeastKnown = 3;  // drift over its error bound: known to within a third

int domain_index(const std::vector<std::uint64_t>& domains, std::uint64_t own) {
  return static_cast<int>(std::find(domains.begin(), domains.end(), own) - domains.begin());
}

/// The offset at `local`, on the line through two readings.
Seconds interpolated(const ClockReading& before, const ClockReading& after, Seconds local) {
  const double share = (local - before.local) / (after.local - before.local);
  return before.offset + share * (after.offset - before.offset);
}

}  // namespace

CommonClock::CommonClock(const Communicator& world, std::uint64_t domain, Clock clock) : clock_(std::move(clock)) {
  const std::vector<std::uint64_t> domains = world.all_gather(domain);
  domains_ = static_cast<int>(std::set<std::uint64_t>(domains.begin(), domains.end()).size());
  if (shared()) return;
  domain_ = world.split(domain_index(domains, domain));
  leaders_ = world.split(domain_->is_root() ? std::optional(0) : std::nullopt);
  synchronise();
  before_ = last_;
}

void CommonClock::synchronise() {
  if (shared()) return;
  ClockReading reading{clock_(), 0, 0};
  if (leaders_) {
    int stride = 1;
    while (stride < leaders_->size()) stride *= 2;
    for (stride /= 2; stride >= 1; stride /= 2) {
      const int place = leaders_->rank() % (2 * stride);
      if (place == stride) reading = read_from(leaders_->rank() - stride);
      if (place == 0 && leaders_->rank() + stride < leaders_->size()) serve(leaders_->rank() + stride, reading);
    }
  }
  reading.local = domain_->broadcast(reading.local);
  reading.offset = domain_->broadcast(reading.offset);
  reading.error = domain_->broadcast(reading.error);
  before_ = std::exchange(last_, reading);
  if (!history_.empty() && reading.local - history_.back().local < kHistoryStep) return;
  history_.push_back(reading);
  if (history_.size() > kMostHistory) history_.erase(history_.begin());
  drift_ = drift_of(history_);
}

ClockReading CommonClock::read_from(int parent) const {
  ClockReading best{0, 0, 1e9};
  for (int i = 0; i < kPingPongs; ++i) {
    double answer[2] = {0, 0};  // the parent's common time, and its error bound
    const Seconds asked = clock_();
    check(MPI_Send(nullptr, 0, MPI_BYTE, parent, 0, leaders_->get()), "MPI_Send");
    check(MPI_Recv(answer, 2, MPI_DOUBLE, parent, 0, leaders_->get(), MPI_STATUS_IGNORE), "MPI_Recv");
    const Seconds answered = clock_();
    const Seconds error = (answered - asked) / 2 + answer[1];
    const Seconds middle = (asked + answered) / 2;
    if (error < best.error) best = {middle, answer[0] - middle, error};
  }
  return best;
}

void CommonClock::serve(int child, const ClockReading& own) const {
  for (int i = 0; i < kPingPongs; ++i) {
    check(MPI_Recv(nullptr, 0, MPI_BYTE, child, 0, leaders_->get(), MPI_STATUS_IGNORE), "MPI_Recv");
    const Seconds local = clock_();
    const double answer[2] = {local + own.offset + drift_ * (local - own.local), own.error};
    check(MPI_Send(answer, 2, MPI_DOUBLE, child, 0, leaders_->get()), "MPI_Send");
  }
}

Seconds CommonClock::to_common(Seconds local) const {
  if (local >= last_.local || before_.local == last_.local)
    return local + last_.offset + drift_ * (local - last_.local);
  return local + interpolated(before_, last_, local);
}

Seconds CommonClock::to_local(Seconds common) const {
  return (common - last_.offset + drift_ * last_.local) / (1 + drift_);
}

double drift_of(const std::vector<ClockReading>& readings) {
  double tightest = std::numeric_limits<double>::infinity();
  double drift = 0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    for (std::size_t j = i + 1; j < readings.size(); ++j) {
      const Seconds span = readings[j].local - readings[i].local;
      const double bound = (readings[i].error + readings[j].error) / span;
      if (span < kLeastSpan || bound >= tightest) continue;
      tightest = bound;
      drift = (readings[j].offset - readings[i].offset) / span;
    }
  }
  return std::abs(drift) > kLeastKnown * tightest ? drift : 0;
}

}  // namespace fabricbench::mpi
