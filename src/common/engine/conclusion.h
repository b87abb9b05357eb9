#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "common/core/exit_status.h"
#include "common/core/units.h"
#include "common/measure/totals.h"
#include "common/mpi/communicator.h"
#include "common/record/context.h"
#include "common/report/sink.h"

namespace fabricbench {

/// How the run ended, by what its rows add up to.
[[nodiscard]] Ending conclude(const Totals& totals, const Context& context);

/// Tells every sink that the run broke off.
void abandon(const Outputs& outputs, ExitStatus status, const std::string& reason);
void abandon(const Outputs& outputs, const std::exception& error);

/// How a run ended that an error broke off.
[[nodiscard]] Ending broken_off_by(const std::exception& error);

/// What the system did from this object's beginning on.
class SystemUsage {
 public:
  SystemUsage();
  /// Fills in `ending` on every process; collective.
  void add_to(Ending& ending, const mpi::Communicator& world) const;

 private:
  std::uint64_t stolen_;
  Seconds began_;
};

}  // namespace fabricbench
