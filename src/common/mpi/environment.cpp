#include "common/mpi/environment.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <mpi.h>

#include "common/mpi/communicator.h"

namespace fabricbench::mpi {
namespace {

constexpr int kMpichCuda = 0;  // MPIX_GPU_SUPPORT_CUDA

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

bool says_yes() {
  if (auto* ask = find<int()>("MPIX_Query_cuda_support")) return ask() == 1;
  if (auto* ask = find<int(int, int*)>("MPIX_GPU_query_support")) {
    int supported = 0;
    return ask(kMpichCuda, &supported) == 0 && supported == 1;
  }
  return false;
}

struct LauncherVariables {
  const char* name;
  const char* ranks;  ///< null: the launcher gives no number of processes, so that the first one may be alone
  const char* rank;   ///< null: no launcher, but an allocation, in which one can start processes
};

/// Nearest launcher first: within a Slurm allocation, mpirun's own variables say more than Slurm's. Flux, PALS and
/// jsrun may set those of PMI too. Sources: flux-environment(7); PALS of the HPE Cray Programming Environment; IBM's
/// jsrun; PMIx.
constexpr LauncherVariables kLaunchers[] = {
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"Flux", "FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
    {"jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},
    {"mpiexec", "PMI_SIZE", "PMI_RANK"},
    {"Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"Slurm", "SLURM_NTASKS", nullptr},  // a batch script has SLURM_PROCID too
    {"Slurm", "SLURM_JOB_NUM_NODES", nullptr},
    {"PALS", nullptr, "PALS_RANKID"},
    {"a PMIx launcher", nullptr, "PMIX_RANK"},
};

long number_in(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return end != text && *end == '\0' ? number : otherwise;
}

}  // namespace

std::string why_not_cuda_aware() {
  if (says_yes()) return "";
  return fmt::format("{} does not say that it is CUDA-aware; use one built with CUDA, or leave out --memory cuda",
                     library());
}

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
    const long rank = launcher.rank == nullptr ? -1 : number_in(launcher.rank, -1);
    if (launcher.ranks == nullptr) {
      if (rank > 0) return {launcher.rank, rank + 1, rank, launcher.name, false};
    } else if (const long ranks = number_in(launcher.ranks, 0); ranks > 0) {
      return {launcher.ranks, ranks, std::max(rank, 0L), launcher.name, true, rank >= 0};
    }
  }
  return {};
}

void check_launcher(const Launch& launch, int ranks) {
  if (ranks != 1 || launch.ranks <= 1) return;
  if (!launch.has_started) {
    throw Error(
        ExitStatus::kMissing,
        fmt::format("{}={}: this is an allocation of {}, but neither srun nor mpirun started this process; put one "
                    "of them before the program (to run one process on purpose, put 'srun -n 1' before it)",
                    launch.variable, launch.ranks, launch.name));
  }
  // Launchpad bug 2072338: that package's own mpirun cannot start its ranks.
  const bool is_mpich = library().starts_with("MPICH");
  throw Error(
      ExitStatus::kMissing,
      fmt::format("launched by {} ({}={}), but this MPI ({}) sees one rank: the launcher belongs to another MPI, "
                  "or lacks its plugin for this one; start the program with this MPI's mpirun{}, or build it with "
                  "the launcher's MPI (to run one process on purpose, unset {})",
                  launch.name, launch.variable, launch.knows_ranks ? launch.ranks : launch.rank, library(),
                  is_mpich ? " (MPICH of Ubuntu 24.04: with mpirun.openmpi)" : "", launch.variable));
}

}  // namespace fabricbench::mpi
