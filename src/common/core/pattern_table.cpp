#include "common/core/pattern_table.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace fabricbench {
namespace {

pattern::Shape shape_of(DataType type, Reduction reduction, int ranks) {
  return {reduction, facts(type).largest_exact, static_cast<std::uint64_t>(ranks)};
}

void count_differences(std::span<const std::byte> expected, const std::byte* got, std::size_t element,
                       std::size_t offset, DataType type, Mismatch& found) {
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
            return from_integer<T>(pattern::sent(shape, static_cast<std::uint64_t>(rank), slot));
          }};
}

PatternTable PatternTable::reduced(DataType type, Reduction reduction, int ranks) {
  const pattern::Shape shape = shape_of(type, reduction, ranks);
  return {type, [=]<typename T>(std::type_identity<T>, std::uint64_t slot) {
            const T value = from_integer<T>(pattern::reduced(shape, slot));
            return reduction == Reduction::kAvg ? divided(value, ranks) : value;
          }};
}

/// Calls `action(offset, run)` for runs of the pattern that together cover `bytes`.
template <typename Action>
void PatternTable::for_each_run(std::size_t bytes, std::uint64_t position, Action action) const {
  for (std::size_t offset = 0; offset < bytes;) {
    const std::uint64_t left_in_period = pattern::kPeriod - position % pattern::kPeriod;
    const std::size_t length = std::min<std::size_t>(left_in_period * element_, bytes - offset);
    action(offset, std::span(two_periods_).subspan(pattern::slot(position) * element_, length));
    offset += length;
    position += left_in_period;
  }
}

void PatternTable::fill(std::span<std::byte> buffer, std::uint64_t position) const {
  for_each_run(buffer.size(), position, [&](std::size_t offset, std::span<const std::byte> run) {
    std::memcpy(buffer.data() + offset, run.data(), run.size());
  });
}

std::optional<Mismatch> PatternTable::check(std::span<const std::byte> buffer, std::uint64_t position) const {
  Mismatch found;
  for_each_run(buffer.size(), position, [&](std::size_t offset, std::span<const std::byte> run) {
    if (std::memcmp(buffer.data() + offset, run.data(), run.size()) != 0) {
      count_differences(run, buffer.data() + offset, element_, offset, type_, found);
    }
  });
  if (found.count == 0) return std::nullopt;
  return found;
}

std::string element_text(DataType type, const std::byte* element) {
  return with_type(type, [&]<typename T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
      return fmt::format("{}", to_float(value));
    } else if constexpr (sizeof(T) == 1) {
      return fmt::format("{}", static_cast<int>(value));
    } else {
      return fmt::format("{}", value);
    }
  });
}

}  // namespace fabricbench
