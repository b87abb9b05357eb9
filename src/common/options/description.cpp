#include "common/options/description.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

namespace fabricbench {
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

}  // namespace fabricbench
