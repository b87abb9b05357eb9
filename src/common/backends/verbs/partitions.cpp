#include "common/backends/verbs/partitions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::verbs {
namespace {

constexpr unsigned kPartition = 0x7fff;  // the bits of a key that tell partitions apart

}  // namespace

bool hear_each_other(std::uint16_t first, std::uint16_t second) {
  const bool same = ((first ^ second) & kPartition) == 0 && (first & kPartition) != 0;
  return same && ((first | second) & kFullMember) != 0;
}

std::optional<PartitionPair> choose_partition(const PartitionTable& first, const PartitionTable& second,
                                              const std::optional<std::int64_t>& index) {
  if (index) {
    const auto place = static_cast<std::size_t>(*index);
    const int both = static_cast<int>(*index);
    if (first.empty() || second.empty()) return PartitionPair{both, both};
    if (place >= first.size() || place >= second.size()) return std::nullopt;
    if (!hear_each_other(first[place], second[place])) return std::nullopt;
    return PartitionPair{both, both, first[place]};
  }
  if (first.empty() || second.empty()) return PartitionPair{};
  std::optional<PartitionPair> found;
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (std::size_t j = 0; j < second.size(); ++j) {
      if (!hear_each_other(first[i], second[j])) continue;
      const bool is_default = (first[i] & kPartition) == kPartition;
      if (!found || is_default) found = PartitionPair{static_cast<int>(i), static_cast<int>(j), first[i]};
      if (is_default) return found;
    }
  }
  return found;
}

std::string describe(const PartitionTable& table) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] != 0) keys.push_back(fmt::format("{}: {:#06x}", i, table[i]));
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace fabricbench::verbs
