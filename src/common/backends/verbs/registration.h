#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "common/backends/verbs/device.h"
#include "common/backends/verbs/provider_library.h"
#include "common/core/buffer_source.h"

namespace fabricbench::verbs {

/// Data Direct of mlx5 devices: a separate PCI Express path to a GPU's memory that bypasses the processor. Looked up in
/// libmlx5 at run time: it needs rdma-core 54, and most adapters do not have it.
class DataDirect {
 public:
  /// Throws Error (missing) that names what is missing: the library, its functions, or the device's capability.
  DataDirect(ibv_context* device, const std::string& library);

  struct Request {
    ibv_pd* domain = nullptr;
    DmaBuf exported;
    std::size_t bytes = 0;
    std::uint64_t address = 0;  ///< address of the first byte in requests
    int access = 0;
  };
  /// Null on failure, with errno as for ibv_reg_dmabuf_mr.
  [[nodiscard]] MemoryRegion register_memory(const Request& request) const;

 private:
  using SysfsPath = int (*)(ibv_context*, char*, std::size_t);
  using RegisterDmaBuf = ibv_mr* (*)(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int, int);

  ProviderLibrary library_;
  RegisterDmaBuf register_dma_buf_ = nullptr;
};

/// The method by which memory was registered with a device.
enum class Way {
  kHost,        ///< host pages: ibv_reg_mr
  kDmaBuf,      ///< GPU memory as a file that both drivers understand: ibv_reg_dmabuf_mr
  kPeerMemory,  ///< GPU memory through a kernel module of the GPU's driver: ibv_reg_mr
  kDataDirect   ///< GPU memory as such a file, over a separate path: mlx5dv_reg_dmabuf_mr
};

/// Such as `dma-buf`; empty for host pages.
[[nodiscard]] std::string name(Way way);

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
  Way way = Way::kHost;
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
