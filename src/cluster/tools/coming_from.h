// The tables of docs/coming-from.md.
#pragma once

#include <string>

namespace fabricbench::cluster {

/// `page` with a table of programs between `<!-- programs -->` and `<!-- end of programs -->`, and one of the tool's
/// options between each `<!-- options: TOOL -->` and `<!-- end of options -->`. Throws std::invalid_argument where a
/// table has no place.
[[nodiscard]] std::string with_tables_of_other_tools(const std::string& page);

}  // namespace fabricbench::cluster
