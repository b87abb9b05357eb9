// What --json has of a sweep over pairs.
#pragma once

#include <nlohmann/json.hpp>

#include "common/report/context.h"
#include "common/report/reading.h"
#include "common/report/sweep_facts.h"
#include "common/report/sweep_plan.h"

namespace fabricbench {

/// The context's `sweep`.
[[nodiscard]] nlohmann::ordered_json sweep_json(const Context& context);
/// A line of kind `reading`.
[[nodiscard]] nlohmann::ordered_json reading_json(const PairReading& reading, const SweepFacts& facts);
/// A line of kind `endpoint`.
[[nodiscard]] nlohmann::ordered_json endpoint_json(const EndpointSummary& summary, const SweepFacts& facts);
/// A line of kind `plan`.
[[nodiscard]] nlohmann::ordered_json planned_json(const SweepRound& round);
/// A line of kind `verdict`.
[[nodiscard]] nlohmann::ordered_json verdict_json(const SweepVerdict& verdict);
/// A line of kind `silent`.
[[nodiscard]] nlohmann::ordered_json silent_json(const SilentEndpoints& silent, const SweepFacts& facts);

}  // namespace fabricbench
