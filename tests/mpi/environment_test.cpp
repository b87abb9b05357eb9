// Which launcher started the job, and what is said when it belongs to another MPI.

#include "common/mpi/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "common/core/error.h"
#include "common/mpi/communicator.h"

namespace fabricbench::mpi {
namespace {

/// The environment of this process with none but the given launcher variables, until the end of the scope.
class LauncherVariables {
 public:
  explicit LauncherVariables(const std::map<std::string, std::string>& variables) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
                             "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_PROCID"}) {
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
    {"srun without a step", {{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "7"}}, {"SLURM_NTASKS", 8, 7}},
    {"mpirun within an allocation of Slurm",
     {{"SLURM_NTASKS", "64"}, {"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}},
     {"OMPI_COMM_WORLD_SIZE", 4, 2}},
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

TEST(Environment, LaunchOfThisJobAgreesWithMpi) {
  const Communicator world = Communicator::world();
  const Launch launch = launch_from_environment();
  if (launch.variable.empty()) GTEST_SKIP() << "started without a launcher";
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
  try {
    check_launcher({"PMI_SIZE", 4, 2}, 1);
    ADD_FAILURE() << "no error, though each of four processes is alone";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_NE(message.find("PMI_SIZE=4"), std::string::npos) << message;
    EXPECT_NE(message.find(library()), std::string::npos) << message;
  }
}

TEST(Environment, LibraryIsOneShortLine) {
  EXPECT_FALSE(library().empty());
  EXPECT_LT(library().size(), 80u);
  EXPECT_EQ(library().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace fabricbench::mpi
