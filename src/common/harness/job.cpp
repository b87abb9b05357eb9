#include "common/harness/job.h"

#include <cstdio>
#include <exception>
#include <random>

#include <fmt/format.h>

#include "common/host/identity.h"
#include "common/mpi/environment.h"
#include "common/options/command_line.h"
#include "common/report/output_file.h"

namespace fabricbench {
namespace {

/// The first process's arguments on every process, so that no two can disagree about an option.
std::vector<std::string> agreed_arguments(const mpi::Communicator& world, const Program& program, int argc,
                                          char** argv) {
  std::string packed;
  for (const std::string& argument : arguments_with_environment(program, argc, argv)) packed += argument + '\0';
  packed = world.broadcast(std::move(packed));
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < packed.size();) {
    const std::size_t end = packed.find('\0', begin);
    arguments.push_back(packed.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

int run_agreed(const Program& program, int argc, char** argv, const std::function<int(Job&)>& work) {
  const mpi::Communicator world = mpi::Communicator::world();
  CommandLine line;
  try {
    mpi::check_launcher(mpi::launch_from_environment(), world.size());
    line = parse_command_line(program, agreed_arguments(world, program, argc, argv));
  } catch (const Error& error) {
    return refuse(world, program.name, error);
  }
  if (!line.text.empty()) {
    if (world.is_root()) OutputFile::standard_output().write(line.text);
    return 0;
  }
  Job job{world, program, std::move(line.options), {argv, argv + argc}};
  return work(job);
}

}  // namespace

void say(const std::string& program, const std::string& what) {
  fmt::print(stderr, "{}: {}\n", program, what);
  std::fflush(stderr);
}

void end_job(const std::string& program, const std::exception& error) {
  const mpi::Launch launch = mpi::launch_from_environment();
  say(program, fmt::format("rank {} on {}: {}", launch.rank, host::host_name(), error.what()));
  mpi::abort(status_of(error));
}

int refuse(const mpi::Communicator& world, const std::string& program, const Error& error) {
  if (error.status() != ExitStatus::kUsage && error.status() != ExitStatus::kMissing) throw error;
  // Processes that are each alone in their MPI are all rank 0 there; the launcher knows the first of them.
  const bool first = world.size() > 1 || mpi::launch_from_environment().rank == 0;
  if (world.is_root() && first) say(program, error.what());
  return static_cast<int>(error.status());
}

std::uint64_t agreed_seed(const mpi::Communicator& world, const Options& options) {
  std::random_device random;
  const auto drawn = static_cast<std::int64_t>(random());
  return options.seed ? *options.seed : static_cast<std::uint64_t>(world.broadcast(drawn));
}

int run_job(const Program& program, int argc, char** argv, const std::function<int(Job&)>& work) {
  try {
    const mpi::Environment mpi(argc, argv);
    try {
      return run_agreed(program, argc, argv, work);
    } catch (const std::exception& error) {
      end_job(program.name, error);
    }
  } catch (const std::exception& error) {  // MPI itself did not start
    say(program.name, error.what());
    return static_cast<int>(ExitStatus::kFailure);
  }
}

}  // namespace fabricbench
