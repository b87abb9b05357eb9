#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "common/backends/gpu/gpu_sessions.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/core/memory.h"
#include "common/core/options.h"
#include "common/host/memory.h"
#include "common/mpi/communicator.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// Blocks of this host's huge pages.
class HugePageBuffers final : public BufferSource {
 public:
  /// `processes` of this host take huge pages at the same time. Throws Error (missing) if there are too few for two
  /// buffers per process, with the number that the host has and how to get more. `root` replaces / in tests.
  explicit HugePageBuffers(int processes, std::filesystem::path root = "/");
  ~HugePageBuffers() override;

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Memory& memory() override { return memory_; }
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* block) noexcept override;
  /// This process's share of the free pages, as whole pages for each of two buffers.
  [[nodiscard]] std::optional<Bytes> available() const override;

 private:
  [[nodiscard]] std::size_t whole_pages(std::size_t bytes) const;

  int processes_;
  std::filesystem::path root_;
  host::HugePages pages_;
  std::map<std::byte*, std::size_t> blocks_;  // their sizes in bytes, in whole pages
  HostMemory memory_;
};

/// The memory that --memory asks for. Call this before an RDMA device is opened, because it tells the driver not to
/// access GPU memory by the processor. Throws Error (missing), the same on every process; collective.
[[nodiscard]] gpu::OpenedBuffers open_buffers(const Team& team, const ProcessLocation& location,
                                              const Options& options);

/// The location of the ranks' buffers and the method of their registration, the same text on every process. Collective.
[[nodiscard]] std::string registration_notice(const mpi::Communicator& world, const verbs::VerbsSession& session);

}  // namespace fabricbench
