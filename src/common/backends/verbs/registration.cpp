#include "common/backends/verbs/registration.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/backends/verbs/explain.h"
#include "common/backends/verbs/provider_transport.h"
#include "common/core/error.h"
#include "common/core/ownership.h"
#include "common/core/units.h"

namespace fabricbench::verbs {
namespace {

constexpr int kByDataDirect = 1;  // MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT

/// The file of an exported block, closed once the device has imported it.
class ExportedFile : NotCopied {
 public:
  explicit ExportedFile(const DmaBuf& exported) : exported_(exported) {}
  ~ExportedFile() { close(exported_.file); }
  [[nodiscard]] const DmaBuf& get() const { return exported_; }

 private:
  DmaBuf exported_;
};

/// A block of memory to register.
struct BlockToRegister {
  BufferSource& source;
  std::byte* data;
  std::size_t bytes;

  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data); }
};

/// A region, or the reason why there is none.
struct Attempt {
  MemoryRegion region;
  std::string why_not;
};

/// The message without the library's name, which the whole message begins with.
std::string part_of_message(const std::string& explained) {
  constexpr std::string_view kLibrary = "verbs: ";
  return explained.starts_with(kLibrary) ? explained.substr(kLibrary.size()) : explained;
}

MemoryRegion register_pages(const RegistrationSettings& settings, const BlockToRegister& block) {
  return MemoryRegion(ibv_reg_mr(settings.domain, block.data, block.bytes, static_cast<unsigned>(settings.access)));
}

Attempt by_dma_buf(const RegistrationSettings& settings, const BlockToRegister& block) {
  if (std::string why_not = block.source.why_no_dma_buf(); !why_not.empty()) return {nullptr, why_not};
  if (std::string why_not = why_no_dma_buf(settings); !why_not.empty()) return {nullptr, why_not};
  try {
    const ExportedFile file(block.source.export_dma_buf(block.data, block.bytes, false));
    MemoryRegion region(ibv_reg_dmabuf_mr(settings.domain, file.get().offset, block.bytes, block.address(),
                                          file.get().file, settings.access));
    if (region) return {std::move(region), ""};
    return {nullptr, part_of_message(explain_call("ibv_reg_dmabuf_mr", errno))};
  } catch (const Error& error) {
    return {nullptr, error.what()};
  }
}

Attempt by_peer_memory(const RegistrationSettings& settings, const BlockToRegister& block) {
  const std::string module = peer_memory_module(settings.root);
  if (module.empty()) return {nullptr, "its module is not loaded (modprobe nvidia-peermem)"};
  MemoryRegion region = register_pages(settings, block);
  if (region) return {std::move(region), ""};
  return {nullptr,
          fmt::format("{} is there, and {}", module, part_of_message(explain_registration(errno, block.bytes)))};
}

/// Data Direct of mlx5 devices: a separate PCI Express path to a GPU's memory that bypasses the processor. Looked up in
/// libmlx5 at run time: it needs rdma-core 54, and most adapters do not have it.
class DataDirect {
 public:
  /// Throws Error (missing) that names what is missing: the library, its functions, or the device's capability.
  DataDirect(ibv_context* device, const std::string& library)
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

  struct Request {
    ibv_pd* domain = nullptr;
    DmaBuf exported;
    std::size_t bytes = 0;
    std::uint64_t address = 0;  ///< address of the first byte in requests
    int access = 0;
  };
  /// Null on failure, with errno as for ibv_reg_dmabuf_mr.
  [[nodiscard]] MemoryRegion register_memory(const Request& request) const {
    return MemoryRegion(register_dma_buf_(request.domain, request.exported.offset, request.bytes, request.address,
                                          request.exported.file, request.access, kByDataDirect));
  }

 private:
  using SysfsPath = int (*)(ibv_context*, char*, std::size_t);
  using RegisterDmaBuf = ibv_mr* (*)(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int, int);

  ProviderLibrary library_;
  RegisterDmaBuf register_dma_buf_ = nullptr;
};

