// For how long the thread that measures has waited for a processor: what a test says, found here before the library is
// searched. On a busy machine the kernel's answer would be another one in every run.
//
// Environment:
//   FAKE_PROCESSOR_WAIT       share of the time; none: not known
//   FAKE_PROCESSOR_WAIT_RANK  of this rank, 0 of the others; none: of all
#include <cstdlib>

#include "common/core/clock.h"
#include "common/host/usage.h"
#include "common/mpi/environment.h"

namespace fabricbench::host {

std::optional<double> processor_wait(const std::filesystem::path& /*root*/) {
  const char* const share = std::getenv("FAKE_PROCESSOR_WAIT");
  if (share == nullptr) return std::nullopt;
  const char* const rank = std::getenv("FAKE_PROCESSOR_WAIT_RANK");
  if (rank != nullptr && mpi::launch_from_environment().rank != std::atoi(rank)) return 0;
  return std::atof(share) * now();
}

}  // namespace fabricbench::host
