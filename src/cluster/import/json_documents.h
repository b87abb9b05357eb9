#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {

/// One JSON object among others in a text, such as a file to which each run has added one.
struct JsonDocument {
  std::string_view text;
  std::size_t begin = 0;  ///< in the text
  bool is_whole = true;   ///< false: the text ends within it
};

/// The outermost objects of a text, whatever stands between them.
[[nodiscard]] std::vector<JsonDocument> json_documents(std::string_view text);

}  // namespace fabricbench::cluster
