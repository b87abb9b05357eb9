#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace fabricbench::verbs {

/// Counts numbered messages of which any may be lost, duplicated or reordered. Numbers start from 0 and are sent in
/// order, modulo 2^32.
class Datagrams {
 public:
  /// Records the arrival of a message.
  void arrive(std::uint32_t number) {
    const auto ahead = static_cast<std::int32_t>(number - next_);
    if (ahead >= 0) {
      for (std::int32_t i = 0; i < ahead && i < static_cast<std::int32_t>(kRemembered); ++i)
        seen_.reset(place(next_ + static_cast<std::uint32_t>(i)));
      next_ = number + 1;
    } else if (static_cast<std::uint32_t>(-ahead) <= kRemembered && !seen_.test(place(number))) {
      ++reordered_;
    } else {
      ++duplicated_;
      return;
    }
    seen_.set(place(number));
    ++arrived_;
  }

  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }      ///< duplicates count once
  [[nodiscard]] std::uint64_t reordered() const { return reordered_; }  ///< arrived after a message that was sent later
  [[nodiscard]] std::uint64_t duplicated() const { return duplicated_; }  ///< arrived again, or too late to tell
  /// The highest number that arrived, plus one.
  [[nodiscard]] std::uint32_t next() const { return next_; }

 private:
  static constexpr std::size_t kRemembered = 65536;
  [[nodiscard]] static std::size_t place(std::uint32_t number) { return number % kRemembered; }

  std::bitset<kRemembered> seen_;
  std::uint32_t next_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t duplicated_ = 0;
};

}  // namespace fabricbench::verbs
