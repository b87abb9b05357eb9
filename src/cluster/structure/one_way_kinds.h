// Two kinds of hosts, one of which is slower in one direction only.
#pragma once

#include <optional>
#include <vector>

#include "cluster/structure/comparison_table.h"
#include "cluster/structure/split.h"
#include "cluster/structure/structure.h"

namespace fabricbench::cluster {

struct OneWayKinds {
  std::vector<char> is_slow;  ///< by host: of the slower kind, which has half of the hosts or more
  Direction way = Direction::kSends;
  double gain = 0;  ///< as Split::gain
};

/// Finds such kinds: the senders alone, or the receivers alone, explain the readings, and half of them or more, but not
/// all but one, are slower than the others. Nothing if any host has too few readings, or if readings are of both
/// directions together.
[[nodiscard]] std::optional<OneWayKinds> find_one_way_kinds(const ComparisonTable& table, std::size_t hosts,
                                                            const SplitSettings& settings);

}  // namespace fabricbench::cluster
