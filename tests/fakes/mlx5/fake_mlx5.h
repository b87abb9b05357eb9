// What the fake libmlx5 was asked for; the environment variable FAKE_MLX5_NO_DATA_DIRECT makes its devices lack Data
// Direct.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

struct FakeMlx5Registration {
  std::uint64_t offset;
  std::size_t bytes;
  std::uint64_t address;
  int file;
  bool open;  // the file, when it was handed over
  int access;
  int mlx5_access;
};

extern "C" {
int mlx5dv_get_data_direct_sysfs_path(ibv_context* device, char* path, std::size_t bytes);
ibv_mr* mlx5dv_reg_dmabuf_mr(ibv_pd* domain, std::uint64_t offset, std::size_t bytes, std::uint64_t address, int file,
                             int access, int mlx5_access);
FakeMlx5Registration fake_mlx5_registered_last();
}
