#pragma once

#include "common/options/program.h"

namespace fabricbench {

/// Runs a program that copies between GPUs and memory within hosts. Starts and ends MPI; does not throw.
[[nodiscard]] int run_copies(const Program& program, int argc, char** argv);

}  // namespace fabricbench
