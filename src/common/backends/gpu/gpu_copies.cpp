#include "common/backends/gpu/gpu_copies.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/backends/cuda/copies.h"
#include "common/backends/cuda/device.h"
#include "common/backends/cuda/memory.h"
#include "common/backends/nvml/nvlinks.h"
#include "common/core/error.h"
#include "common/core/pattern_table.h"
#include "common/host/node_memory.h"
#include "common/host/pci.h"

namespace fabricbench::gpu {
namespace {

constexpr std::int64_t kMostQueued = 200;  // CUDA queues about a thousand launches, and a copy has marks beside it

using NodeIndex = std::optional<int>;

/// A GPU, its two buffers and what is known of its links.
class GpuBuffers {
 public:
  GpuBuffers(int device, Bytes size, Seconds limit)
      : facts_(cuda::device_facts(device)),
        stream_(cuda::Stream::create(device)),
        memory_(stream_.view(), limit),
        source_(memory_.allocate(size), Release{&memory_}),
        target_(memory_.allocate(size), Release{&memory_}),
        timed_(device, limit) {}

  [[nodiscard]] int device() const { return facts_.device; }
  [[nodiscard]] const std::string& pci() const { return facts_.pci_address; }
  [[nodiscard]] std::byte* source() const { return source_.get(); }
  [[nodiscard]] std::byte* target() const { return target_.get(); }
  [[nodiscard]] cuda::CudaMemory& memory() { return memory_; }
  [[nodiscard]] cuda::TimedCopies& timed() { return timed_; }
  [[nodiscard]] const host::PciLinks& links() const { return links_; }

  /// Keeps the fastest that was seen: links are slower while they are idle.
  void read_links() {
    const host::PciLinks now = host::pci_links(facts_.pci_address);
    links_.most = now.most;
    keep_faster(links_.current, now.current);
    keep_faster(links_.narrowest, now.narrowest);
  }

 private:
  struct Release {
    cuda::CudaMemory* memory;
    void operator()(std::byte* block) const { memory->release(block); }
  };
  using Block = std::unique_ptr<std::byte, Release>;

  static void keep_faster(std::optional<host::PciLink>& kept, const std::optional<host::PciLink>& seen) {
    if (seen && (!kept || host::bytes_per_second(*seen) > host::bytes_per_second(*kept))) kept = seen;
  }

  cuda::DeviceFacts facts_;
  cuda::Stream stream_;
  cuda::CudaMemory memory_;
  Block source_;
  Block target_;
  cuda::TimedCopies timed_;
  host::PciLinks links_;
};

/// The host's two buffers on one NUMA node.
struct HostBlocks {
  HostBlocks(Bytes size, NodeIndex node)
      : source(size, node), target(size, node), pins{cuda::pin(source.bytes()), cuda::pin(target.bytes())} {}

  host::NodeMemory source;
  host::NodeMemory target;
  cuda::PinnedRange pins[2];
};

std::unique_ptr<HostBlocks> allocate_blocks(Bytes size, NodeIndex node) {
  try {
    return std::make_unique<HostBlocks>(size, node);
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw Error(ExitStatus::kMissing, fmt::format("{}; lower --max-bytes", error.what()));
  }
}

std::string text_of(const host::PciLink& link) {
  return fmt::format("PCIe {:g} GT/s x{}", link.gigatransfers_per_s, link.width);
}

std::optional<CopyBound> bound_by(const std::optional<host::PciLink>& link, double directions) {
  if (!link) return std::nullopt;
  return CopyBound{directions * host::bytes_per_second(*link), text_of(*link)};
}

bool begins_on_host(CopyKind kind) { return kind == CopyKind::kHostToDevice || kind == CopyKind::kBothWays; }
bool ends_on_host(CopyKind kind) { return kind == CopyKind::kDeviceToHost || kind == CopyKind::kBothWays; }
bool uses_host(CopyKind kind) { return begins_on_host(kind) || ends_on_host(kind); }

class CudaCopies final : public GpuCopies {
 public:
  explicit CudaCopies(const CopyMemory& memory);

