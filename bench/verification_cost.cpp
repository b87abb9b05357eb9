// What filling and checking buffers costs, against copying as much: alternating, nine times. Prints medians in
// milliseconds and their ratio: checking 64 MiB of a reduction's result, for every datatype, and filling and checking
// the 64 MiB that an all_gather of 4 ranks leaves on one of them.

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/pattern_table.h"
#include "common/core/statistics.h"

namespace {

using namespace fabricbench;

constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr int kRounds = 9;

/// Times a copy of the data and `action` in turn. `action` says whether the data were right.
template <typename Action>
bool compare(const std::string& name, std::vector<std::byte>& data, Action action) {
  static std::vector<std::byte> copy(kBytes);
  bool right = true;
  std::vector<double> copying;
  std::vector<double> acting;
  for (int round = 0; round < kRounds; ++round) {
    const Seconds began = now();
    std::memcpy(copy.data(), data.data(), kBytes);
    const Seconds copied = now();
    right = action() && right;
    const Seconds acted = now();
    copying.push_back((copied - began) * 1e3);
    acting.push_back((acted - copied) * 1e3);
  }
  fmt::print("{:<26} memcpy {:7.2f} ms, this {:7.2f} ms, ratio {:.2f}\n", name, median(copying), median(acting),
             median(acting) / median(copying));
  return right;
}

bool check_reduction(const DataTypeFacts& type, std::vector<std::byte>& data) {
  const PatternTable table = PatternTable::reduced(type.type, Reduction::kSum, 2);
  table.fill(data, {});
  return compare(fmt::format("check {}", type.name), data, [&] { return !table.check(data, {}); });
}

/// The making of the tables is part of it.
bool fill_and_check_all_gather(std::vector<std::byte>& data) {
  constexpr std::size_t kRanks = 4;
  constexpr std::size_t kPart = kBytes / kRanks;
  return compare("fill and check all_gather", data, [&] {
    const PatternTable table = PatternTable::moved(DataType::kFloat, 0);
    bool right = true;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const PatternPosition place{0, pattern::source_shift(rank)};
      const auto part = std::span(data).subspan(rank * kPart, kPart);
      table.fill(part, place);
      right = right && !table.check(part, place);
    }
    return right;
  });
}

}  // namespace

int main() {
  std::vector<std::byte> data(kBytes);
  bool right = fill_and_check_all_gather(data);
  for (const DataTypeFacts& type : kDataTypes) right = check_reduction(type, data) && right;
  return right ? 0 : 1;
}
