#include "common/host/tick_counter.h"

#include <limits>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

// The kernel stops using the counter if it is not constant, or not the same on all processors.
bool kernel_trusts_counter(const std::filesystem::path& root) {
  return read_first_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource") == "tsc";
}

}  // namespace

TickCounter::TickCounter(const std::filesystem::path& root)
    : trusted_(has_processor_counter() && kernel_trusts_counter(root)), made_(moment()) {}

// Takes the try with the shortest time between the two counts around the clock: the process may be preempted there.
TickCounter::Moment TickCounter::moment() const {
  constexpr int kTries = 8;
  Moment best{0, 0};
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = read();
    const Seconds time = now();
    const std::uint64_t between = read() - before;
    if (between >= least) continue;
    least = between;
    best = {before + between / 2, time};
  }
  return best;
}

Seconds TickCounter::tick() const {
  if (!trusted_) return 1e-9;
  const Moment current = moment();
  return (current.time - made_.time) / static_cast<double>(current.count - made_.count);
}

Seconds TickCounter::cost() const {
  constexpr int kReads = 1024;
  const std::uint64_t began = read();
  std::uint64_t ended = began;
  for (int i = 0; i < kReads; ++i) ended = read();
  return static_cast<double>(ended - began) * tick() / kReads;
}

}  // namespace fabricbench::host
