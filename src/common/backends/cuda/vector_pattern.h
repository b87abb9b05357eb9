// The pattern in pieces of 16 bytes, as a device thread writes and compares it. Plain constexpr functions, shared by
// the kernels and the tests. A buffer is a run of bytes here, and byte positions count from its beginning.
#pragma once

#include <cstdint>

#include "common/core/pattern.h"

namespace fabricbench::cuda {

/// The unit that a thread reads or writes at once; little-endian, as on every supported machine.
struct alignas(16) Vector16 {
  std::uint32_t words[4];
};

inline constexpr std::uint32_t kVectorBytes = sizeof(Vector16);

/// The start of a buffer in the pattern (PatternPosition), and the size of an element: 1, 2, 4 or 8 bytes.
struct PatternSource {
  std::uint64_t position;
  std::uint64_t shift;
  std::uint32_t element;
};

/// The result of a check; initially zero. The offset is inverted, so that the first wrong element has the largest
/// number, and zero means none.
struct CheckResult {
  unsigned long long count;           // the type of the device's atomic operations
  unsigned long long inverted_first;  ///< bitwise complement of the first wrong element's offset
};

[[nodiscard]] constexpr std::uint32_t period_bytes(std::uint32_t element) {
  return static_cast<std::uint32_t>(pattern::kPeriod) * element;
}

/// A byte's place in the pattern: pattern::slot in bytes, with its two terms separate, so that advancing takes only
/// additions. Both are below period_bytes.
struct Cursor {
  std::uint32_t in_period;  ///< bytes since the last position that is a multiple of kPeriod
  std::uint32_t rotation;   ///< rotation of that repetition
};

[[nodiscard]] constexpr Cursor cursor_at(const PatternSource& source, std::uint64_t byte) {
  const std::uint64_t position = source.position + byte / source.element;
  const std::uint64_t in_period = position % pattern::kPeriod;
  return {static_cast<std::uint32_t>(in_period * source.element + byte % source.element),
          static_cast<std::uint32_t>(pattern::slot(position - in_period, source.shift) * source.element)};
}

/// A distance for `advance`.
struct Step {
  std::uint32_t in_period;
  std::uint32_t rotation;          ///< rotation by the whole periods of the distance
  std::uint32_t crossed_rotation;  ///< the same with one period more
};

/// `bytes` is a multiple of the element.
[[nodiscard]] constexpr Step step_of(std::uint32_t element, std::uint64_t bytes) {
  const std::uint64_t elements = bytes / element;
  const std::uint64_t periods = elements / pattern::kPeriod;
  return {static_cast<std::uint32_t>(elements % pattern::kPeriod * element),
          static_cast<std::uint32_t>(periods * pattern::kRotation % pattern::kPeriod * element),
          static_cast<std::uint32_t>((periods + 1) * pattern::kRotation % pattern::kPeriod * element)};
}

/// `value` modulo `period`, if it is below twice that.
[[nodiscard]] constexpr std::uint32_t wrapped(std::uint32_t value, std::uint32_t period) {
  return value >= period ? value - period : value;
}

[[nodiscard]] constexpr Cursor advanced(Cursor from, const Step& step, std::uint32_t period) {
  const std::uint32_t in_period = from.in_period + step.in_period;
  const bool crossed = in_period >= period;
  return {wrapped(in_period, period),
          wrapped(from.rotation + (crossed ? step.crossed_rotation : step.rotation), period)};
}

[[nodiscard]] constexpr std::uint32_t table_byte(const Vector16* table, std::uint32_t byte) {
  return table[byte / kVectorBytes].words[byte % kVectorBytes / 4] >> (8 * (byte % 4)) & 0xffu;
}

/// 16 bytes of the table from any byte of its first period on: two aligned vectors, from which first whole words and
/// then bytes are dropped.
[[nodiscard]] constexpr Vector16 window(const Vector16* table, std::uint32_t byte) {
  const Vector16 low = table[byte / kVectorBytes];
  const Vector16 high = table[byte / kVectorBytes + 1];
  const bool eight = (byte & 8u) != 0;
  const bool four = (byte & 4u) != 0;
  const std::uint32_t a[6] = {eight ? low.words[2] : low.words[0],   eight ? low.words[3] : low.words[1],
                              eight ? high.words[0] : low.words[2],  eight ? high.words[1] : low.words[3],
                              eight ? high.words[2] : high.words[0], eight ? high.words[3] : high.words[1]};
  const std::uint32_t b[5] = {four ? a[1] : a[0], four ? a[2] : a[1], four ? a[3] : a[2], four ? a[4] : a[3],
                              four ? a[5] : a[4]};
  const std::uint32_t bits = 8 * (byte & 3u);
  Vector16 result{};
  for (int word = 0; word < 4; ++word) {  // the device has one instruction for this
    result.words[word] = static_cast<std::uint32_t>((std::uint64_t{b[word + 1]} << 32 | b[word]) >> bits);
  }
  return result;
}

/// The first `left` bytes of one vector, at most 16, and the rest of another.
[[nodiscard]] constexpr Vector16 joined(const Vector16& first, const Vector16& second, std::uint32_t left) {
  Vector16 result{};
  for (std::uint32_t word = 0; word < 4; ++word) {
    const std::uint32_t bytes = left > 4 * word ? left - 4 * word : 0;
    const std::uint32_t mask = bytes >= 4 ? ~0u : (1u << (8 * bytes)) - 1;
    result.words[word] = (first.words[word] & mask) | (second.words[word] & ~mask);
  }
  return result;
}

/// The pattern's byte at a cursor.
[[nodiscard]] constexpr std::uint32_t pattern_byte(const Vector16* table, Cursor at, std::uint32_t element) {
  return table_byte(table, wrapped(at.in_period + at.rotation, period_bytes(element)));
}

/// The pattern's 16 bytes from a cursor on. If a period ends among them, the rest has the next period's rotation: one
/// vector in 512 (1-byte elements) to 4096 (8-byte elements).
[[nodiscard]] constexpr Vector16 pattern_vector(const Vector16* table, Cursor at, std::uint32_t element) {
  const std::uint32_t period = period_bytes(element);
  const Vector16 value = window(table, wrapped(at.in_period + at.rotation, period));
  if (at.in_period + kVectorBytes <= period) return value;
  const std::uint32_t next = wrapped(at.rotation + static_cast<std::uint32_t>(pattern::kRotation) * element, period);
  return joined(value, window(table, wrapped(at.in_period + next, period)), period - at.in_period);
}

[[nodiscard]] constexpr bool equal(const Vector16& a, const Vector16& b) {
  return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1]) | (a.words[2] ^ b.words[2]) |
          (a.words[3] ^ b.words[3])) == 0;
}

