#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fabricbench::host {

/// The environment variables that say how communication was set up, by name, and no others: an environment holds
/// secrets.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> communication_variables();

}  // namespace fabricbench::host
