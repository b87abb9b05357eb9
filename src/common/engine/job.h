#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "common/mpi/communicator.h"
#include "common/options/program.h"

namespace fabricbench {

/// The facts on which all processes of a launch agree before set-up.
struct Job {
  const mpi::Communicator& world;
  const Program& program;
  Options options;
  std::vector<std::string> command_line;  ///< this process's, with the program's name
};

/// Ends the whole job because of this process's error. The message names the process.
[[noreturn]] void end_job(const std::string& program, const std::exception& error);

/// The seed from the options, or a random one; the same on every process of `world`. Collective.
[[nodiscard]] std::uint64_t agreed_seed(const mpi::Communicator& world, const Options& options);

/// A line on standard error: `all_reduce_perf: what`.
void say(const std::string& program, const std::string& what);

}  // namespace fabricbench
