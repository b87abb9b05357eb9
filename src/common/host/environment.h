#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fabricbench::host {

/// The environment variables that say how communication was set up, by name, and no others: an environment holds
/// secrets.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> communication_variables();

/// The switches above this host, from the top down, separated by dots; empty if the scheduler does not say.
/// Source: SLURM_TOPOLOGY_ADDR in srun(1), which ends with the host itself.
[[nodiscard]] std::string switches_above();

/// The path of a file that can be executed, by $PATH; empty: there is none.
[[nodiscard]] std::string found_on_path(std::string_view program);

}  // namespace fabricbench::host
