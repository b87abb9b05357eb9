#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/backends/verbs/handles.h"
#include "common/core/buffer_source.h"

namespace fabricbench::verbs {

/// Data Direct of mlx5 devices: a path of their own over PCI Express to a GPU's memory, past the processor. Found in
/// libmlx5 at run time: rdma-core 54 is the first whose library has it, and most adapters do without.
class DataDirect {
 public:
  /// Throws Error (missing) that says what is missing: the library, its functions, or the device's ability.
  DataDirect(ibv_context* device, const std::string& library);

  struct Request {
    ibv_pd* domain = nullptr;
    DmaBuf exported;
    std::size_t bytes = 0;
    std::uint64_t address = 0;  ///< by which requests will name the first byte
    int access = 0;
  };
  /// None where that fails, with errno, as of ibv_reg_dmabuf_mr.
  [[nodiscard]] MemoryRegion register_memory(const Request& request) const;

 private:
  using SysfsPath = int (*)(ibv_context*, char*, std::size_t);
  using RegisterDmaBuf = ibv_mr* (*)(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int, int);
  struct Closer {
    void operator()(void* library) const noexcept;
  };

  std::unique_ptr<void, Closer> library_;
  RegisterDmaBuf register_dma_buf_ = nullptr;
};

}  // namespace fabricbench::verbs
