#include "common/options/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "common/core/error.h"
#include "common/core/names.h"
#include "common/core/version.h"
#include "common/core/wording.h"
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
  const bool compares = !options.comparison.allowed.empty() ||
                        options.comparison.wanted_slowdown_percent != Options().comparison.wanted_slowdown_percent;
  if (options.comparison.baseline_file.empty() && compares) {
    throw UsageError("--allow and --detect are for the comparison with a baseline; give its file with --baseline");
  }
  if (options.expectation.strict && options.expectation.preset.empty()) {
    throw UsageError("--strict is for published figures; name them with --preset");
  }
  if (options.expectation.line_rate_gbit_per_s > 0 && options.expectation.expected_percent <= 0) {
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

namespace {

/// `line`, with `other` wherever `word` stands alone.
std::string with_word_replaced(const std::string& line, const std::string& word, const std::string& other) {
  std::string text;
  std::size_t from = 0;
  for (std::size_t place = line.find(word); place != std::string::npos; place = line.find(word, place + 1)) {
    const std::size_t end = place + word.size();
    const bool whole = (place == 0 || line[place - 1] == ' ') && (end == line.size() || line[end] == ' ');
    if (!whole || place < from) continue;
    text += line.substr(from, place - from) + other;
    from = end;
  }
  return text + line.substr(from);
}

/// CLI11's own type names, such as TEXT, are no words of ours.
std::string own_type(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.find('|') == std::string::npos ? "" : type;
}

constexpr std::size_t kColumns = 80;
constexpr std::size_t kTextColumn = 28;  // first column of an option's text

/// Every paragraph of `text` in lines of at most kColumns.
std::string in_lines(const std::string& text) {
  std::string all;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    const std::string indent(std::min(paragraph.find_first_not_of(' '), paragraph.size()), ' ');
    const std::vector<std::string> lines = wrapped(paragraph, kColumns - indent.size());
    all += fmt::format("{}{}\n", indent, fmt::join(lines, "\n" + indent));
  }
  return all;
}

/// CLI11's help in 80 columns, with one long name per option, of the program as the user called it.
class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string called) : called_(std::move(called)) {}

  std::string make_description(const CLI::App* app) const override {
    return in_lines(with_called_name(app->get_description(), app->get_name(), called_));
  }

  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    std::string text = fmt::format("Usage: {} [OPTIONS]", called_);
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      const std::string name = option->get_single_name() + (option->get_expected_max() > 1 ? "..." : "");
      text += fmt::format(" {}", option->get_required() ? name : "[" + name + "]");
    }
    return text + "\n\n";
  }

  std::string make_group(std::string group, bool /*is_positional*/,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, false);
    return text;
  }

  std::string make_option(const CLI::Option* option, bool /*is_positional*/) const override {
    std::string text = fmt::format("  {}", fmt::join(listed_names(*option), ", "));
    if (!option->get_option_text().empty()) text += " " + option->get_option_text();
    const std::string indent(kTextColumn, ' ');
    text += text.size() + 2 > kTextColumn ? "\n" + indent : std::string(kTextColumn - text.size(), ' ');
    const std::vector<std::string> lines = wrapped(option->get_description(), kColumns - kTextColumn);
    return fmt::format("{}{}\n", text, fmt::join(lines, "\n" + indent));
  }

 private:
  std::string called_;
};

/// An option's first names, as the user may have typed them: `-b,--minbytes`.
std::string typed_name(const CLI::Option* option) {
  const std::string names = option->get_name(false, true);
  const std::size_t first = names.find(',');
  return names.substr(0, first == std::string::npos ? first : names.find(',', first + 1));
}

/// CLI11 takes any following word as an option's value, so `--json --force` would write a file named --force.
void refuse_options_as_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0) continue;  // a flag
    for (const std::string& value : option->results()) {
      if (value.size() < 2 || value.front() != '-' || app.get_option_no_throw(value) == nullptr) continue;
      throw UsageError(
          fmt::format("{} needs a value, and was given the option '{}'; --help says which", typed_name(option), value));
    }
  }
}

