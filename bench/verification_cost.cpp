// What checking 64 MiB costs, against copying it: alternating, nine times. Prints both medians in milliseconds
// and their ratio.

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/pattern_table.h"
#include "common/core/statistics.h"

int main() {
  using namespace fabricbench;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  constexpr int kRounds = 9;
  std::vector<std::byte> data(kBytes);
  std::vector<std::byte> copy(kBytes);
  bool right = true;
  for (const DataTypeFacts& type : kDataTypes) {
    const PatternTable table = PatternTable::reduced(type.type, Reduction::kSum, 2);
    table.fill(data, 0);
    std::vector<double> copying;
    std::vector<double> checking;
    for (int round = 0; round < kRounds; ++round) {
      const Seconds began = now();
      std::memcpy(copy.data(), data.data(), kBytes);
      const Seconds copied = now();
      right = right && !table.check(data, 0);
      const Seconds checked = now();
      copying.push_back((copied - began) * 1e3);
      checking.push_back((checked - copied) * 1e3);
    }
    fmt::print("{:<9} memcpy {:7.2f} ms, check {:7.2f} ms, ratio {:.2f}\n", type.name, median(copying),
               median(checking), median(checking) / median(copying));
  }
  return right ? 0 : 1;
}
