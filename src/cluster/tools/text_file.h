#pragma once

#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// Writes a file, replacing existing contents, or to standard output for `-`. `what` is the source of the name in
/// messages, such as `--json`. Throws Error if the text cannot be written completely.
void write_text_file(const std::string& path, std::string_view text, std::string_view what);

}  // namespace fabricbench::cluster
