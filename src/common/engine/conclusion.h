#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/units.h"
#include "common/measure/totals.h"
#include "common/mpi/communicator.h"
#include "common/record/context.h"
#include "common/report/sink.h"

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

/// The ending of a complete run, derived from its totals.
[[nodiscard]] Ending conclude(const Totals& totals, const Context& context);

/// Tells every sink that the run ended early, and returns whether there was one to tell. Says on standard error what
/// could not be written.
bool abandon(const Outputs& outputs, const Ending& ending);
void abandon(const Outputs& outputs, ExitStatus status, const std::string& reason);
void abandon(const Outputs& outputs, const std::exception& error);

/// The ending of a run that an error ended.
[[nodiscard]] Ending broken_off_by(const std::exception& error);

/// The use of the system since this object was created: CPU steal, and peak memory.
class SystemUsage {
 public:
  SystemUsage();
  /// Fills in `ending` on every process. Collective.
  void add_to(Ending& ending, const mpi::Communicator& world) const;

 private:
  std::uint64_t stolen_;
  Seconds began_;
  Seconds lead_;  // of now() over the kernel's answer
};

}  // namespace fabricbench
