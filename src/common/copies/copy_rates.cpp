#include "common/copies/copy_rates.h"

#include <algorithm>
#include <numeric>

namespace fabricbench {
namespace {

/// The number of copies, with fractions, that a direction completed within `time`.
double carried_within(std::span<const Seconds> copies, Seconds time) {
  double carried = 0;
  for (const Seconds copy : copies) {
    if (time < copy) return copy > 0 ? carried + time / copy : carried;
    time -= copy;
    ++carried;
  }
  return carried;
}

}  // namespace

BothRates rates_of_both(Bytes size, std::span<const Seconds> first, std::span<const Seconds> second) {
  const auto total = [](std::span<const Seconds> copies) {
    return std::accumulate(copies.begin(), copies.end(), Seconds{0});
  };
  const Seconds window = std::min(total(first), total(second));
  if (window <= 0) return {};
  const double bytes_per_second = static_cast<double>(size) / window;
  return {carried_within(first, window) * bytes_per_second, carried_within(second, window) * bytes_per_second};
}

}  // namespace fabricbench
