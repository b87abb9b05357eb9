// The program preflight: everything about hosts that is worth knowing before a run.
#pragma once

#include "common/options/program.h"

namespace fabricbench::cluster {

/// From the command line to the exit status (ExitStatus). Starts and ends MPI; does not throw.
[[nodiscard]] int run_preflight(const Program& program, int argc, char** argv);

}  // namespace fabricbench::cluster
