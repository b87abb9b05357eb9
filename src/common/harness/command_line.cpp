#include "common/harness/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <deque>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/core/error.h"
#include "common/core/version.h"

namespace fabricbench {
namespace {

std::vector<OptionSpec> specs_of(const ProgramFacts& program) {
  std::vector<OptionSpec> specs;
  for (const OptionSpec& spec : option_specs()) {
    if (spec.is_of(program)) specs.push_back(spec);
  }
  return specs;
}

std::string help_text(const OptionSpec& spec, const Options& defaults) {
  const std::string otherwise = spec.get(defaults);
  std::string text = spec.help;
  if (!spec.value_name.empty() && !otherwise.empty()) text += fmt::format(" [{}]", otherwise);
  if (!spec.environment.empty()) text += fmt::format(" (also by {})", spec.environment);
  return text;
}

/// The app and the texts that it reads the options' values into.
struct Parser {
  std::vector<OptionSpec> specs;  // of the program
  Options defaults;
  CLI::App app;
  std::deque<std::string> values;
  std::vector<CLI::Option*> options;
  bool version = false;
};

void declare(Parser& parser, const ProgramFacts& program) {
  for (const OptionSpec& spec : parser.specs) {
    std::string& value = parser.values.emplace_back();
    const std::string names = spec.names_for(program);
    const std::string help = help_text(spec, parser.defaults);
    CLI::Option* option =
        spec.value_name.empty() ? parser.app.add_flag(names, help) : parser.app.add_option(names, value, help);
    option->group(std::string(heading(spec.group)))->take_last();
    if (spec.value_name.empty()) {
      option->disable_flag_override();  // no --quiet=false: a flag has no value
    } else {
      option->option_text(spec.value_name);
    }
    parser.options.push_back(option);
  }
  parser.app.set_help_flag("-h,--help", "print this help and exit");
  parser.app.add_flag("--version", parser.version, "print the version and exit");
  parser.app.allow_extras();
  parser.app.get_formatter()->column_width(44);
}

[[noreturn]] void refuse_leftover(const std::string& leftover) {
  if (leftover.size() > 1 && leftover.front() == '-') {
    throw UsageError(fmt::format("unknown option '{}'; --help lists them all", leftover));
  }
  throw UsageError(fmt::format("stray argument '{}'; every setting is an option, and --help lists them", leftover));
}

/// An option's first names as the user may have typed them: `-b,--minbytes`.
std::string typed_name(const CLI::Option* option) {
  const std::string names = option->get_name(false, true);
  const std::size_t first = names.find(',');
  return names.substr(0, first == std::string::npos ? first : names.find(',', first + 1));
}

/// CLI11 takes whatever follows an option for its value, so `--json --force` would write a file named --force.
void refuse_options_as_values(const Parser& parser) {
  for (std::size_t i = 0; i < parser.values.size(); ++i) {
    const std::string& value = parser.values[i];
    if (value.size() < 2 || value.front() != '-' || parser.app.get_option_no_throw(value) == nullptr) continue;
    throw UsageError(fmt::format("{} wants a value, and was given the option '{}'; --help says which",
                                 typed_name(parser.options[i]), value));
  }
}

/// Runs CLI11 over the arguments. True where help was asked for.
bool read(Parser& parser, const std::vector<std::string>& arguments) {
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
    parser.app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ArgumentMismatch& problem) {
    const std::string what = problem.what();
    const CLI::Option* option = parser.app.get_option_no_throw(what.substr(0, what.find(':')));  // `--name: ...`
    throw UsageError(fmt::format("{}; --help says what each option takes",
                                 option == nullptr ? what : typed_name(option) + " wants a value, and was given none"));
  } catch (const CLI::ParseError& problem) {
    throw UsageError(fmt::format("{}; --help says what each option takes", problem.what()));
  }
  refuse_options_as_values(parser);
  if (const auto leftovers = parser.app.remaining(); !leftovers.empty()) refuse_leftover(leftovers.front());
  return false;
}

Options options_from(const Parser& parser, const ProgramFacts& program) {
  Options options = parser.defaults;
  for (std::size_t i = 0; i < parser.specs.size(); ++i) {
    if (parser.options[i]->count() == 0) continue;
    const OptionSpec& spec = parser.specs[i];
    spec.set(options, parser.values[i]);
    options.given.push_back(spec.key());
  }
  complete_options(program, options);
  check_combinations(program, options);
  return options;
}

}  // namespace

CommandLine parse_command_line(const ProgramFacts& program, const std::vector<std::string>& arguments) {
  Parser parser;
  parser.specs = specs_of(program);
  parser.defaults = default_options(program);
  parser.app.description(fmt::format("{}, of fabricbench {}. Launch it with mpirun or srun.", program.name, kVersion));
  parser.app.name(program.name);
  declare(parser, program);
  if (read(parser, arguments)) return {{}, parser.app.help()};
  if (parser.version) return {{}, fmt::format("{} (fabricbench) {}\n", program.name, kVersion)};
  return {options_from(parser, program), ""};
}

std::vector<std::string> arguments_with_environment(const ProgramFacts& program, int argc, char** argv) {
  std::vector<std::string> arguments;
  for (const OptionSpec& spec : specs_of(program)) {
    if (spec.environment.empty()) continue;
    const char* value = std::getenv(spec.environment.c_str());
    if (value != nullptr && *value != '\0') arguments.push_back(fmt::format("{}={}", spec.long_name(), value));
  }
  // nccl-tests' older form of --split, a mask in hexadecimal digits; it goes before the newer one there too.
  const char* mask = program.pairs ? nullptr : std::getenv("NCCL_TESTS_SPLIT_MASK");
  if (mask != nullptr && *mask != '\0') {
    const std::string digits(mask);
    const bool prefixed = digits.rfind("0x", 0) == 0 || digits.rfind("0X", 0) == 0;
    arguments.push_back(fmt::format("--split=AND {}{}", prefixed ? "" : "0x", digits));
  }
  arguments.insert(arguments.end(), argv + std::min(argc, 1), argv + argc);
  return arguments;
}

std::vector<std::pair<std::string, std::string>> option_values(const ProgramFacts& program, const Options& options) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const OptionSpec& spec : specs_of(program)) {
    if (std::string value = spec.get(options); !value.empty()) values.emplace_back(spec.key(), std::move(value));
  }
  return values;
}

}  // namespace fabricbench
