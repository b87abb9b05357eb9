// The beginning and the end of the programs in this directory.
#pragma once

#include <functional>
#include <string_view>

#include <CLI/CLI.hpp>

#include "common/core/exit_status.h"

namespace fabricbench::cluster {

/// Parses the command line into the variables that `app`'s options are bound to. `app` has its name and description.
/// Adds --help and --version; returns false if one of them was given and has been printed. Throws UsageError.
[[nodiscard]] bool read_command_line(CLI::App& app, int argc, char** argv);

/// Runs `work`, and returns its status for `main`. An exception is printed to stderr as one line that begins with the
/// program's name, and gives the status (see status_of).
[[nodiscard]] int run_tool(std::string_view program, const std::function<ExitStatus()>& work);

}  // namespace fabricbench::cluster
