#pragma once

#include <string>
#include <vector>

#include "common/ranks/team.h"

namespace fabricbench {

/// The path between the GPU with a rank's buffers and its RDMA device.
struct GpuWay {
  std::vector<std::string> obstacles;  ///< of this process, a sentence each
  std::vector<std::string> notices;    ///< a line for each rank, the same on every process
};

/// `gpu` is a PCI address such as 0000:42:00.0, `device` an RDMA device such as mlx5_0. Collective.
[[nodiscard]] GpuWay gpu_way(const Team& team, const std::string& gpu, const std::string& device);

}  // namespace fabricbench
