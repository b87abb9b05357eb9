#include <fstream>

#include "common/host/usage.h"

namespace fabricbench::host {

std::optional<double> processor_wait(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/thread-self/schedstat");
  double ran = 0;
  double waited_ns = 0;
  if (!(file >> ran >> waited_ns)) return std::nullopt;
  return waited_ns * 1e-9;
}

}  // namespace fabricbench::host