/// A word chosen at run time. Uses comparisons, because an index would make the device keep vectors in memory.
[[nodiscard]] constexpr std::uint32_t word_of(const Vector16& vector, std::uint32_t word) {
  const std::uint32_t of_first_two = word == 0 ? vector.words[0] : vector.words[1];
  const std::uint32_t of_last_two = word == 2 ? vector.words[2] : vector.words[3];
  return word < 2 ? of_first_two : of_last_two;
}

/// The bits of an element that begins at `byte` of a vector and ends in it.
[[nodiscard]] constexpr std::uint64_t element_bits(const Vector16& vector, std::uint32_t byte, std::uint32_t element) {
  if (element == 8) return std::uint64_t{word_of(vector, byte / 4 + 1)} << 32 | word_of(vector, byte / 4);
  const std::uint32_t bits = word_of(vector, byte / 4) >> (8 * (byte % 4));
  return element == 4 ? bits : bits & ((1u << (8 * element)) - 1);
}

constexpr void add_wrong(std::uint64_t offset, CheckResult& found) {
  const unsigned long long inverted = ~static_cast<unsigned long long>(offset);
  ++found.count;
  if (inverted > found.inverted_first) found.inverted_first = inverted;
}

/// Counts the wrong elements of a vector whose first element is the buffer's `offset`-th.
constexpr void count_wrong(const Vector16& expected, const Vector16& got, std::uint64_t offset, std::uint32_t element,
                           CheckResult& found) {
  for (std::uint32_t byte = 0; byte < kVectorBytes; byte += element) {
    if (element_bits(expected, byte, element) != element_bits(got, byte, element)) {
      add_wrong(offset + byte / element, found);
    }
  }
}

/// A buffer divided into aligned vectors and the bytes before and after them.
struct Split {
  std::uint64_t head;  ///< bytes before the first vector
  std::uint64_t vectors;
  std::uint64_t tail;  ///< bytes after the last vector
};

/// `address` is the buffer's. If elements would straddle two vectors, all of it is head.
[[nodiscard]] constexpr Split split_of(std::uint64_t address, std::uint64_t bytes, std::uint32_t element) {
  const std::uint64_t head = (kVectorBytes - address % kVectorBytes) % kVectorBytes;
  if (address % element != 0 || head >= bytes) return {bytes, 0, 0};
  const std::uint64_t vectors = (bytes - head) / kVectorBytes;
  return {head, vectors, bytes - head - vectors * kVectorBytes};
}

}  // namespace fabricbench::cuda
