// Definitions shared by all outputs of a sweep over pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/record/context.h"
#include "common/record/reading.h"

namespace fabricbench {

/// Facts that readings do not contain; empty for a program that is not a sweep.
struct SweepFacts {
  struct Place {
    int rank = 0;
    std::string host;
    std::string rail;   ///< name of the endpoint on its host: its GPU or local rank; empty if the host has one endpoint
    std::string gpu{};  ///< its PCI address; empty: none
    std::string gpu_uuid{};  ///< empty: unknown
  };
  std::vector<Place> endpoints;
  std::string test;     ///< the program's name
  bool checked = true;  ///< whether received data are compared with sent data
};
[[nodiscard]] SweepFacts sweep_facts(const Context& context);

/// Adds the ends and the test to a reading; the ends' texts are owned by `facts`.
void add_facts(PairReading& reading, const SweepFacts& facts);
/// Adds the same to an endpoint and to its slowest peers.
void add_facts(EndpointSummary& summary, const SweepFacts& facts);
/// The hosts of endpoints.
[[nodiscard]] std::vector<std::string> hosts_of(const std::vector<int>& endpoints, const SweepFacts& facts);

/// The plan of the sweep.
[[nodiscard]] SweepPlanFacts plan_facts(const Context& context);

/// The unit that is paired; never Level::kAuto.
[[nodiscard]] Level paired(const Context& context);

/// A name for every endpoint: its host, or `host:r3` with its rank where the host has several.
[[nodiscard]] std::vector<std::string> endpoint_names(const Context& context);

/// The maximum number of pairs in a round; with ScheduleKind::kShift, of flows.
[[nodiscard]] std::int64_t most_at_once(const Context& context);

}  // namespace fabricbench
