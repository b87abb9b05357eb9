#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/measure/totals.h"
#include "common/record/context.h"

namespace fabricbench {

/// The verdict on --min-bw, which applies to the average of the rows of the slowest group or pair, and on --max-lat and
/// --percent-of-rate, which apply to every row of every pair.
struct SpeedVerdict {
  ExitStatus status = ExitStatus::kOk;  ///< kOk, also if nothing was required; kTooSlow; or kNotJudged
  std::string reason;                   ///< the first finding with that status
  std::vector<std::string> findings;    ///< a sentence for each requirement that was missed or could not be judged
  std::optional<bool> fast_enough;      ///< empty if nothing was required, or it could not be judged
};

/// Such as `1 of 8 pairs was left out for want of a usable device`, for a context with such pairs.
[[nodiscard]] std::string left_out_text(const Context& context);

/// The pairs with GPU memory whose bandwidth is below 0.8 of that with host memory over the same adapters, with the
/// likely causes; a line each. Source of the 0.8: operators take such a share as a sign of a wrong topology.
[[nodiscard]] std::vector<std::string> slow_memory(const Totals& totals, const Context& context);

/// The pairs that were faster than kMostOfRate of their slower port's rate, with the source of the rate; a line each.
[[nodiscard]] std::vector<std::string> wrong_rates(const Totals& totals, const Context& context);

[[nodiscard]] SpeedVerdict verdict_of(const Totals& totals, const Context& context);

}  // namespace fabricbench
