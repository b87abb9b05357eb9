#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace fabricbench {

/// The same shuffle on every rank and with every C++ library; std::shuffle may differ between libraries.
template <typename T>
void shuffle(std::vector<T>& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

/// A random number that nobody outside the job can guess. It goes to the other ranks over MPI, and never stands on a
/// command line, in the environment or in a record. Source: std::random_device, the kernel's random numbers.
[[nodiscard]] inline std::uint64_t draw_secret() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace fabricbench
