#include "cluster/import/csv_lines.h"

#include <algorithm>

#include "cluster/import/text.h"

namespace fabricbench::cluster {

char csv_separator(std::string_view line) {
  char most = ',';
  for (const char separator : {';', '\t'}) {
    if (std::count(line.begin(), line.end(), separator) > std::count(line.begin(), line.end(), most)) most = separator;
  }
  return most;
}

std::vector<std::string> csv_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    const bool doubled = quoted && letter == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled) {
      fields.back() += '"';
      ++i;
    } else if (letter == '"') {
      quoted = !quoted;
    } else if (letter == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += letter;
    }
  }
  return fields;
}

bool is_among(std::string_view word, const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), lower(trimmed(word))) != words.end();
}

bool is_missing_value(std::string_view value) { return is_among(value, {"", "-", "x", "nan", "null", "none", "n/a"}); }

bool is_word_of_failure(std::string_view value) {
  return is_among(value, {"failed", "fail", "failure", "error", "timeout", "timed out", "unreachable"});
}

const std::vector<std::string_view>& words_for_sender() {
  static const std::vector<std::string_view> words = {"from", "from_host", "src", "source", "sender", "client"};
  return words;
}

const std::vector<std::string_view>& words_for_receiver() {
  static const std::vector<std::string_view> words = {"to",          "to_host",  "dst",   "dest",
                                                      "destination", "receiver", "server"};
  return words;
}

std::optional<double> unit_in_title(std::string_view title) {
  if (trimmed(title) == "bandwidth_gb_per_s") return 1e9;
  const std::size_t open = title.find_first_of("([");
  if (open == std::string_view::npos) return unit_in(title);
  return unit_in(title.substr(open + 1, title.find_first_of(")]", open) - open - 1));
}

}  // namespace fabricbench::cluster
