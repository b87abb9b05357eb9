#include "common/options/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <deque>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/core/error.h"
#include "common/core/version.h"
#include "common/options/help.h"

namespace fabricbench {
namespace {

/// The app, with the texts that it reads the options' values into.
struct Parser {
  explicit Parser(const Program& of) : program(of) {}

  const Program& program;
  CLI::App app;
  std::deque<std::string> values;
  std::vector<CLI::Option*> options;
  bool version = false;
};

void declare(Parser& parser) {
  for (const Option& spec : parser.program.options) {
    std::string& value = parser.values.emplace_back();
    const std::string help = help_of(spec, parser.program.defaults);
    CLI::Option* option = spec.value_name.empty() ? parser.app.add_flag(spec.names, help)
                                                  : parser.app.add_option(spec.names, value, help);
    option->group(std::string(name(spec.group)))->take_last();
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
}

[[noreturn]] void refuse_leftover(const std::string& leftover) {
  if (leftover.size() > 1 && leftover.front() == '-') {
    throw UsageError(fmt::format("unknown option '{}'; --help lists them all", leftover));
  }
  throw UsageError(fmt::format("stray argument '{}'; every setting is an option, and --help lists them", leftover));
}

/// An option's first names, as the user may have typed them: `-b,--minbytes`.
std::string typed_name(const CLI::Option* option) {
  const std::string names = option->get_name(false, true);
  const std::size_t first = names.find(',');
  return names.substr(0, first == std::string::npos ? first : names.find(',', first + 1));
}

/// CLI11 takes any following word as an option's value, so `--json --force` would write a file named --force.
void refuse_options_as_values(const Parser& parser) {
  for (std::size_t i = 0; i < parser.values.size(); ++i) {
    const std::string& value = parser.values[i];
    if (value.size() < 2 || value.front() != '-' || parser.app.get_option_no_throw(value) == nullptr) continue;
    throw UsageError(fmt::format("{} wants a value, and was given the option '{}'; --help says which",
                                 typed_name(parser.options[i]), value));
  }
}

/// Runs CLI11 over the arguments. Returns whether help was asked for.
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

Options options_from(const Parser& parser) {
  const Program& program = parser.program;
  Options options = program.defaults;
  for (std::size_t i = 0; i < program.options.size(); ++i) {
    if (parser.options[i]->count() == 0) continue;
    const Option& option = program.options[i];
    option.set(options, parser.values[i]);
    std::string value = option.get(options);
    const bool is_for_gpus = option.gpus_only && value != option.get(Options());
    options.given.push_back({option.key(), option.first_name(), std::move(value), is_for_gpus});
  }
  for (const auto& complete : program.completions) complete(options);
  for (const auto& check : program.checks) check(options);
  return options;
}

}  // namespace

CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments) {
  Parser parser(program);
  declare(parser);
  write_help(program, parser.app);
  if (read(parser, arguments)) return {{}, parser.app.help()};
  if (parser.version) return {{}, fmt::format("{} (fabricbench) {}\n", program.name, kVersion)};
  return {options_from(parser), ""};
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

std::vector<std::pair<std::string, std::string>> option_values(const Program& program, const Options& options) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Option& spec : program.options) {
    if (std::string value = spec.get(options); !value.empty()) values.emplace_back(spec.key(), std::move(value));
  }
  return values;
}

}  // namespace fabricbench
