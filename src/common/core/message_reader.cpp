#include "common/core/message_reader.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/statistics.h"

namespace fabricbench {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;  // a multiple of a word

}  // namespace

void MessageReader::begin(const ReaderTask& task) {
  if (reads_) (void)end();
  ReaderWords& shared = words();
  shared.findings = {};
  std::atomic_ref(shared.seen).store(task.first - 1, std::memory_order_release);
  std::atomic_ref(shared.abort).store(0, std::memory_order_release);
  std::atomic_ref(shared.ended).store(0, std::memory_order_release);
  launch(task);
  reads_ = true;
}

std::uint64_t MessageReader::seen() const { return std::atomic_ref(words().seen).load(std::memory_order_acquire); }

bool MessageReader::has_stopped() {
  if (!reads_ || std::atomic_ref(words().ended).load(std::memory_order_acquire) != 0) return true;
  look_after();
  return false;
}

ReaderFindings MessageReader::end() {
  if (!reads_) return {};
  std::atomic_ref(words().abort).store(1, std::memory_order_release);
  join();
  reads_ = false;
  return words().findings;
}

void MessageReader::abandon() noexcept {
  constexpr Seconds kMoment = 1e-3;
  constexpr int kMoments = 1000;
  if (!reads_) return;
  std::atomic_ref(words().abort).store(1, std::memory_order_release);
  for (int i = 0; i < kMoments && std::atomic_ref(words().ended).load(std::memory_order_acquire) == 0; ++i) {
    sleep_for(kMoment);
  }
}

Seconds MessageReader::round_trip(int times, Seconds limit) {
  constexpr int kSpinsPerLook = 1000;
  constexpr int kUntimed = 16;
  std::atomic_ref asked_word(words().asked);
  asked_word.store(0, std::memory_order_release);
  ReaderTask task;
  task.flag = asked();
  task.limit_ns = static_cast<std::uint64_t>(limit * 1e9);
  begin(task);
  std::vector<Seconds> taken;
  for (int i = 1; i <= times + kUntimed; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const Seconds began = now();
    asked_word.store(number, std::memory_order_release);
    for (int spins = 1; seen() != number; ++spins) {
      if (spins % kSpinsPerLook != 0) continue;
      if (has_stopped() || now() - began > limit) {
        throw Error(ExitStatus::kTimeout,
                    fmt::format("{} has not answered the processor for {}", description(), readable_seconds(limit)));
      }
      std::this_thread::yield();
    }
    if (i > kUntimed) taken.push_back(now() - began);
  }
  (void)end();
  return median(taken);
}

std::uint64_t word_sum(std::span<const std::byte> data) {
  const auto load = [data](std::uint64_t index) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + 8 * index, std::min<std::size_t>(sizeof word, data.size() - 8 * index));
    return word;
  };
  return part_of_sum(load, data.size(), 0, 1);
}

ComplementSums make_complement(Memory& memory, std::span<const std::byte> original, std::span<std::byte> complement) {
  ComplementSums sums;
  std::vector<std::byte> chunk;
  for (std::size_t begin = 0; begin < original.size(); begin += kChunk) {
    chunk.resize(std::min(kChunk, original.size() - begin));
    memory.copy_to_host(original.subspan(begin, chunk.size()), chunk.data());
    sums.original += word_sum(chunk);
    std::transform(chunk.begin(), chunk.end(), chunk.begin(), [](std::byte byte) { return ~byte; });
    sums.complement += word_sum(chunk);
    memory.copy_from_host(chunk, complement.data() + begin);
  }
  return sums;
}

}  // namespace fabricbench
