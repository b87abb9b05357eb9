// Two kinds of hosts of which one is slower in one direction alone.
#pragma once

#include <optional>
#include <vector>

#include "cluster/structure/comparison_table.h"
#include "cluster/structure/split.h"
#include "cluster/structure/structure.h"

namespace fabricbench::cluster {

struct OneWayKinds {
  std::vector<char> is_slow;  ///< by host: of the slower kind, half of the hosts or more
  Direction way = Direction::kSends;
  double gain = 0;  ///< as Split::gain
};

/// Where the senders alone, or the receivers alone, explain what readings are like, and half of them or more are slower
/// than the others, all but two at most. Nothing where any host has too few readings to say of it, or
/// figures are of both directions together.
[[nodiscard]] std::optional<OneWayKinds> find_one_way_kinds(const ComparisonTable& table, std::size_t hosts,
                                                            const SplitSettings& settings);

}  // namespace fabricbench::cluster
