#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/exit_status.h"
#include "common/measure/totals.h"
#include "common/record/context.h"

namespace fabricbench {

/// Whether every row of every pair has what --min-bw, --max-lat and --percent-of-rate of the RDMA programs require.
struct SpeedVerdict {
  ExitStatus status = ExitStatus::kOk;  ///< kOk where nothing was required, kTooSlow, or kNotJudged
  std::string reason;                   ///< the first finding that the status is due to
  std::vector<std::string> findings;    ///< a sentence for each requirement that was not met, or could not be judged
  std::optional<bool> fast_enough;      ///< nothing where nothing was required, or it could not be judged
};

/// Pairs whose memory is a GPU's and that have less than 0.8 of what the host's memory has over the same adapters, with
/// what may be to blame; a line each. Source of the share: what operators take for a sign of a wrong topology.
[[nodiscard]] std::vector<std::string> slow_memory(const Totals& totals, const Context& context);

[[nodiscard]] SpeedVerdict verdict_of(const Totals& totals, const Context& context);

}  // namespace fabricbench
