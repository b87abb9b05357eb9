// Hosts whose deficit is close to the tolerance. They are not blamed, but reported in notes.
#pragma once

#include "cluster/attribution/model.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Sets Model::near_limit, which explains readings of such hosts that noise takes below the limit, so that no pair or
/// round is blamed for them. Then fits the model again without these hosts.
void find_near_limit(Model& model);

/// Whether the readings cannot decide if an effect's deficit exceeds the tolerance.
[[nodiscard]] bool may_be_slow(const Model& model, std::int32_t effect);

/// Adds notes on these hosts, if noise does not explain their deficit, and follow-ups on those whose deficit may exceed
/// the tolerance.
void report_near_limit(const Model& model, Verdict& verdict);

}  // namespace fabricbench::cluster