  void prepare(const Copy& copy, Bytes size) override;
  [[nodiscard]] std::vector<std::vector<Seconds>> time_copies(const Copy& copy, Bytes size,
                                                              std::int64_t times) override;
  [[nodiscard]] std::optional<Mismatch> check(const Copy& copy, Bytes size) override;
  [[nodiscard]] bool over_host(const Copy& copy) const override;
  [[nodiscard]] std::optional<CopyBound> bound(const Copy& copy) const override;
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  void connect_all(const std::vector<int>& devices);
  void read_nvlinks();
  [[nodiscard]] GpuBuffers& receiver(const Copy& copy) const {
    return *sides_.at(copy.peer < 0 ? copy.device : copy.peer);
  }
  [[nodiscard]] std::vector<cuda::CopyDirection> flows(const Copy& copy) const;
  [[nodiscard]] std::optional<CopyBound> bound_of_peers(const Copy& copy) const;

  std::map<int, std::unique_ptr<GpuBuffers>> sides_;  // by CUDA's number
  std::map<NodeIndex, std::unique_ptr<HostBlocks>> blocks_;
  std::map<std::pair<int, int>, bool> straight_;  // whether a copy from the first to the second goes straight there
  std::map<int, std::optional<std::vector<nvml::NvLink>>> nvlinks_;
  std::string why_no_nvlinks_;
  PatternTable table_ = PatternTable::moved(DataType::kInt8, 0);
  std::uint64_t prepared_ = 0;
};

CudaCopies::CudaCopies(const CopyMemory& memory) {
  for (const int device : memory.devices) {
    sides_.emplace(device, std::make_unique<GpuBuffers>(device, memory.size, memory.limit));
  }
  for (const NodeIndex node : memory.nodes) {
    const auto blocks = blocks_.emplace(node, allocate_blocks(memory.size, memory.placed ? node : std::nullopt)).first;
    table_.fill(blocks->second->source.bytes(), {});
  }
  connect_all(memory.devices);
  if (memory.devices.size() > 1) read_nvlinks();
}

void CudaCopies::connect_all(const std::vector<int>& devices) {
  for (const int from : devices) {
    for (const int into : devices) {
      if (from != into) straight_[{from, into}] = cuda::connect_peers(from, into);
    }
  }
}

void CudaCopies::read_nvlinks() {
  try {
    const nvml::Library library;
    for (const auto& [device, side] : sides_) nvlinks_[device] = library.links(side->pci());
  } catch (const Error& error) {
    why_no_nvlinks_ = error.what();
  }
}

/// What a GPU sends differs from one time to the next, so that what an earlier copy left does not pass for a copy.
void CudaCopies::prepare(const Copy& copy, Bytes size) {
  ++prepared_;
  GpuBuffers& own = *sides_.at(copy.device);
  if (copy.kind != CopyKind::kHostToDevice) {
    own.memory().fill({own.source(), size}, table_, {0, pattern::source_shift(prepared_)});
  }
  if (copy.kind != CopyKind::kDeviceToHost) {
    GpuBuffers& target = receiver(copy);
    target.memory().set({target.target(), size}, pattern::kPoisonByte);
  }
}

std::vector<cuda::CopyDirection> CudaCopies::flows(const Copy& copy) const {
  const GpuBuffers& own = *sides_.at(copy.device);
  const GpuBuffers& target = receiver(copy);
  if (!uses_host(copy.kind)) return {{target.target(), target.device(), own.source(), own.device()}};
  const HostBlocks& host = *blocks_.at(copy.memory_node);
  std::vector<cuda::CopyDirection> all;
  if (begins_on_host(copy.kind)) {
    all.push_back({own.target(), own.device(), host.source.bytes().data(), cuda::kHostMemory});
  }
  if (ends_on_host(copy.kind)) {
    all.push_back({host.target.bytes().data(), cuda::kHostMemory, own.source(), own.device()});
  }
  return all;
}

std::vector<std::vector<Seconds>> CudaCopies::time_copies(const Copy& copy, Bytes size, std::int64_t times) {
  const std::vector<cuda::CopyDirection> directions = flows(copy);
  const auto read_links = [&] {
    sides_.at(copy.device)->read_links();
    if (copy.peer >= 0) receiver(copy).read_links();
  };
  std::vector<std::vector<Seconds>> all(directions.size());
  for (std::int64_t done = 0; done < times; done += kMostQueued) {
    const cuda::CopySettings run{directions, size, std::min(kMostQueued, times - done), !over_host(copy), read_links};
    const auto part = sides_.at(copy.device)->timed().time_copies(run);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].insert(all[i].end(), part[i].begin(), part[i].end());
  }
  return all;
}

std::optional<Mismatch> CudaCopies::check(const Copy& copy, Bytes size) {
  const PatternPosition sent{0, pattern::source_shift(prepared_)};
  std::optional<Mismatch> wrong;
  if (copy.kind != CopyKind::kDeviceToHost) {
    GpuBuffers& target = receiver(copy);
    const PatternPosition place = begins_on_host(copy.kind) ? PatternPosition{} : sent;
    wrong = target.memory().check({target.target(), size}, table_, place);
  }
  if (!ends_on_host(copy.kind)) return wrong;
  const auto on_host = table_.check(blocks_.at(copy.memory_node)->target.bytes().first(size), sent);
  if (wrong && on_host) wrong->count += on_host->count;
  return wrong ? wrong : on_host;
}

bool CudaCopies::over_host(const Copy& copy) const {
  const auto found = straight_.find({copy.device, copy.peer});
  return found != straight_.end() && !found->second;
}

std::optional<CopyBound> CudaCopies::bound(const Copy& copy) const {
  if (copy.kind == CopyKind::kPeer) return bound_of_peers(copy);
  if (copy.kind == CopyKind::kDeviceToDevice) {
    const auto carried = cuda::memory_bytes_per_s(copy.device);  // what is copied is read once and written once
    return carried ? std::optional(CopyBound{*carried / 2, "memory"}) : std::nullopt;
  }
  if (!cuda::reaches_host_by_pci(copy.device)) return std::nullopt;
  return bound_by(sides_.at(copy.device)->links().narrowest, copy.kind == CopyKind::kBothWays ? 2 : 1);
}

/// NVLink, or where both GPUs are known to have none between them the slower one's PCIe link.
std::optional<CopyBound> CudaCopies::bound_of_peers(const Copy& copy) const {
  if (over_host(copy) || nvlinks_.empty()) return std::nullopt;
  const auto& of_own = nvlinks_.at(copy.device);
  const auto& of_peer = nvlinks_.at(copy.peer);
  if (!of_own || !of_peer) return std::nullopt;
  const double nvlink = nvml::nvlink_bytes_per_s(*of_own, *of_peer, receiver(copy).pci());
  if (nvlink > 0) return CopyBound{nvlink, "NVLink"};
  const auto own = bound_by(sides_.at(copy.device)->links().current, 1);
  const auto peer = bound_by(receiver(copy).links().current, 1);
  if (!own || !peer) return std::nullopt;
  return own->bytes_per_s < peer->bytes_per_s ? own : peer;
}

std::vector<std::string> CudaCopies::notes() const {
  std::vector<std::string> notes;
  for (const auto& [device, side] : sides_) {
    const host::PciLinks& links = side->links();
    if (!links.current || !links.most || *links.current == *links.most) continue;
    notes.push_back(fmt::format("GPU {} ({}): its link ran at {} during the copies, and can do {}", device, side->pci(),
                                text_of(*links.current), text_of(*links.most)));
  }
  if (!why_no_nvlinks_.empty()) {
    notes.push_back(fmt::format("What NVLink carries between GPUs is not known: {}", why_no_nvlinks_));
  }
  return notes;
}

}  // namespace

std::string why_no_copies() { return cuda::visible_devices().why_none; }

std::vector<SeenGpu> visible_gpus() {
  std::vector<SeenGpu> seen;
  const int count = cuda::visible_devices().count;
  for (int device = 0; device < count; ++device) {
    const cuda::DeviceFacts facts = cuda::device_facts(device);
    const auto node = host::pci_locality(facts.pci_address).numa_node;
    seen.push_back({{device, facts.pci_address, facts.model, node}, facts.uuid});
  }
  return seen;
}

std::string copy_library() { return fmt::format("driver {}", cuda::device_facts(0).driver); }

Bytes free_on(int device) { return cuda::free_memory(device); }

std::unique_ptr<GpuCopies> open_copies(const CopyMemory& memory) { return std::make_unique<CudaCopies>(memory); }

}  // namespace fabricbench::gpu
