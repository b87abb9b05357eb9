#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/backends/verbs/handles.h"
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

}  // namespace fabricbench::verbs
