// Hosts that are slower than others, but not by more than the tolerance: not blamed, and not hidden either.
#pragma once

#include "cluster/attribution/model.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Sets Model::near_limit, which explains readings that fall below the limit by noise alone: their pairs and rounds are
/// no exceptions. What is usual is then taken again without them.
void find_near_limit(Model& model);

/// Whether nobody can tell on which side of the tolerance an effect near it is.
[[nodiscard]] bool may_be_slow(const Model& model, std::int32_t effect);

/// Adds notes that name these hosts where noise does not explain them, and asks for more rounds where nobody can tell
/// whether they are slower than the tolerance allows.
void report_near_limit(const Model& model, Verdict& verdict);

}  // namespace fabricbench::cluster
