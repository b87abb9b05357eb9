#include "common/backends/gpu/gpu_sessions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "common/backends/cuda/buffers.h"
#include "common/backends/cuda/device.h"
#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/reader.h"
#include "common/backends/cuda/stream.h"
#include "common/backends/nccl/library.h"
#include "common/backends/nccl/nccl_session.h"
#include "common/backends/nvml/nvlinks.h"
#include "common/core/error.h"
#include "common/host/pci.h"
#include "common/host/topology.h"
#include "common/mpi/communicator.h"
#include "common/mpi/environment.h"
#include "common/mpi/mpi_backend.h"
#include "common/ranks/agreement.h"

namespace fabricbench {

namespace cuda {

template <typename Visitor, record::Of<ProcessDevices> Message>
void describe(Visitor& visitor, Message& process) {
  visitor.internal(process.host, process.host_name, process.uuids, process.needed);
}

}  // namespace cuda

namespace gpu {
namespace {

constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
constexpr double kUsableShare = 0.9;  // of what is free: MPI stages messages on the device too

/// Completes before it returns, as MPI's calls do.
void copy_on_device(const void* from, void* into, std::size_t bytes) {
  cuda::check(cudaMemcpy(into, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
  cuda::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

int made_current(int device) {
  cuda::make_current(device);  // for the process's whole life: MPI uses the current device
  return device;
}

bool is_reduced_by_us(DataType datatype) { return datatype == DataType::kHalf || datatype == DataType::kBfloat16; }

/// A CUDA-aware MPI on GPU memory: one rank a process, and calls that have completed when they return, as
/// messages under way have when `finish` does.
class MpiOnCuda final : public Session {
 public:
  /// `group` must outlive this. `sharing`: processes that use the device. Throws Error.
  MpiOnCuda(const mpi::Communicator& group, int device, int sharing, Seconds time_limit);

  [[nodiscard]] std::string library() const override;
  [[nodiscard]] Conventions conventions() const override;
  [[nodiscard]] std::string why_not(DataType datatype, Reduction reduction) const override;
  [[nodiscard]] std::vector<int> devices() const override { return {stream_.device()}; }
  [[nodiscard]] Backend& backend(int /*local_rank*/) override { return backend_; }
  [[nodiscard]] Memory& memory(int /*local_rank*/) override { return memory_; }
  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override { return {memory_.allocate(bytes)}; }
  void release(const std::vector<std::byte*>& blocks) noexcept override;
  [[nodiscard]] std::optional<Bytes> device_memory() const override;
  void wait() override {}

 private:
  int sharing_;
  cuda::Stream stream_;
  cuda::CudaMemory memory_;
  mpi::MpiBackend backend_;
};

MpiOnCuda::MpiOnCuda(const mpi::Communicator& group, int device, int sharing, Seconds time_limit)
    : sharing_(sharing),
      stream_(cuda::Stream::create(made_current(device))),
      memory_(stream_.view(), time_limit),
      backend_(group, kMostPerCall, &copy_on_device) {}

std::string MpiOnCuda::library() const { return fmt::format("{}, in GPU memory", mpi::library()); }
Conventions MpiOnCuda::conventions() const { return mpi::conventions(); }

std::string MpiOnCuda::why_not(DataType datatype, Reduction reduction) const {
  std::string why_not = mpi::why_not(datatype, reduction);
  if (!why_not.empty() || reduction == Reduction::kNone) return why_not;
  // Both are completed by functions of ours that run on the host.
  if (reduction == Reduction::kAvg) return "MPI has no avg, and the division that completes a sum runs in host memory";
  if (is_reduced_by_us(datatype)) {
    return fmt::format("MPI has no {}, and what reduces it instead runs in host memory", facts(datatype).name);
  }
  return "";
}

void MpiOnCuda::release(const std::vector<std::byte*>& blocks) noexcept {
  for (std::byte* block : blocks) memory_.release(block);
}

std::optional<Bytes> MpiOnCuda::device_memory() const {
  const auto free = static_cast<double>(cuda::free_memory(stream_.device()));
  return static_cast<Bytes>(free * kUsableShare / sharing_);
}

/// Those from which this process's ranks may have theirs. Asked once: a second answer may be another one, where a
/// device fails.
std::vector<int> devices_to_choose_from(const ProcessLocation& location) {
  if (location.reserved_gpus) return location.reserved_gpus->devices;
  const cuda::VisibleDevices seen = cuda::visible_devices();
  if (seen.count == 0) throw Error(ExitStatus::kMissing, seen.why_none);
  std::vector<int> devices(static_cast<std::size_t>(seen.count));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

std::vector<cuda::ProcessDevices> devices_of_all(const mpi::Communicator& world, const ProcessLocation& location,
                                                 const std::vector<int>& numbers, int needed) {
  cuda::ProcessDevices own{location.host_id, location.host, {}, needed};
  for (const int device : numbers) own.uuids.push_back(cuda::device_facts(device).uuid);
  return broadcast_from_first(world, gather_on_first(world, own));
}

/// The devices that this process drives.
struct OwnDevices {
  std::vector<int> devices;
  int sharing = 1;  // processes that use the one of them that most use
  std::vector<std::string> notices{};
};

OwnDevices own_of(const std::vector<cuda::ProcessDevices>& processes, const cuda::DeviceChoice& choice, int rank) {
  std::map<std::pair<std::uint64_t, std::string>, int> users;
  const auto uuid = [&](std::size_t process, int device) {
    return std::pair(processes[process].host, processes[process].uuids[static_cast<std::size_t>(device)]);
  };
  for (std::size_t process = 0; process < processes.size(); ++process) {
    for (const int device : choice.devices[process]) ++users[uuid(process, device)];
  }
  const auto own = static_cast<std::size_t>(rank);
  OwnDevices devices{choice.devices[own]};
  if (!choice.notice.empty()) devices.notices.push_back(choice.notice);
  for (const int device : devices.devices) devices.sharing = std::max(devices.sharing, users[uuid(own, device)]);
  return devices;
}

/// Of the devices that a process keeps it takes the first ones, whoever else has them too.
OwnDevices choose_own(const Team& team, const ProcessLocation& location, int needed, const Options& options) {
  const std::vector<int> numbers = everywhere(team.world(), [&] { return devices_to_choose_from(location); });
  const auto processes = devices_of_all(team.world(), location, numbers, needed);
  const std::optional<std::int64_t> first = location.reserved_gpus ? 0 : options.device;
  // NCCL refuses a second rank on a GPU, or since 2.30 wants to be asked for it.
  const bool for_nccl = options.memory != MemoryKind::kCuda;
  const std::string shared_by = for_nccl ? fmt::format("--device 0 and {}", nccl::kSharedGpuSetting) : "--device 0";
  OwnDevices own = own_of(processes, cuda::choose_devices(processes, first, shared_by), team.world().rank());
  for (int& device : own.devices) device = numbers[static_cast<std::size_t>(device)];
  return own;
}

/// Why this process cannot use NCCL at all.
std::string why_not_here() {
  if (const cuda::VisibleDevices seen = cuda::visible_devices(); seen.count == 0) return seen.why_none;
  try {
    const nccl::Library library;
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// What the first process says that has something to say, the same on every one; empty where none has. Collective.
std::string first_said(const Team& team, const ProcessLocation& location, const std::string& own) {
  const std::vector<std::string> all =
      team.world().gather(own.empty() ? "" : fmt::format("host {}: {}", location.host, own));
  const auto first = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
  return team.world().broadcast(first == all.end() ? "" : *first);
}

int devices_of_process(const Options& options) { return static_cast<int>(options.nccl.threads * options.nccl.gpus); }

const char* word_for(host::NodeBinding binding) {
  switch (binding) {
    case host::NodeBinding::kInside: return "yes";
    case host::NodeBinding::kPartly: return "partly";
    case host::NodeBinding::kOutside: return "no";
    case host::NodeBinding::kUnknown: break;
  }
  return "unknown";
}

GpuFacts describe_gpu(int device) {
  const cuda::DeviceFacts facts = cuda::device_facts(device);
  const host::PciLocality locality = host::pci_locality(facts.pci_address);
  const auto binding = locality.numa_node ? host::node_binding(*locality.numa_node, host::current_binding())
                                          : host::NodeBinding::kUnknown;
  return {device,
          facts.model,
          facts.pci_address,
          facts.driver,
          locality.numa_node,
          word_for(binding),
          locality.nearest_nics,
          facts.uuid};
}

/// Leaves them unknown if the driver's library does not tell.
void add_nvlink_rates(std::vector<GpuFacts>& gpus) {
  if (gpus.empty()) return;
  try {
    const nvml::Library library;
    for (GpuFacts& gpu : gpus) {
      const auto links = library.links(gpu.pci);
      if (!links) continue;
      for (const nvml::NvLink& link : *links) gpu.nvlink_rate += link.bytes_per_s;
    }
  } catch (const Error&) {
    return;
  }
}

nccl::ProcessGroup process_group(const Team& team, const OwnDevices& own) {
  const mpi::Communicator& communicator = team.group();
  nccl::ProcessGroup group;
  group.process = communicator.rank();
  group.processes = communicator.size();
  group.process_in_job = team.process_in_job();
  group.devices = own.devices;
  group.sharing = own.sharing;
  group.broadcast = [&communicator](std::span<std::byte> bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const auto agreed = communicator.broadcast(std::vector<std::uint8_t>(data, data + bytes.size()));
    std::copy(agreed.begin(), agreed.end(), reinterpret_cast<std::uint8_t*>(bytes.data()));
  };
  group.min = [&communicator](std::int64_t value) { return communicator.min(value); };
  return group;
}

}  // namespace

std::string why_no_nccl(const Team& team, const ProcessLocation& location, const Options& /*options*/) {
  if (location.reserved_gpus) return location.reserved_gpus->why_no_nccl;
  return first_said(team, location, why_not_here());
}

Opened open_nccl(const Team& team, const ProcessLocation& location, const Options& options, const Purpose& purpose) {
  OwnDevices own = choose_own(team, location, devices_of_process(options), options);
  auto library = everywhere(team.world(), [] { return std::make_shared<const nccl::Library>(); });
  nccl::ProcessGroup group = process_group(team, own);
  group.all_to_all = purpose.all_to_all;
  group.most_peers = purpose.most_peers;
  group.is_isolated = options.timing == Timing::kIsolated;
  group.datatypes = options.datatypes;
  group.reductions = options.reductions;
  // Where a rank does not come, the watchdog names it; it must have the time to speak before all others give up too.
  if (options.timeout > 0) group.timeout = 1.1 * options.timeout + 1;
  NcclOptions possible = options.nccl;
  possible.registration = nccl::possible_registration(*library, options.nccl.registration);
  if (possible.registration != options.nccl.registration) {
    own.notices.push_back(fmt::format("-R 2: {}; -R 1 takes its place", library->why_not(nccl::Feature::kWindows)));
  }
  const bool choices_wanted = options.output.stats || options.keeps_records();
  return {std::make_unique<nccl::NcclSession>(std::move(library), group, possible, choices_wanted), own.notices};
}

Opened open_mpi_on_cuda(const Team& team, const ProcessLocation& location, const Options& options) {
  if (const std::string why_not = mpi::why_not_cuda_aware(); !why_not.empty()) {
    throw Error(ExitStatus::kMissing, fmt::format("--memory cuda: {}", why_not));
  }
  const OwnDevices own = choose_own(team, location, 1, options);
  return {std::make_unique<MpiOnCuda>(team.group(), own.devices.front(), own.sharing, options.timeout), own.notices};
}

OpenedBuffers open_buffers(const Team& team, const ProcessLocation& location, const Options& options) {
  if (const std::string why = first_said(team, location, cuda::visible_devices().why_none); !why.empty()) {
    throw Error(ExitStatus::kMissing, fmt::format("--memory cuda: {}", why));
  }
  const OwnDevices own = choose_own(team, location, 1, options);
  return {everywhere(
              team.world(),
              [&] { return std::make_unique<cuda::CudaBuffers>(own.devices.front(), own.sharing, options.timeout); }),
          own.notices};
}

std::vector<int> choose_gpus(const Team& team, const ProcessLocation& location, const Options& options) {
  if (const std::string why = first_said(team, location, cuda::visible_devices().why_none); !why.empty()) {
    throw Error(ExitStatus::kMissing, fmt::format("--memory cuda: {}", why));
  }
  return choose_own(team, location, devices_of_process(options), options).devices;
}

std::vector<GpuFacts> describe_gpus(const std::vector<int>& devices) {
  std::vector<GpuFacts> gpus;
  gpus.reserve(devices.size());
  for (const int device : devices) gpus.push_back(describe_gpu(device));
  add_nvlink_rates(gpus);
  return gpus;
}

std::unique_ptr<MessageReader> open_reader(int device) {
  if (!cuda::keeps_order_of_rdma_writes(device)) {
    const cuda::DeviceFacts gpu = cuda::device_facts(device);
    throw Error(
        ExitStatus::kMissing,
        fmt::format("--seen-by gpu: GPU {} ({}, {}) does not keep the order of RDMA writes "
                    "(cudaDevAttrGPUDirectRDMAWritesOrdering is 0), so its kernel could see the flag before the "
                    "data; choose --seen-by cq+flush",
                    device, gpu.model, gpu.pci_address));
  }
  return std::make_unique<cuda::CudaReader>(device);
}

}  // namespace gpu
}  // namespace fabricbench
