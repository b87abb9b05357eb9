#include "common/host/environment.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <unistd.h>

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 12> kPrefixes = {"NCCL_",  "OMPI_MCA_", "UCX_",      "UCC_", "MPICH_", "MV2_",
                                                        "I_MPI_", "FI_",       "PMIX_MCA_", "OMP_", "CUDA_",  "GOMP_"};
constexpr std::array<std::string_view, 8> kNames = {"LD_LIBRARY_PATH", "SLURM_JOB_ID",        "SLURM_NNODES",
                                                    "SLURM_NTASKS",    "SLURM_CPU_BIND",      "PBS_JOBID",
                                                    "LSB_JOBID",       "OMPI_COMM_WORLD_SIZE"};

/// What Open MPI's launcher tells its own processes: addresses, directories, the key of the job's transports.
constexpr std::array<std::string_view, 5> kPrivatePrefixes = {"OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
                                                              "OMPI_MCA_initial_wdir", "OMPI_MCA_prte_"};

bool listed(std::string_view name) {
  const auto starts = [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; };
  if (std::any_of(kPrivatePrefixes.begin(), kPrivatePrefixes.end(), starts)) return false;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), starts) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> communication_variables() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !listed(text.substr(0, equals))) continue;
    variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

std::string found_on_path(std::string_view program) {
  const auto runs = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string_view::npos) return runs(program) ? std::string(program) : "";
  const char* const variable = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets it meanwhile
  std::istringstream folders(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder.empty() ? "." : folder) / program;
    if (runs(path)) return path.string();
  }
  return "";
}

std::string switches_above() {
  const char* const address = std::getenv("SLURM_TOPOLOGY_ADDR");
  const std::string_view path(address == nullptr ? "" : address);
  const std::size_t host = path.rfind('.');
  return host == std::string_view::npos ? std::string() : std::string(path.substr(0, host));
}

}  // namespace fabricbench::host
