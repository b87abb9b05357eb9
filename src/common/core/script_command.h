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

/// The name of the script that stands for a command: `sweep_pairs` for `sweep`, else the same.
[[nodiscard]] std::string_view script_of(std::string_view command);

/// `fabricbench sweep` if this program is installed, and `scripts/sweep_pairs.sh` if it is in a checkout's build.
[[nodiscard]] std::string script_command(std::string_view command);

}  // namespace fabricbench