/// `the nearest is --minbytes; `: up to three long names like `given`, nearest first; or empty.
std::string nearest_options(const CLI::App& app, const std::vector<OtherName>& others, std::string_view given) {
  if (!given.starts_with("--")) return "";
  given = given.substr(2, given.find('=') - 2);
  std::vector<NearName> known;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    std::vector<std::pair<std::size_t, std::string>> spellings;
    for (const std::string& name : option->get_lnames()) spellings.emplace_back(name_distance(given, name), name);
    if (spellings.empty()) continue;
    const auto& [distance, name] = *std::min_element(spellings.begin(), spellings.end());
    known.push_back({distance, "--" + name});
  }
  for (const OtherName& other : others) {
    known.push_back({name_distance(given, std::string_view(other.name).substr(2)), other.meaning});
  }
  const std::string nearest = the_nearest(given, std::move(known));
  return nearest.empty() ? "" : nearest + "; ";
}

void refuse_leftovers(const CLI::App& app, const std::vector<OtherName>& others) {
  const std::vector<std::string> leftovers = app.remaining();
  if (leftovers.empty()) return;
  const std::string& first = leftovers.front();
  if (first.size() > 1 && first.front() == '-') {
    throw UsageError(
        fmt::format("unknown option '{}'; {}--help lists them all", first, nearest_options(app, others, first)));
  }
  throw UsageError(fmt::format("stray argument '{}'; --help says what may be given", first));
}

/// CLI11's text begins with the option's name, and has a colon where a value is missing.
std::string without_value(const CLI::App& app, const std::string& problem) {
  if (problem.find("flag override") != std::string::npos) {
    return fmt::format("--{} takes no value", problem.substr(0, problem.find(' ')));
  }
  const CLI::Option* option = app.get_option_no_throw(problem.substr(0, problem.find(':')));
  return option == nullptr ? problem : typed_name(option) + " needs a value";
}

}  // namespace

std::vector<std::string> listed_names(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_single_name()};
  std::vector<std::string> names;
  for (const std::string& letter : option.get_snames()) names.push_back("-" + letter);
  names.push_back("--" + option.get_lnames().front());
  return names;
}

std::string with_called_name(const std::string& text, const std::string& name, const std::string& called) {
  if (name == called) return text;
  std::string all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    all += (line.starts_with("  ") ? with_word_replaced(line, name, called) : line) + "\n";
  return all;
}

std::string called_name(std::string_view path, const std::string& name) {
  const std::string_view last = path.substr(path.find_last_of('/') + 1);
  return last.ends_with(name) ? std::string(last) : name;
}

std::string describe_options(const CLI::App& app, const std::string& called) {
  std::string text = fmt::format("name\t{}\n", called);
  std::istringstream about(with_called_name(app.get_description(), app.get_name(), called));
  for (std::string line; std::getline(about, line);) text += fmt::format("about\t{}\n", line);
  for (const CLI::Option* option : app.get_options()) {
    const std::string names = fmt::format("{}", fmt::join(listed_names(*option), ", "));
    if (option->get_positional()) {
      text += fmt::format("argument\t{}\t{}\n", names, option->get_description());
    } else if (!option->get_group().empty()) {
      text += fmt::format("option\t{}\t{}\t{}\t{}\t{}\n", option->get_group(), names, option->get_option_text(),
                          option->get_description(), own_type(*option));
    }
  }
  return text;
}

std::string read_arguments(CLI::App& app, std::vector<std::string> arguments, const std::vector<OtherName>& others,
                           const std::string& called) {
  const std::string name = called.empty() ? app.get_name() : called;
  app.formatter(std::make_shared<HelpFormatter>(name));
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", fmt::format("{} (fabricbench) {}", app.get_name(), kVersion),
                       "print the version and exit");
  if (!arguments.empty() && arguments.back() == kDescribeOptions) return describe_options(app, name);
  app.allow_extras();
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion& version) {
    return fmt::format("{}\n", version.what());
  } catch (const CLI::ArgumentMismatch& problem) {
    throw UsageError(fmt::format("{}; --help says what each option takes", without_value(app, problem.what())));
  } catch (const CLI::ParseError& problem) {
    throw UsageError(fmt::format("{}; --help says what each option takes", problem.what()));
  }
  refuse_options_as_values(app);
  refuse_leftovers(app, others);
  return "";
}

}  // namespace fabricbench
