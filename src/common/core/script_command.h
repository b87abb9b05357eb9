// What users type to run one of the suite's scripts.
#pragma once

#include <string>
#include <string_view>

namespace fabricbench {

/// `fabricbench sweep_pairs` if this program is installed, and `scripts/sweep_pairs.sh` if it is in a checkout's build.
[[nodiscard]] std::string script_command(std::string_view name);

}  // namespace fabricbench
