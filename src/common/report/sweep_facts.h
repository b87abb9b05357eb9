// What all outputs of a sweep over pairs say alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/options.h"
#include "common/record/context.h"
#include "common/record/reading.h"

namespace fabricbench {

/// What a reading does not say of itself. Of a program that is no sweep, nothing.
struct SweepFacts {
  struct Place {
    int rank = 0;
    std::string host;
    std::string rail;        ///< which of its host: its GPU or local rank; empty where each host has one
    std::string gpu{};       ///< its PCI address; empty: it has none
    std::string gpu_uuid{};  ///< empty: not known
  };
  std::vector<Place> endpoints;
  std::string test;     ///< the program's name
  bool checked = true;  ///< whether data is compared with what was sent
};
[[nodiscard]] SweepFacts sweep_facts(const Context& context);

/// Says of a reading who its ends are, whose texts stay with `facts`, and of which test it is.
void add_facts(PairReading& reading, const SweepFacts& facts);
/// The same of an endpoint and of the partners with which it was slowest.
void add_facts(EndpointSummary& summary, const SweepFacts& facts);
/// The hosts of endpoints.
[[nodiscard]] std::vector<std::string> hosts_of(const std::vector<int>& endpoints, const SweepFacts& facts);

/// What the sweep is going to do.
[[nodiscard]] SweepPlanFacts plan_facts(const Context& context);

/// What is paired; never Level::kAuto.
[[nodiscard]] Level paired(const Context& context);

/// A name for every endpoint: its host, or `host:r3` with its rank where the host has several.
[[nodiscard]] std::vector<std::string> endpoint_names(const Context& context);

/// How many pairs a round has at most; with ScheduleKind::kShift, how many flows.
[[nodiscard]] std::int64_t most_at_once(const Context& context);

}  // namespace fabricbench
