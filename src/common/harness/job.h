#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/mpi/communicator.h"
#include "common/options/program.h"

namespace fabricbench {

/// What all processes of a launch have agreed on before anything is set up.
struct Job {
  const mpi::Communicator& world;
  const Program& program;
  Options options;
  std::vector<std::string> command_line;  ///< this process's, with the program's name
};

/// The whole of a program, from the command line to the exit status (ExitStatus). Starts and ends MPI; does not throw.
/// `work` is called on every process and returns the exit status, the same on all. What it throws may be one process's
/// alone: that one names itself, and the job is aborted.
[[nodiscard]] int run_job(const Program& program, int argc, char** argv, const std::function<int(Job&)>& work);

/// The exit status of an error of set-up, which every process of `world` has found; the first one speaks. An error of
/// another kind is thrown again.
[[nodiscard]] int refuse(const mpi::Communicator& world, const std::string& program, const Error& error);

/// Ends the whole job for this process's error, naming the process.
[[noreturn]] void end_job(const std::string& program, const std::exception& error);

/// The seed that was asked for, or one that is drawn, the same on every process of `world`. Collective.
[[nodiscard]] std::uint64_t agreed_seed(const mpi::Communicator& world, const Options& options);

/// A line on standard error: `all_reduce_perf: what`.
void say(const std::string& program, const std::string& what);

}  // namespace fabricbench
