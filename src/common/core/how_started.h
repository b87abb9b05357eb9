#pragma once

#include <string>

namespace fabricbench {

/// How a sweep started its jobs, as options of scripts/check_node_pair.sh; empty: as it does by default.
struct HowStarted {
  std::string launcher{};
  std::string agent{};
  std::string mpi_options{};
  std::string programs{};

  bool operator==(const HowStarted&) const = default;
};

}  // namespace fabricbench
