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

constexpr std::size_t kColumns = 100;
constexpr std::size_t kTextColumn = 32;  // first column of an option's text

/// `text` in lines of at most `columns`.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

/// CLI11's help in 100 columns, with one long name per option: other names differ only by dashes.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    return fmt::format("Usage: {} [OPTIONS]\n\n", name);
  }

  std::string make_group(std::string group, bool /*is_positional*/,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, false);
    return text;
  }

  std::string make_option(const CLI::Option* option, bool /*is_positional*/) const override {
    std::string text = fmt::format("  {}", names_of(*option));
    if (!option->get_option_text().empty()) text += " " + option->get_option_text();
    const std::string indent(kTextColumn, ' ');
    text += text.size() + 2 > kTextColumn ? "\n" + indent : std::string(kTextColumn - text.size(), ' ');
    const std::vector<std::string> lines = wrapped(option->get_description(), kColumns - kTextColumn);
    return fmt::format("{}{}\n", text, fmt::join(lines, "\n" + indent));
  }

 private:
  static std::string names_of(const CLI::Option& option) {
    std::string names;
    for (const std::string& letter : option.get_snames()) names += fmt::format("-{}, ", letter);
    return names + "--" + option.get_lnames().front();
  }
};

/// The program's purpose, its call, and three examples.
std::string description_of(const Program& program) {
  std::string text;
  for (const std::string& line : wrapped(program.summary, kColumns)) text += line + "\n";
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
  app.formatter(std::make_shared<HelpFormatter>());
  app.name(program.name);
  app.description(description_of(program));
  app.footer(footer_of(app));
}

}  // namespace fabricbench
