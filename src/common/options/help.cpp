#include "common/options/help.h"

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/core/version.h"

namespace fabricbench {
namespace {

/// The program's purpose, its call, and three examples.
std::string description_of(const Program& program) {
  std::string text = program.summary + "\n";
  text += fmt::format("Part of fabricbench {}. Start it with mpirun or srun:\n", kVersion);
  for (const Example& example : program.examples)
    text += fmt::format("  {}\n      {}\n", example.command, example.what);
  return text;
}

/// Explains dashes in names by one example; empty if no option has two long names.
std::string footer_of(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    if (names.size() > 1) return fmt::format("Names may have dashes between words: --{} is --{}.", names[1], names[0]);
  }
  return "";
}

}  // namespace

std::string help_of(const Option& option, const Options& defaults) {
  const std::string otherwise = option.get(defaults);
  std::string text = option.help;
  if (!option.value_name.empty() && !otherwise.empty()) text += fmt::format(" [{}]", otherwise);
  if (!option.environment.empty()) text += fmt::format(" (also by {})", option.environment);
  return text;
}

void write_help(const Program& program, CLI::App& app) {
  app.name(program.name);
  app.description(description_of(program));
  app.footer(footer_of(app));
}

}  // namespace fabricbench
