#include "common/options/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/core/error.h"
#include "common/core/version.h"
#include "common/options/arguments.h"
#include "common/options/other_tools.h"

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

/// A name without its dashes and underscores.
std::string without_dashes(std::string name) {
  std::erase_if(name, [](char letter) { return letter == '-' || letter == '_'; });
  return name;
}

/// Explains dashes in names by one example; empty if no option has two long names.
std::string footer_of(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    if (names.size() > 1 && without_dashes(names[1]) == without_dashes(names[0]))
      return fmt::format("Names may have dashes between words: --{} is --{}.", names[1], names[0]);
  }
  return "";
}

/// Gives `app` its --help: the program's purpose, three examples, and the options, in 80 columns.
void write_help(const Program& program, CLI::App& app) {
  app.name(program.name);
  app.description(description_of(program));
  app.footer(footer_of(app));
}

/// The app, with the texts that it reads the options' values into.
struct Parser {
  explicit Parser(const Program& of) : program(of) {}

  const Program& program;
  CLI::App app;
  std::deque<std::string> values;
  std::vector<CLI::Option*> options;
};

void declare(Parser& parser) {
  for (const Option& spec : parser.program.options) {
    std::string& value = parser.values.emplace_back();
    const std::string help = help_of(spec, parser.program.defaults);
    CLI::Option* option = spec.value_name.empty() ? parser.app.add_flag(spec.names, help)
                                                  : parser.app.add_option(spec.names, value, help);
    option->group(spec.listed ? std::string(name(spec.group)) : "")->take_last();
    if (spec.value_name.empty()) {
      option->disable_flag_override();  // no --quiet=false: a flag has no value
    } else {
      option->option_text(spec.value_name);
      option->type_name(fmt::format("{}", fmt::join(spec.words, "|")));  // for --describe-options
    }
    parser.options.push_back(option);
  }
}

/// Sets an option. Where its value is refused, the message also says what another tool means by its name.
void set(const Program& program, const Option& option, std::string_view value, Options& options) {
  try {
    option.set(options, value);
  } catch (const UsageError& error) {
    throw UsageError(error.what() + other_meaning(program, option));
  }
}

Options options_from(const Parser& parser) {
  const Program& program = parser.program;
  Options options = program.defaults;
  for (std::size_t i = 0; i < program.options.size(); ++i) {
    if (parser.options[i]->count() == 0) continue;
    const Option& option = program.options[i];
    set(program, option, parser.values[i], options);
    std::string value = option.get(options);
    const bool is_for_gpus = option.gpus_only && value != option.get(Options());
    options.given.push_back({option.key(), option.first_name(), std::move(value), is_for_gpus, option.why_unused});
  }
  if (options.has_given({"stepbytes"}) && !options.has_given({"stepfactor"})) options.sizes.step_factor = 1;
  for (const auto& complete : program.completions) complete(options);
  for (const auto& check : program.checks) check(options);
  const bool compares =
      !options.allowed.empty() || options.wanted_slowdown_percent != Options().wanted_slowdown_percent;
  if (options.baseline_file.empty() && compares) {
    throw UsageError("--allow and --detect are for the comparison with a baseline; give its file with --baseline");
  }
  if (options.strict && options.preset.empty()) {
    throw UsageError("--strict is for published figures; name them with --preset");
  }
  if (options.line_rate_gbit_per_s > 0 && options.expected_percent <= 0) {
    throw UsageError("--line-rate is for --expect; give the share that is required, such as --expect 80");
  }
  return options;
}

}  // namespace

std::string help_of(const Option& option, const Options& defaults) {
  const std::string otherwise = option.get(defaults);
  std::string text = option.help;
  if (!option.value_name.empty() && !otherwise.empty()) text += fmt::format(" [{}]", otherwise);
  if (!option.environment.empty()) text += fmt::format(" (also by {})", option.environment);
  return text;
}

CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments,
                               const std::string& called) {
  Parser parser(program);
  declare(parser);
  write_help(program, parser.app);
  Translated own = translate_options(program, arguments);
  if (std::string text = read_arguments(parser.app, own.arguments, other_names(program), called); !text.empty())
    return {{}, std::move(text), {}};
  return {options_from(parser), "", std::move(own.notices)};
}

std::vector<std::string> arguments_with_environment(const Program& program, int argc, char** argv) {
  std::vector<std::string> arguments;
  for (const Option& spec : program.options) {
    if (spec.environment.empty()) continue;
    const char* value = std::getenv(spec.environment.c_str());
    if (value != nullptr && *value != '\0') arguments.push_back(fmt::format("{}={}", spec.long_name(), value));
  }
  // nccl-tests' older form of --split, a hexadecimal mask; it comes first here as there.
  const char* mask = program.has_split_mask ? std::getenv("NCCL_TESTS_SPLIT_MASK") : nullptr;
  if (mask != nullptr && *mask != '\0') {
    const std::string digits(mask);
    const bool prefixed = digits.rfind("0x", 0) == 0 || digits.rfind("0X", 0) == 0;
    arguments.push_back(fmt::format("--split=AND {}{}", prefixed ? "" : "0x", digits));
  }
  arguments.insert(arguments.end(), argv + std::min(argc, 1), argv + argc);
  return arguments;
}

}  // namespace fabricbench
