#include "cluster/tools/tool.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/core/version.h"

namespace fabricbench::cluster {
namespace {

/// CLI11 takes any following word as an option's value, so `--json --quiet` would write a file named --quiet.
void refuse_options_as_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0) continue;  // a flag
    for (const std::string& value : option->results()) {
      if (value.size() < 2 || value.front() != '-' || app.get_option_no_throw(value) == nullptr) continue;
      throw UsageError(
          fmt::format("{} wants a value, and was given the option '{}'; --help says which", option->get_name(), value));
    }
  }
}

void refuse_leftover(const std::string& leftover) {
  if (leftover.size() > 1 && leftover.front() == '-') {
    throw UsageError(fmt::format("unknown option '{}'; --help lists them all", leftover));
  }
  throw UsageError(fmt::format("stray argument '{}'; --help says what may be given", leftover));
}

}  // namespace

bool read_command_line(CLI::App& app, int argc, char** argv) {
  bool version = false;
  app.set_help_flag("-h,--help", "print this help and exit");
  app.add_flag("--version", version, "print the version and exit");
  app.allow_extras();
  app.get_formatter()->column_width(34);
  std::vector<std::string> reversed(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::reverse(reversed.begin(), reversed.end());  // CLI11 takes them from the back
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return false;
  } catch (const CLI::ParseError& problem) {
    throw UsageError(fmt::format("{}; --help says what each option takes", problem.what()));
  }
  if (version) {
    fmt::print("{} (fabricbench) {}\n", app.get_name(), kVersion);
    return false;
  }
  refuse_options_as_values(app);
  if (const auto leftovers = app.remaining(); !leftovers.empty()) refuse_leftover(leftovers.front());
  return true;
}

int run_tool(std::string_view program, const std::function<ExitStatus()>& work) {
  try {
    return static_cast<int>(work());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, printable(error.what()));
    return static_cast<int>(fabricbench::status_of(error));
  }
}

}  // namespace fabricbench::cluster
