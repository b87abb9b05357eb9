#include "common/backends/verbs/data_direct.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

constexpr int kByDataDirect = 1;  // MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT

template <typename Function>
Function function_of(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

void DataDirect::Closer::operator()(void* library) const noexcept { dlclose(library); }

DataDirect::DataDirect(ibv_context* device, const std::string& library)
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) {
    throw Error(ExitStatus::kMissing, fmt::format("--data-direct: {} cannot be loaded ({}); install rdma-core 54 or "
                                                  "newer, or leave --data-direct out",
                                                  library, dlerror()));
  }
  const auto sysfs_path = function_of<SysfsPath>(library_.get(), "mlx5dv_get_data_direct_sysfs_path");
  register_dma_buf_ = function_of<RegisterDmaBuf>(library_.get(), "mlx5dv_reg_dmabuf_mr");
  if (sysfs_path == nullptr || register_dma_buf_ == nullptr) {
    throw Error(
        ExitStatus::kMissing,
        fmt::format("--data-direct: {} has no {}; install rdma-core 54 or newer, or leave --data-direct out", library,
                    sysfs_path == nullptr ? "mlx5dv_get_data_direct_sysfs_path" : "mlx5dv_reg_dmabuf_mr"));
  }
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
