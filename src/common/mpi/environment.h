#pragma once

#include <string>

#include "common/core/error.h"
#include "common/core/ownership.h"

namespace fabricbench::mpi {

/// Why this process's MPI library does not accept GPU memory; empty if it says that it does. Asked at run time: Open
/// MPI's MPIX_Query_cuda_support, MPICH's MPIX_GPU_query_support.
[[nodiscard]] std::string why_not_cuda_aware();

/// MPI from MPI_Init to MPI_Finalize. One per process; only the main thread calls MPI.
class Environment : NotCopied {
 public:
  Environment(int& argc, char**& argv);
  /// Calls MPI_Finalize, unless `end` did. A program that has failed calls `abort` instead.
  ~Environment();
  /// Calls MPI_Finalize. Throws Error if that fails.
  void end();

 private:
  bool has_ended_ = false;
};

/// Ends every rank of the job with `status`; does not return.
[[noreturn]] void abort(ExitStatus status);

/// The MPI library's name and version, in one short line.
[[nodiscard]] std::string library();

/// The number of ranks and this process's rank, from the launcher's variables.
struct Launch {
  std::string variable;  ///< which one gave the number, or the rank; empty: started without a launcher
  long ranks = 1;        ///< at least, where the launcher does not give their number
  long rank = 0;
  std::string name{};       ///< of the launcher
  bool knows_ranks = true;  ///< whether `ranks` is their number
  bool has_started = true;  ///< whether it started this process: an allocation alone has no rank

  /// The lowest rank that can see that other processes were launched with it.
  [[nodiscard]] long first_to_know() const { return knows_ranks ? 0 : 1; }
};
/// Open MPI changes the variables of a process that was started by another launcher, so `check_launcher` needs what
/// they are before MPI starts.
[[nodiscard]] Launch launch_from_environment();

/// Throws Error (missing) if the launcher started several processes but each is alone in its MPI: the program was
/// linked to another MPI library than the launcher's. `ranks` is MPI's own number.
void check_launcher(const Launch& launch, int ranks);

}  // namespace fabricbench::mpi
