// Which launcher started the job, and what is said when it belongs to another MPI.

#include "common/mpi/environment.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/core/error.h"
#include "common/mpi/communicator.h"

namespace fabricbench::mpi {
namespace {

/// The environment of this process with none but the given launcher variables, until the end of the scope.
class LauncherVariables {
 public:
  explicit LauncherVariables(const std::map<std::string, std::string>& variables) {
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK", "SLURM_STEP_NUM_TASKS",
          "SLURM_NTASKS", "SLURM_JOB_NUM_NODES", "SLURM_PROCID", "FLUX_JOB_SIZE", "FLUX_TASK_RANK",
          "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "PALS_RANKID", "PMIX_RANK"}) {
      const char* value = std::getenv(name);
      before_[name] = value != nullptr ? std::optional<std::string>(value) : std::nullopt;
      unsetenv(name);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  LauncherVariables(const LauncherVariables&) = delete;
  LauncherVariables& operator=(const LauncherVariables&) = delete;
  ~LauncherVariables() {
    for (const auto& [name, value] : before_) {
      unsetenv(name.c_str());
      if (value) setenv(name.c_str(), value->c_str(), 1);
    }
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

struct LaunchExample {
  const char* what;
  std::map<std::string, std::string> variables;
  Launch expected;
};

const LaunchExample kLaunches[] = {
    {"no launcher", {}, {"", 1, 0}},
    {"mpirun of Open MPI",
     {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}},
     {"OMPI_COMM_WORLD_SIZE", 4, 3}},
    {"mpiexec of MPICH", {{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}, {"PMI_SIZE", 2, 1}},
    {"srun", {{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "7"}}, {"SLURM_STEP_NUM_TASKS", 8, 7}},
    {"a script of sbatch", {{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}, {"SLURM_NTASKS", 8, 0}},
    {"salloc -N 2", {{"SLURM_JOB_NUM_NODES", "2"}}, {"SLURM_JOB_NUM_NODES", 2, 0}},
    {"mpirun within an allocation of Slurm",
     {{"SLURM_NTASKS", "64"}, {"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}},
     {"OMPI_COMM_WORLD_SIZE", 4, 2}},
    {"Flux, which sets PMI's variables too",
     {{"FLUX_JOB_SIZE", "4"}, {"FLUX_TASK_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_RANK", "3"}},
     {"FLUX_JOB_SIZE", 4, 3}},
    {"jsrun",
     {{"JSM_NAMESPACE_SIZE", "6"}, {"JSM_NAMESPACE_RANK", "5"}, {"PMIX_RANK", "5"}},
     {"JSM_NAMESPACE_SIZE", 6, 5}},
    {"PALS, which gives a rank alone", {{"PALS_RANKID", "3"}}, {"PALS_RANKID", 4, 3}},
    {"PMIx", {{"PMIX_RANK", "1"}}, {"PMIX_RANK", 2, 1}},
    {"the first rank of PMIx, which may be alone", {{"PMIX_RANK", "0"}}, {"", 1, 0}},
    {"not a number", {{"PMI_SIZE", "two"}, {"PMI_RANK", "1"}}, {"", 1, 0}},
    {"a number and more", {{"PMI_SIZE", "2x"}, {"PMI_RANK", "1"}}, {"", 1, 0}},
    {"nothing", {{"PMI_SIZE", ""}}, {"", 1, 0}},
};

TEST(Environment, LauncherIsToldByItsVariables) {
  for (const LaunchExample& example : kLaunches) {
    const LauncherVariables variables(example.variables);
    const Launch launch = launch_from_environment();
    EXPECT_EQ(launch.variable, example.expected.variable) << example.what;
    EXPECT_EQ(launch.ranks, example.expected.ranks) << example.what;
    EXPECT_EQ(launch.rank, example.expected.rank) << example.what;
  }
}

TEST(Environment, LaunchersThatGiveNoNumberLetTheSecondRankSpeak) {
  const std::map<std::string, std::string> set = {{"PALS_RANKID", "1"}};
  const LauncherVariables variables(set);
  EXPECT_EQ(launch_from_environment().first_to_know(), 1);
}

TEST(Environment, AllocationHasNotStartedTheProcess) {
  const std::map<std::string, std::string> set = {{"SLURM_NTASKS", "8"}};
  const LauncherVariables variables(set);
  try {
    check_launcher(launch_from_environment(), 1);
    ADD_FAILURE() << "no error, though there are eight tasks";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_STREQ(
        error.what(),
        "SLURM_NTASKS=8: this is an allocation of Slurm, but neither srun nor mpirun started this process; put one "
        "of them before the program (to run one process on purpose, put 'srun -n 1' before it)");
  }
}

TEST(Environment, LaunchOfThisJobAgreesWithMpi) {
  const Communicator world = Communicator::world();
  const Launch launch = launch_from_environment();
  if (launch.variable.empty() || !launch.knows_ranks) GTEST_SKIP() << "started without a launcher that tells";
  EXPECT_EQ(launch.ranks, world.size());
  EXPECT_EQ(launch.rank, world.rank());
}

TEST(Environment, RanksTogetherAreRight) {
  EXPECT_NO_THROW(check_launcher({"", 1, 0}, 1)) << "no launcher, one rank";
  EXPECT_NO_THROW(check_launcher({"PMI_SIZE", 1, 0}, 1)) << "a launcher, one rank";
  EXPECT_NO_THROW(check_launcher({"PMI_SIZE", 4, 0}, 4)) << "a launcher, four ranks";
  EXPECT_NO_THROW(check_launcher({"", 1, 0}, 4)) << "a launcher that we do not know";
  EXPECT_NO_THROW(check_launcher({"SLURM_NTASKS", 64, 0}, 4)) << "a part of an allocation";
}

TEST(Environment, ForeignLauncherIsNamed) {
  const std::pair<std::map<std::string, std::string>, std::string> launches[] = {
      {{{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}}, "launched by mpiexec (PMI_SIZE=4)"},
      {{{"FLUX_JOB_SIZE", "4"}, {"FLUX_TASK_RANK", "0"}}, "launched by Flux (FLUX_JOB_SIZE=4)"},
      {{{"PALS_RANKID", "3"}}, "launched by PALS (PALS_RANKID=3)"},
  };
  for (const auto& [variables, beginning] : launches) {
    const LauncherVariables only(variables);
    try {
      check_launcher(launch_from_environment(), 1);
      ADD_FAILURE() << "no error, though each of several processes is alone";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kMissing);
      EXPECT_TRUE(std::string(error.what())
                      .starts_with(fmt::format("{}, but this MPI ({}) sees one rank: ", beginning, library())))
          << error.what();
    }
  }
}

TEST(Environment, LibraryIsOneShortLine) {
  EXPECT_FALSE(library().empty());
  EXPECT_LT(library().size(), 80u);
  EXPECT_EQ(library().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace fabricbench::mpi
