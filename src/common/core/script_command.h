// What users type to run one of the suite's scripts.
#pragma once

#include <string>
#include <string_view>

namespace fabricbench {

/// How a sweep started its jobs, as options of scripts/check_node_pair.sh; empty: as it does by default.
struct HowStarted {
  std::string launcher{};
  std::string agent{};
  std::string mpi_options{};
  std::string programs{};

  bool operator==(const HowStarted&) const = default;
};

/// `fabricbench sweep_pairs` if this program is installed, and `scripts/sweep_pairs.sh` if it is in a checkout's build.
[[nodiscard]] std::string script_command(std::string_view name);

}  // namespace fabricbench
