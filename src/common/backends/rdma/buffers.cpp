#include "common/backends/rdma/buffers.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/backends/rdma/routes.h"
#include "common/core/error.h"
#include "common/core/units.h"
#include "common/core/wording.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

constexpr std::uint64_t kBuffers = 2;  // per rank: one to send from, one to receive into

/// Such as `1 of 4 huge pages of 2 MiB are free, and ...; reserve some more as root, ...`.
Error too_few(const host::HugePages& pages, std::uint64_t wanted, const std::string& what_for) {
  const std::uint64_t more = wanted > pages.free ? wanted - pages.free : 1;
  return Error(ExitStatus::kMissing,
               fmt::format("--memory hugepages: {} of {} huge pages of {} are free on this host, and {}; reserve more "
                           "as root: echo {} > /proc/sys/vm/nr_hugepages",
                           pages.free, pages.total, readable_bytes(pages.page_bytes), what_for, pages.total + more));
}

/// Allocates the pages now: otherwise the kernel would kill the process later if its control group has none left.
/// Returns 0 or the error number.
int populate(void* block, std::size_t bytes) {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, of Linux 5.14
  if (madvise(block, bytes, kPopulateWrite) == 0 || errno == EINVAL) return 0;
  return errno;
}

/// mlx5 puts small arriving messages into the completion, and its library copies them into the buffer with the
/// processor. That would crash with GPU memory. Source: MLX5_SCATTER_TO_CQE in man mlx5dv; perftest #283.
void keep_small_messages_out_of_completions() { setenv("MLX5_SCATTER_TO_CQE", "0", 1); }

}  // namespace

HugePageBuffers::HugePageBuffers(int processes, std::filesystem::path root)
    : processes_(processes), root_(std::move(root)), pages_(host::huge_pages(root_)) {
  if (pages_.page_bytes == 0) {
    throw Error(ExitStatus::kMissing,
                "--memory hugepages: this kernel has no huge pages (/proc/meminfo: Hugepagesize); take --memory host");
  }
  const std::uint64_t least = kBuffers * static_cast<std::uint64_t>(processes_);
  if (pages_.free >= least) return;
  throw too_few(
      pages_, least,
      fmt::format("{} there take{} {} at least", counted(processes_, "rank"), processes_ == 1 ? "s" : "", least));
}

HugePageBuffers::~HugePageBuffers() {
  while (!blocks_.empty()) release(blocks_.begin()->first);
}

std::string HugePageBuffers::description() const {
  return fmt::format("host memory in huge pages of {}", readable_bytes(pages_.page_bytes));
}

std::size_t HugePageBuffers::whole_pages(std::size_t bytes) const {
  const std::size_t page = pages_.page_bytes;
  const std::size_t pages = bytes / page + (bytes % page > 0 || bytes == 0 ? 1 : 0);
  return pages * page;
}

std::byte* HugePageBuffers::allocate(std::size_t bytes) {
  const std::size_t whole = whole_pages(bytes);
  void* const block = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (block == MAP_FAILED) {
    const int error = errno;
    throw too_few(host::huge_pages(root_), whole / pages_.page_bytes,
                  fmt::format("a buffer of {} takes {} of them ({})", readable_bytes(bytes), whole / pages_.page_bytes,
                              std::strerror(error)));
  }
  if (const int error = populate(block, whole); error != 0) {
    munmap(block, whole);
    throw Error(ExitStatus::kMissing,
                fmt::format("--memory hugepages: the kernel gives this process no huge pages for a buffer of {}: {}; "
                            "look at the limit of its control group (hugetlb.*.max) and of its NUMA nodes",
                            readable_bytes(bytes), std::strerror(error)));
  }
  auto* const data = static_cast<std::byte*>(block);
  blocks_[data] = whole;
  return data;
}

void HugePageBuffers::release(std::byte* block) noexcept {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;
  munmap(block, found->second);
  blocks_.erase(found);
}

std::optional<Bytes> HugePageBuffers::available() const {
  const std::uint64_t pages = host::huge_pages(root_).free / static_cast<std::uint64_t>(processes_);
  return pages / kBuffers * kBuffers * pages_.page_bytes;
}

gpu::OpenedBuffers open_buffers(const Team& team, const ProcessLocation& location, const Options& options) {
  if (options.memory == MemoryKind::kCuda) {
    keep_small_messages_out_of_completions();
    return gpu::open_buffers(team, location, options);
  }
  if (options.memory != MemoryKind::kHugePages) return {std::make_unique<HostBuffers>(), {}};
  return {everywhere(team.world(), [&] { return std::make_unique<HugePageBuffers>(location.local_processes); }), {}};
}

std::string registration_notice(const mpi::Communicator& world, const verbs::VerbsSession& session) {
  return kinds_notice(world, "Registered", session.registered());
}

}  // namespace fabricbench
