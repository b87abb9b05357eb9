#include "common/core/pattern_table.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace fabricbench {
namespace {

pattern::Shape shape_of(DataType type, Reduction reduction, int ranks) {
  return {type, reduction, static_cast<std::uint64_t>(ranks)};
}

void count_differences(DataType type, std::span<const std::byte> expected, const std::byte* got, std::size_t offset,
                       Mismatch& found) {
  const std::size_t element = facts(type).size;
  for (std::size_t byte = 0; byte < expected.size(); byte += element) {
    if (std::memcmp(expected.data() + byte, got + byte, element) == 0) continue;
    if (found.count++ == 0) {
      found.first_offset = (offset + byte) / element;
      found.expected = element_text(type, expected.data() + byte);
      found.got = element_text(type, got + byte);
    }
  }
}

}  // namespace

template <typename Value>
PatternTable::PatternTable(DataType type, Value value)
    : type_(type), element_(facts(type).size), two_periods_(2 * pattern::kPeriod * element_) {
  with_type(type, [&]<typename T>(std::type_identity<T>) {
    for (std::uint64_t slot = 0; slot < pattern::kPeriod; ++slot) {
      const T element = value(std::type_identity<T>{}, slot);
      std::memcpy(two_periods_.data() + slot * sizeof(T), &element, sizeof(T));
      std::memcpy(two_periods_.data() + (pattern::kPeriod + slot) * sizeof(T), &element, sizeof(T));
    }
  });
}

PatternTable PatternTable::sent(DataType type, Reduction reduction, int rank, int ranks) {
  const pattern::Shape shape = shape_of(type, reduction, ranks);
  return {type, [=]<typename T>(std::type_identity<T>, std::uint64_t slot) {
            return element_of_code<T>(pattern::sent(shape, static_cast<std::uint64_t>(rank), slot));
          }};
}

PatternTable PatternTable::moved(DataType type, std::uint64_t family) {
  // One rank, because the values do not depend on the number of ranks; the family's first rank, whose shift is 0.
  return sent(type, Reduction::kNone, static_cast<int>(family * pattern::kPeriod), 1);
}

PatternTable PatternTable::reduced(DataType type, Reduction reduction, int ranks, Average how) {
  const pattern::Shape shape = shape_of(type, reduction, ranks);
  return {type, [=]<typename T>(std::type_identity<T>, std::uint64_t slot) {
            const T value = element_of_code<T>(pattern::reduced(shape, slot));
            return reduction == Reduction::kAvg ? average(value, ranks, how) : value;
          }};
}

PatternTable PatternTable::rounding(DataType type, Reduction reduction, int rank, int ranks) {
  if (!facts(type).floating) return sent(type, reduction, rank, ranks);
  return {type, [=]<typename T>(std::type_identity<T>, std::uint64_t slot) {
            return element_of_code<T>(
                pattern::rounding_code(facts(type), reduction, static_cast<std::uint64_t>(rank), slot));
          }};
}

/// Calls `action(offset, run)` for consecutive runs of the pattern that cover `bytes`.
template <typename Action>
void PatternTable::for_each_run(std::size_t bytes, PatternPosition place, Action action) const {
  for (std::size_t offset = 0; offset < bytes;) {
    const std::uint64_t left_in_period = pattern::kPeriod - place.position % pattern::kPeriod;
    const std::size_t length = std::min<std::size_t>(left_in_period * element_, bytes - offset);
    const std::uint64_t slot = pattern::slot(place.position, place.shift);
    action(offset, two_periods().subspan(slot * element_, length));
    offset += length;
    place.position += left_in_period;
  }
}

void PatternTable::fill(std::span<std::byte> buffer, PatternPosition place) const {
  for_each_run(buffer.size(), place, [&](std::size_t offset, std::span<const std::byte> run) {
    std::memcpy(buffer.data() + offset, run.data(), run.size());
  });
}

std::optional<Mismatch> PatternTable::check(std::span<const std::byte> buffer, PatternPosition place) const {
  Mismatch found;
  for_each_run(buffer.size(), place, [&](std::size_t offset, std::span<const std::byte> run) {
    if (std::memcmp(buffer.data() + offset, run.data(), run.size()) != 0) {
      count_differences(type_, run, buffer.data() + offset, offset, found);
    }
  });
  if (found.count == 0) return std::nullopt;
  return found;
}

std::span<const std::byte> PatternTable::element(PatternPosition place, std::uint64_t offset) const {
  return two_periods().subspan(pattern::slot(place.position + offset, place.shift) * element_, element_);
}

std::string element_text(DataType type, const std::byte* element) {
  return with_type(type, [&]<typename T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (kIsSmallFloat<T>) {
      return fmt::format("{}", to_float(value));
    } else if constexpr (sizeof(T) == 1) {
      return fmt::format("{}", static_cast<int>(value));
    } else {
      return fmt::format("{}", value);
    }
  });
}

SeenBits::SeenBits(DataType type) : flags_(std::size_t{2} * 8 * facts(type).size) {}

void SeenBits::add(const PatternTable& table, PatternPosition place, std::uint64_t elements) {
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
