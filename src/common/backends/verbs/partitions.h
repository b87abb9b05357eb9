#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabricbench::verbs {

/// Keys of a port's partitions (P_Keys), by their index in its table; 0: unused. Source: InfiniBand specification 10.9.
using PartitionTable = std::vector<std::uint16_t>;

/// The bit of a key that makes its port a full member; without it the port is a limited one, and two limited members do
/// not hear each other.
inline constexpr std::uint16_t kFullMember = 0x8000;
inline constexpr std::uint16_t kDefaultPartition = 0xffff;

/// The indices of one partition in the tables of both ends.
struct PartitionPair {
  int first = 0;
  int second = 0;
  std::uint16_t key = kDefaultPartition;  ///< the first end's
};

/// Whether ports with these keys hear each other: one partition, and at least one full member.
[[nodiscard]] bool hear_each_other(std::uint16_t first, std::uint16_t second);

/// The default partition if both ends are in it, else the first common one; with `index` that of this index at both
/// ends. Empty if the ends do not hear each other there. Where a device tells no keys, index 0 is taken without a
/// check.
[[nodiscard]] std::optional<PartitionPair> choose_partition(const PartitionTable& first, const PartitionTable& second,
                                                            const std::optional<std::int64_t>& index);

/// Such as `0: 0xffff, 1: 0x8012`.
[[nodiscard]] std::string describe(const PartitionTable& table);

}  // namespace fabricbench::verbs
