#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "common/backends/verbs/handles.h"
#include "common/core/buffer_source.h"

namespace fabricbench::verbs {

/// By which way a device was given memory.
enum class Way {
  kHost,        ///< pages of the host: ibv_reg_mr
  kDmaBuf,      ///< a GPU's, as a file that both drivers understand: ibv_reg_dmabuf_mr
  kPeerMemory,  ///< a GPU's, whose driver has a module beside it that lends memory out: ibv_reg_mr
  kDataDirect   ///< a GPU's, as such a file, past the device's usual way to it: mlx5dv_reg_dmabuf_mr
};

/// Such as `dma-buf`; empty for pages of the host.
[[nodiscard]] std::string name(Way way);

/// What memory is registered with.
struct RegistrationSettings {
  ibv_pd* domain = nullptr;
  int access = 0;                             ///< of ibv_access_flags
  bool data_direct = false;                   ///< by Data Direct, or not at all
  std::filesystem::path root = "/";           ///< stands for / in tests
  std::string mlx5_library = "libmlx5.so.1";  ///< the library to load for Data Direct
};

/// Memory that a device may use, and how that came about.
struct Registration {
  MemoryRegion region;
  Way way = Way::kHost;
};

/// Makes `bytes` of `source` from `data` on known to the device, of a GPU's memory by the first way that works:
/// dma-buf, then a module such as nvidia-peermem; never by a copy in the host's memory. Throws Error (missing) that
/// says why each way failed and what to do.
[[nodiscard]] Registration register_memory(const RegistrationSettings& settings, BufferSource& source, std::byte* data,
                                           std::size_t bytes);

// What it is made of.

/// Why the device takes no dma-buf, and what to do; empty where it does.
[[nodiscard]] std::string why_no_dma_buf(const RegistrationSettings& settings);

/// The file of the loaded module that lends GPU memory to RDMA devices, such as
/// `/sys/module/nvidia_peermem/version`; empty where none is.
[[nodiscard]] std::string peer_memory_module(const std::filesystem::path& root);

}  // namespace fabricbench::verbs
