#include <string>

#include <fmt/format.h>

#include "common/core/exit_status.h"
#include "manuals/manual.h"

namespace fabricbench::manuals {
namespace {

struct Meaning {
  ExitStatus status;
  std::string_view words;
};

constexpr Meaning kMeanings[] = {
    {ExitStatus::kOk, "every size was measured, and every check passed"},
    {ExitStatus::kFailure, "internal or run-time failure"},
    {ExitStatus::kUsage, "the command line cannot be carried out"},
    {ExitStatus::kMissing, "something needed is missing: memory, a device, a library, a launcher"},
    {ExitStatus::kTimeout, "a rank made no progress within the time limit"},
    {ExitStatus::kWrongData, "an operation delivered wrong data"},
    {ExitStatus::kTooSlow, "slower than required"},
    {ExitStatus::kNotJudged, "could not be judged: no data, or a baseline that does not match"},
};

/// `text` as troff prints it, also where it begins a line.
std::string escaped(std::string_view text) {
  std::string all = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char letter : text) {
    switch (letter) {
      case '\\': all += "\\e"; break;
      case '-': all += "\\-"; break;
      case '\'': all += "\\(aq"; break;
      case '^': all += "\\(ha"; break;
      case '~': all += "\\(ti"; break;
      default: all += letter;
    }
  }
  return all;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }

std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escaped(text)); }

/// The purpose, and examples as tagged paragraphs.
std::string description(const Manual& manual) {
  std::string text;
  for (const std::string& line : manual.about) {
    if (line.starts_with("      ")) {
      text += escaped(line.substr(6)) + "\n";
    } else if (line.starts_with("  ")) {
      text += ".TP\n" + bold(line.substr(2)) + "\n";
    } else {
      text += ".PP\n" + escaped(line) + "\n";
    }
  }
  return text;
}

std::string options(const Manual& manual) {
  std::string text = ".SH OPTIONS\n";
  std::string group;
  for (const DescribedOption& option : manual.options) {
    if (option.group != group) text += fmt::format(".SS {}\n", escaped(option.group));
    group = option.group;
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
    if (!option.value.empty()) names += " " + italic(option.value);
    text += fmt::format(".TP\n{}\n{}\n", names, escaped(option.help));
  }
  return text;
}

std::string commands(const Manual& manual) {
  std::string text = ".SH COMMANDS\n";
  for (const Command& command : manual.commands) {
    text += fmt::format(".SS {}\n{}\n", escaped(command.name), escaped(command.purpose));
    if (command.help.empty()) continue;
    text += ".PP\n.in 0\n.nf\n";  // its lines fit into 80 columns without an indent
    std::size_t from = 0;
    for (std::size_t to = command.help.find('\n'); to != std::string::npos; to = command.help.find('\n', from)) {
      text += escaped(std::string_view(command.help).substr(from, to - from)) + "\n";
      from = to + 1;
    }
    text += ".fi\n.in\n";
  }
  return text;
}

std::string exit_status(const Manual& manual) {
  for (const std::string& line : manual.about) {
    if (line.find("Exit status:") != std::string::npos) return "";
  }
  std::string text = ".SH EXIT STATUS\n";
  for (const Meaning& meaning : kMeanings)
    text += fmt::format(".TP\n.B {}\n{}\n", static_cast<int>(meaning.status), escaped(meaning.words));
  return text;
}

}  // namespace

std::string man_page(const Manual& manual, std::string_view version) {
  std::string_view purpose = manual.about.front();
  if (purpose.ends_with('.')) purpose.remove_suffix(1);
  std::string text = fmt::format(".TH \"{}\" 1 \"\" \"fabricbench {}\" \"fabricbench\"\n", manual.name, version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(manual.name), escaped(purpose));
  text += fmt::format(".SH SYNOPSIS\n{}", bold(manual.name));
  if (!manual.commands.empty()) {
    text += fmt::format(" {} ...\n.br\n{} {} [{}]", italic("COMMAND"), bold(manual.name), italic("PROGRAM"),
                        italic("OPTIONS"));
  }
  if (!manual.options.empty()) text += " [" + italic("OPTIONS") + "]";
  for (const Argument& argument : manual.arguments) text += " [" + italic(argument.word) + "]";
  text += "\n.SH DESCRIPTION\n" + description(manual);
  if (!manual.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const Argument& argument : manual.arguments)
    text += fmt::format(".TP\n{}\n{}\n", italic(argument.word), escaped(argument.help));
  if (!manual.options.empty()) text += options(manual);
  if (!manual.commands.empty()) text += commands(manual);
  text += exit_status(manual);
  if (manual.name != "fabricbench") text += ".SH SEE ALSO\n.BR fabricbench (1)\n";
  return text;
}

}  // namespace fabricbench::manuals
