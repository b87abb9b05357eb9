// Sizes and ranges of sizes: three lines are the first size, the last one and the step.

#include <algorithm>
#include <array>

#include "common/core/split.h"
#include "common/core/units.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_sizes(std::string_view input) {
  std::string_view rest = input;
  fuzz::tolerate([&] {
    std::array<Bytes, 3> sizes{};
    for (Bytes& each : sizes) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      each = parse_bytes(line);
      fuzz::require(parse_bytes(exact_bytes(each)) == each);
    }
    if (sizes[0] > sizes[1] || sizes[2] == 0) return;
    for (const std::uint64_t factor : {1U, 2U}) {
      const SizeList list = list_sizes({sizes[0], sizes[1], sizes[2], factor}, 4);
      for (const Bytes each : list.sizes) fuzz::require(each % 4 == 0 && each <= sizes[1]);
    }
  });
  fuzz::tolerate([&] { static_cast<void>(parse_number(input, "-x", 0, 1e9)); });
  fuzz::tolerate([&] { static_cast<void>(parse_integer(input, "-x", -5, 1'000'000)); });
}
