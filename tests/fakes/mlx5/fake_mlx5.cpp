#include "fake_mlx5.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

FakeMlx5Registration& last() {
  static FakeMlx5Registration registration;
  return registration;
}

}  // namespace

int mlx5dv_get_data_direct_sysfs_path(ibv_context* /*device*/, char* path, std::size_t bytes) {
  if (std::getenv("FAKE_MLX5_NO_DATA_DIRECT") != nullptr) return ENODEV;
  std::snprintf(path, bytes, "/sys/devices/pci0000:00/0000:00:01.0");
  return 0;
}

ibv_mr* mlx5dv_reg_dmabuf_mr(ibv_pd* /*domain*/, std::uint64_t offset, std::size_t bytes, std::uint64_t address,
                             int file, int access, int mlx5_access) {
  static ibv_mr region{};
  last() = {offset, bytes, address, file, fcntl(file, F_GETFD) != -1, access, mlx5_access};
  errno = EOPNOTSUPP;
  return std::getenv("FAKE_MLX5_NO_REGION") == nullptr ? &region : nullptr;
}

FakeMlx5Registration fake_mlx5_registered_last() { return last(); }
