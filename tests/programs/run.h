#pragma once

// What the programs of the tests have besides the program itself: it lasts for one run of one program.

#include <span>
#include <string_view>

namespace fabricbench::test {

struct Program {
  std::string_view name;
  int (*run)(int argc, char** argv);
};

/// All programs of the suite.
[[nodiscard]] std::span<const Program> programs();

/// Reads what the environment asks of the clock (fake_clock.cpp), and starts it anew.
void start_clock();
/// Forgets what calls of MPI were counted and what they received (faulty_mpi.cpp).
void forget_calls();
/// Whether MPI says that it is CUDA-aware (cuda_aware_mpi.cpp).
void be_cuda_aware(bool yes);

}  // namespace fabricbench::test
