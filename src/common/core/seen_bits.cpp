#include "common/core/seen_bits.h"

#include <algorithm>
#include <cstring>

namespace fabricbench {

SeenBits::SeenBits(DataType type) : flags_(std::size_t{2} * 8 * facts(type).size) {}

void SeenBits::add(const PatternTable& table, PatternPlace place, std::uint64_t elements) {
  std::uint64_t zeros = 0;
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < std::min(elements, pattern::kPeriod); ++i) {
    const std::span<const std::byte> element = table.element(place, i);
    std::uint64_t code = 0;
    std::memcpy(&code, element.data(), element.size());  // little-endian, as on every supported machine
    zeros |= ~code;
    ones |= code;
  }
  for (std::size_t bit = 0; bit < flags_.size() / 2; ++bit) {
    flags_[2 * bit] |= static_cast<std::uint8_t>(zeros >> bit & 1);
    flags_[2 * bit + 1] |= static_cast<std::uint8_t>(ones >> bit & 1);
  }
}

double share_of_both(const std::vector<std::uint8_t>& flags) {
  std::size_t both = 0;
  for (std::size_t i = 0; i + 1 < flags.size(); i += 2) both += flags[i] != 0 && flags[i + 1] != 0 ? 1 : 0;
  return static_cast<double>(both) / (static_cast<double>(flags.size()) / 2);
}

}  // namespace fabricbench
