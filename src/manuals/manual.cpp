#include "manuals/manual.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::manuals {
namespace {

std::vector<std::string> split(const std::string& text, std::string_view between) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to = 0; to != std::string::npos; from = to + between.size()) {
    to = text.find(between, from);
    parts.push_back(text.substr(from, to == std::string::npos ? to : to - from));
  }
  return parts;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void add_line(Manual& manual, const std::vector<std::string>& fields) {
  const std::string& kind = fields.front();
  if (kind == "name" && fields.size() == 2) {
    manual.name = fields[1];
  } else if (kind == "about" && fields.size() == 2) {
    manual.about.push_back(fields[1]);
  } else if (kind == "argument" && fields.size() == 3) {
    manual.arguments.push_back({fields[1], fields[2]});
  } else if (kind == "option" && fields.size() == 6) {
    manual.options.push_back({fields[1], split(fields[2], ", "), fields[3], fields[4], fields[5]});
  } else {
    throw std::runtime_error(fmt::format("a description has the line '{}'", fmt::join(fields, " ")));
  }
}

/// From where `start` begins a line to the next empty line.
std::string_view paragraph(std::string_view text, std::string_view start) {
  std::size_t place = text.find(start);
  while (place != std::string_view::npos && place != 0 && text[place - 1] != '\n') place = text.find(start, place + 1);
  if (place == std::string_view::npos) return {};
  text.remove_prefix(place);
  return text.substr(0, text.find("\n\n"));
}

}  // namespace

Manual read_manual(std::string_view described) {
  Manual manual;
  for (const std::string& line : lines_of(described)) add_line(manual, split(line, "\t"));
  if (manual.name.empty() || manual.about.empty() || manual.options.empty())
    throw std::runtime_error("a description lacks name, purpose or options");
  return manual;
}

std::vector<Command> read_commands(std::string_view help) {
  std::vector<Command> commands;
  for (const std::string& line : lines_of(help)) {
    std::istringstream words(line);
    Command command;
    if (!line.starts_with("  ") || !(words >> command.name) || std::islower(line[2]) == 0) continue;
    if (command.name == kFront) continue;  // an example
    std::getline(words >> std::ws, command.purpose);
    commands.push_back(command);
  }
  return commands;
}

std::vector<DescribedOption> options_in_help(std::string_view help) {
  std::vector<DescribedOption> options;
  for (const std::string& line : lines_of(help)) {
    if (!line.starts_with("  -")) continue;
    DescribedOption option{};
    // Names and words for values stand before two spaces.
    std::istringstream words(line.substr(2, line.find("  ", 2) - 2));
    for (std::string word; words >> word;) {
      word.erase(std::remove(word.begin(), word.end(), ','), word.end());
      if (word.starts_with("-")) {
        option.names.push_back(word);
      } else if (option.value.empty()) {  // the first of `HOSTS FOLDER`
        option.value = word;
      }
    }
    options.push_back(option);
  }
  return options;
}

std::vector<DescribedOption> options_named_in_help(std::string_view help, const std::vector<Command>& others) {
  std::vector<DescribedOption> named;
  std::istringstream words{std::string(paragraph(help, "How"))};
  for (std::string word; words >> word;) {
    word.erase(word.find_last_not_of(",.:;)") + 1);
    if (word == "--help") continue;  // points to the other's text
    for (const Command& other : others) {
      const std::vector<DescribedOption> options = options_in_help(other.help);
      const auto has_it = [&](const DescribedOption& option) { return option.names == std::vector{word}; };
      const auto option = std::find_if(options.begin(), options.end(), has_it);
      if (option == options.end()) continue;
      named.push_back(*option);
      break;
    }
  }
  return named;
}

bool takes_files(std::string_view help) {
  std::string usage(paragraph(help, "usage:"));
  usage += paragraph(help, "Usage:");
  for (std::size_t from = usage.find("[-"); from != std::string::npos; from = usage.find("[-", from))
    usage.erase(from, usage.find(']', from) - from);
  for (const std::string_view word : {"FILE", "file", ".jsonl"}) {
    if (usage.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace fabricbench::manuals
