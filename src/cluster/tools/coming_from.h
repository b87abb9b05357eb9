// The tables of docs/coming-from.md.
#pragma once

#include <string>

namespace fabricbench::cluster {

/// `page` with a table of the tool's options between each `<!-- options: TOOL -->` and `<!-- end of options -->`.
/// Throws std::invalid_argument where a tool has no place.
[[nodiscard]] std::string with_option_tables(const std::string& page);

}  // namespace fabricbench::cluster
