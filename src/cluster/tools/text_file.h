#pragma once

#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// Writes a file, in the place of what was there, or to standard output, which is `-`. `what` names it in messages,
/// such as `--json`. Throws Error where not all of it can be written.
void write_text_file(const std::string& path, std::string_view text, std::string_view what);

}  // namespace fabricbench::cluster
