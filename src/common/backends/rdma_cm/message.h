#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/core/pattern.h"

/// The content of messages: bytes that depend on the sender, the connection, the message and the position. All are
/// below 0x80, so that none equals the poison of a receive buffer.
namespace fabricbench::rdma_cm {

/// The identity of a message.
struct MessageLabel {
  int side = 0;  ///< 0: the connecting side
  std::uint64_t connection = 0;
  std::uint32_t number = 0;
};

/// The eight bytes of a message from position 8 * `index` on, the first one lowest.
[[nodiscard]] constexpr std::uint64_t word_at(const MessageLabel& label, std::size_t index) {
  constexpr std::uint64_t kBelowPoison = 0x7f7f7f7f7f7f7f7f;
  constexpr int kNumberShift = 40;
  const std::uint64_t sender = label.connection << 1 | static_cast<std::uint64_t>(label.side);
  return pattern::mix(pattern::mix(sender ^ std::uint64_t{label.number} << kNumberShift) + index) & kBelowPoison;
}

[[nodiscard]] constexpr std::byte byte_at(const MessageLabel& label, std::size_t place) {
  return static_cast<std::byte>(word_at(label, place / 8) >> (place % 8 * 8) & 0xff);
}

inline void fill_message(const MessageLabel& label, std::span<std::byte> data) {
  std::uint64_t word = 0;
  for (std::size_t place = 0; place < data.size(); ++place, word >>= 8) {
    if (place % sizeof word == 0) word = word_at(label, place / sizeof word);
    data[place] = static_cast<std::byte>(word & 0xff);
  }
}

/// The position of the first wrong byte.
[[nodiscard]] inline std::optional<std::size_t> first_wrong_byte(const MessageLabel& label,
                                                                 std::span<const std::byte> data) {
  std::uint64_t word = 0;
  for (std::size_t place = 0; place < data.size(); ++place, word >>= 8) {
    if (place % sizeof word == 0) word = word_at(label, place / sizeof word);
    if (data[place] != static_cast<std::byte>(word & 0xff)) return place;
  }
  return std::nullopt;
}

}  // namespace fabricbench::rdma_cm
