#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "common/backends/verbs/device.h"
#include "common/core/memory.h"

namespace fabricbench::verbs {

/// The method by which memory was registered with a device.
enum class RegistrationMethod {
  kHost,        ///< host pages: ibv_reg_mr
  kDmaBuf,      ///< GPU memory as a file that both drivers understand: ibv_reg_dmabuf_mr
  kPeerMemory,  ///< GPU memory through a kernel module of the GPU's driver: ibv_reg_mr
  kDataDirect   ///< GPU memory as such a file, over a separate path: mlx5dv_reg_dmabuf_mr
};

/// Such as `dma-buf`; empty for host pages.
[[nodiscard]] std::string name(RegistrationMethod method);

/// The settings of a registration.
struct RegistrationSettings {
  ibv_pd* domain = nullptr;
  int access = 0;                             ///< ibv_access_flags
  bool data_direct = false;                   ///< by Data Direct, without a fallback
  std::filesystem::path root = "/";           ///< replaces / in tests
  std::string mlx5_library = "libmlx5.so.1";  ///< the library to load for Data Direct
};

/// Registered memory, and the method that worked.
struct Registration {
  MemoryRegion region;
  RegistrationMethod method = RegistrationMethod::kHost;
};

/// Registers `bytes` of `source` from `data` on with the device. For GPU memory it uses the first method that works,
/// dma-buf or a module such as nvidia-peermem, and never a copy in host memory. Throws Error (missing) with the reason
/// why each method failed and what to do.
[[nodiscard]] Registration register_memory(const RegistrationSettings& settings, BufferSource& source, std::byte* data,
                                           std::size_t bytes);

// Helpers of this.

/// Why the device does not support dma-buf, and what to do; empty if it does.
[[nodiscard]] std::string why_no_dma_buf(const RegistrationSettings& settings);

/// The sysfs file of the loaded module that gives RDMA devices access to GPU memory, such as
/// `/sys/module/nvidia_peermem/version`; empty if none is loaded.
[[nodiscard]] std::string peer_memory_module(const std::filesystem::path& root);

}  // namespace fabricbench::verbs
