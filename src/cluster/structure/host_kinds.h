// Two kinds of hosts: where half of them or more are slower, nobody can say which kind is as it should be.
#pragma once

#include <vector>

#include "cluster/structure/comparison_table.h"
#include "cluster/structure/split.h"
#include "cluster/structure/structure.h"

namespace fabricbench::cluster {

/// Half of the hosts or more are alone: two kinds of hosts. Then they are alone no more. Those that are slow with all
/// that they met so far are of the slower kind, as far as can be told.
void note_kinds(const ComparisonTable& table, double gain, Structure& structure);

/// Of hosts that are fast with each other and slow with the others, some are slow with each other too: where those, and
/// the ones that are slower still, are half of all or more, they are one kind.
void note_kinds_within(const ComparisonTable& table, const std::vector<char>& is_alone_within, double gain,
                       Structure& structure);

/// Whether there are two kinds of hosts of which one is slower in one direction alone; then it is noted.
[[nodiscard]] bool note_one_way_kinds(const ComparisonTable& table, const SplitSettings& settings,
                                      Structure& structure);

}  // namespace fabricbench::cluster
