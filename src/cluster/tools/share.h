#pragma once

#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// The share of a port's rate that `--expect adapters` requires.
inline constexpr double kShareOfPort = 0.9;

/// Reads a share between 0 and 1 (exclusive), written as `5%` or `0.05`. Throws UsageError with `what`.
[[nodiscard]] double parse_share(std::string_view text, std::string_view what);

/// A share as help and options write it: `5%`.
[[nodiscard]] std::string share_text(double share);

}  // namespace fabricbench::cluster
