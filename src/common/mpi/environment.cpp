#include "common/mpi/environment.h"

#include <cstdlib>

#include <mpi.h>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/mpi/check.h"

namespace fabricbench::mpi {
namespace {

struct LauncherVariables {
  const char* ranks;
  const char* rank;
};

/// Nearest launcher first: within a Slurm allocation, mpirun's own variables say more than Slurm's.
constexpr LauncherVariables kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"SLURM_NTASKS", "SLURM_PROCID"},
};

long number_in(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return end != text && *end == '\0' ? number : otherwise;
}

}  // namespace

Environment::Environment(int& argc, char**& argv) {
  // Not MPI_Init_thread: from MPI_THREAD_FUNNELED on, Open MPI takes locks that made an 8-byte all-reduce 40 %
  // slower. The watchdog's thread never calls MPI (docs/decisions/0003-threads.md).
  check(MPI_Init(&argc, &argv), "MPI_Init");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Environment::~Environment() {
  if (!has_ended_) MPI_Finalize();
}

void Environment::end() {
  has_ended_ = true;
  check(MPI_Finalize(), "MPI_Finalize");
}

void abort(ExitStatus status) {
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(status));
  std::_Exit(static_cast<int>(status));
}

std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  std::string first_part(text, static_cast<std::size_t>(length));
  return first_part.substr(0, first_part.find_first_of(",\n"));  // the rest is builder and date
}

Launch launch_from_environment() {
  for (const LauncherVariables& launcher : kLaunchers) {
    if (const long ranks = number_in(launcher.ranks, 0); ranks > 0) {
      return {launcher.ranks, ranks, number_in(launcher.rank, 0)};
    }
  }
  return {};
}

void check_launcher(const Launch& launch, int ranks) {
  if (ranks != 1 || launch.ranks <= 1) return;
  throw Error(ExitStatus::kMissing,
              fmt::format("{}={}, but every process is alone in its MPI ({}): the launcher belongs to another MPI than "
                          "the one this program is linked to; start it with that MPI's mpirun, or build it with the "
                          "launcher's MPI (to run one process on purpose, unset {})",
                          launch.variable, launch.ranks, library(), launch.variable));
}

}  // namespace fabricbench::mpi
