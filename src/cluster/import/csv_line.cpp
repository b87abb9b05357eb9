#include "cluster/import/csv_line.h"

#include <algorithm>

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

}  // namespace fabricbench::cluster
