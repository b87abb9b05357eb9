#pragma once

#include <string_view>

namespace fabricbench::cluster {

/// Reads a share between 0 and 1, both left out, written as `5%` or `0.05`. Throws UsageError that names `what`.
[[nodiscard]] double parse_share(std::string_view text, std::string_view what);

}  // namespace fabricbench::cluster
