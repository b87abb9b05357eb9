#include "common/measure/test.h"

namespace fabricbench {

std::vector<ExpectedBlock> part_of_each(std::uint64_t part, int ranks, std::uint64_t position) {
  std::vector<ExpectedBlock> blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    blocks.push_back(
        {.begin = static_cast<std::uint64_t>(rank) * part, .count = part, .source = rank, .position = position});
  }
  return blocks;
}

}  // namespace fabricbench
