#include "common/backends/verbs/data_direct.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

constexpr int kByDataDirect = 1;  // MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT

}  // namespace

DataDirect::DataDirect(ibv_context* device, const std::string& library)
    : library_(library, {"--data-direct", "install rdma-core 54 or newer, or leave --data-direct out"}) {
  const auto sysfs_path = library_.function<SysfsPath>("mlx5dv_get_data_direct_sysfs_path");
  register_dma_buf_ = library_.function<RegisterDmaBuf>("mlx5dv_reg_dmabuf_mr");
  std::array<char, 4096> path{};
  const int error = sysfs_path(device, path.data(), path.size());
  if (error == 0) return;
  throw Error(ExitStatus::kMissing,
              fmt::format("--data-direct: {} has no Data Direct ({}); it needs a ConnectX-8 or newer and a GPU on "
                          "the same PCI switch, and a kernel that supports it (6.12); leave --data-direct out",
                          ibv_get_device_name(device->device), std::strerror(error)));
}

MemoryRegion DataDirect::register_memory(const Request& request) const {
  return MemoryRegion(register_dma_buf_(request.domain, request.exported.offset, request.bytes, request.address,
                                        request.exported.file, request.access, kByDataDirect));
}

}  // namespace fabricbench::verbs
