// What the programs in this directory have in common: beginning and end, and shares on their command lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "common/core/error.h"

namespace fabricbench::cluster {

/// Reads the command line into the variables of `app`'s options; `app` has its name and description. Adds --help and
/// --version, and returns false after printing one of them. Throws UsageError.
[[nodiscard]] bool read_command_line(CLI::App& app, int argc, char** argv);

/// Runs `work`, and returns its status as a number for `main`. Prints an exception to stderr as one line that begins
/// with the program's name, and returns its status (see status_of).
[[nodiscard]] int run_tool(std::string_view program, const std::function<ExitStatus()>& work);

/// The share of a port's rate that `--expect adapters` requires.
inline constexpr double kShareOfPort = 0.9;

/// Reads a share between 0 and 1 (exclusive), written as `5%` or `0.05`. Throws UsageError with `what`.
[[nodiscard]] double parse_share(std::string_view text, std::string_view what);

/// A share as help and options write it: `5%`.
[[nodiscard]] std::string share_text(double share);

}  // namespace fabricbench::cluster
