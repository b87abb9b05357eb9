#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace fabricbench {

/// The same shuffle on every rank and with every C++ library; std::shuffle may differ between libraries.
template <typename T>
void shuffle(std::vector<T>& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

}  // namespace fabricbench
