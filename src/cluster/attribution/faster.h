// Whether readings are faster than what is taken to be usual.
#pragma once

#include "cluster/attribution/model.h"

namespace fabricbench::cluster {

/// Nothing makes readings faster than healthy hosts are: where a few are, the usual is not what is healthy, or groups
/// of hosts are nearer each other than most pairs are. True too where it is one pair and no chance.
[[nodiscard]] bool any_are_faster(const Model& model);

}  // namespace fabricbench::cluster
