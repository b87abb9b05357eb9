// Two kinds of hosts: if half of the hosts or more are slower, readings cannot tell which kind is healthy.
#pragma once

#include <vector>

#include "cluster/pairs/structure/comparison_table.h"
#include "cluster/pairs/structure/split.h"
#include "cluster/pairs/structure/structure.h"

namespace fabricbench::cluster {

/// If half of the hosts or more are alone, sets two kinds of hosts; then no host is alone. Unplaced hosts, which are
/// slow with all that they met so far, are taken for the slower kind.
void note_kinds(const ComparisonTable& table, Structure& structure);

/// Within the faster hosts some are slow with each other too. If these and the slower hosts together are half of all
/// hosts or more, sets them as one kind.
void note_kinds_within(const ComparisonTable& table, const std::vector<char>& is_alone_within, Structure& structure);

/// Sets two kinds of hosts if one of them is slower in one direction only. Returns whether there are such kinds.
[[nodiscard]] bool note_one_way_kinds(const ComparisonTable& table, const SplitSettings& settings,
                                      Structure& structure);

}  // namespace fabricbench::cluster
