#pragma once

#include <exception>
#include <string>

#include "common/core/error.h"
#include "common/core/units.h"
#include "common/measure/totals.h"
#include "common/mpi/communicator.h"
#include "common/record/context.h"
#include "common/report/sink.h"

namespace fabricbench {

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