Registration by_data_direct(const RegistrationSettings& settings, const BlockToRegister& block) {
  if (block.source.on_host()) {
    throw UsageError("--data-direct is for GPU memory; add --memory cuda, or leave it out");
  }
  const DataDirect data_direct(settings.domain->context, settings.mlx5_library);
  if (const std::string why_not = block.source.why_no_dma_buf(); !why_not.empty()) {
    throw Error(ExitStatus::kMissing, fmt::format("--data-direct needs a dma-buf, and {}", why_not));
  }
  const ExportedFile file(block.source.export_dma_buf(block.data, block.bytes, true));
  MemoryRegion region =
      data_direct.register_memory({settings.domain, file.get(), block.bytes, block.address(), settings.access});
  if (region) return {std::move(region), RegistrationMethod::kDataDirect};
  throw Error(ExitStatus::kMissing,
              fmt::format("--data-direct: {}", part_of_message(explain_call("mlx5dv_reg_dmabuf_mr", errno))));
}

}  // namespace

std::string name(RegistrationMethod method) {
  switch (method) {
    case RegistrationMethod::kHost: return "";
    case RegistrationMethod::kDmaBuf: return "dma-buf";
    case RegistrationMethod::kPeerMemory: return "nvidia-peermem";
    case RegistrationMethod::kDataDirect: return "dma-buf and Data Direct";
  }
  return "";
}

Registration register_memory(const RegistrationSettings& settings, BufferSource& source, std::byte* data,
                             std::size_t bytes) {
  const BlockToRegister block{source, data, bytes};
  if (settings.data_direct) return by_data_direct(settings, block);
  if (source.on_host()) {
    MemoryRegion region = register_pages(settings, block);
    if (!region) throw Error(ExitStatus::kMissing, explain_registration(errno, bytes));
    return {std::move(region), RegistrationMethod::kHost};
  }
  Attempt dma_buf = by_dma_buf(settings, block);
  if (dma_buf.region) return {std::move(dma_buf.region), RegistrationMethod::kDmaBuf};
  Attempt peer_memory = by_peer_memory(settings, block);
  if (peer_memory.region) return {std::move(peer_memory.region), RegistrationMethod::kPeerMemory};
  throw Error(ExitStatus::kMissing,
              fmt::format("verbs: {} cannot register {} of {}; by dma-buf: {}; by nvidia-peermem: {}; make one of them "
                          "work, or measure host memory with --memory host",
                          ibv_get_device_name(settings.domain->context->device), readable_bytes(bytes),
                          source.description(), dma_buf.why_not, peer_memory.why_not));
}

/// An invalid file is refused as such only by a device that would accept a valid one. Source: NCCL's and UCX's probes.
std::string why_no_dma_buf(const RegistrationSettings& settings) {
  constexpr std::size_t kBytes = 4096;
  constexpr int kNoFile = -1;
  const MemoryRegion region(ibv_reg_dmabuf_mr(settings.domain, 0, kBytes, 0, kNoFile, settings.access));
  if (region || errno == EBADF) return "";
  if (errno == EOPNOTSUPP || errno == EPROTONOSUPPORT) {
    return fmt::format(
        "the device's driver does not support it ({}); it needs Linux 5.12 or newer, and a driver and a "
        "libibverbs of the same release",
        errno == EOPNOTSUPP ? "EOPNOTSUPP" : "EPROTONOSUPPORT");
  }
  return part_of_message(explain_call("ibv_reg_dmabuf_mr", errno));
}

std::string peer_memory_module(const std::filesystem::path& root) {
  constexpr std::array<const char*, 4> kFiles = {
      "sys/module/nvidia_peermem/version", "sys/kernel/mm/memory_peers/nv_mem/version",
      "sys/kernel/mm/memory_peers/nv_mem_nc/version", "sys/module/nv_peer_mem/version"};
  for (const char* file : kFiles) {
    if (std::error_code ignored; std::filesystem::exists(root / file, ignored)) return fmt::format("/{}", file);
  }
  return "";
}

}  // namespace fabricbench::verbs
