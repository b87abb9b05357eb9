#include "cluster/import/json_documents.h"

#include <algorithm>

namespace fabricbench::cluster {
namespace {

/// The place behind the object that begins at `begin`, or the end of the text.
std::size_t end_of_object(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted && letter == '\\') {
      ++i;
    } else if (letter == '"') {
      quoted = !quoted;
    } else if (!quoted && letter == '{') {
      ++depth;
    } else if (!quoted && letter == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<JsonDocument> json_documents(std::string_view text) {
  std::vector<JsonDocument> all;
  for (std::size_t begin = text.find('{'); begin != std::string_view::npos;) {
    const std::size_t end = end_of_object(text, begin);
    all.push_back({text.substr(begin, end - begin), begin, end != std::string_view::npos});
    begin = text.find('{', std::min(end, text.size()));
  }
  return all;
}

}  // namespace fabricbench::cluster
