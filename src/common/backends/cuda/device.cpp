#include "common/backends/cuda/device.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/backends/cuda/stream.h"
#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench::cuda {
namespace {

/// CUDA writes 13.0 as 13000; 0 if there is no driver.
int cuda_version_of_driver() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string why_none(cudaError_t status) {
  const int driver = cuda_version_of_driver();
  if (driver == 0) return "no NVIDIA driver is installed";
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format(
        "the NVIDIA driver is too old: it knows CUDA {}, and this program was built with CUDA {}; update "
        "the driver or build with an older toolkit",
        version_text(driver), version_text(CUDART_VERSION));
  }
  if (status == cudaErrorNoDevice || status == cudaSuccess) {
    return "the NVIDIA driver shows this process no device; see nvidia-smi and CUDA_VISIBLE_DEVICES";
  }
  return fmt::format("the NVIDIA driver does not work: {} ({}); see nvidia-smi", cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string driver_text() {
  std::ifstream file("/proc/driver/nvidia/version");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string kernel = kernel_driver_version(text);
  const std::string cuda = version_text(cuda_version_of_driver());
  return kernel.empty() ? fmt::format("CUDA {}", cuda) : fmt::format("{} (CUDA {})", kernel, cuda);
}

using Processes = std::span<const ProcessDevices>;

/// A set of devices that a group of processes sees, in the order of assignment.
struct Pool {
  std::vector<std::string> uuids;
  std::size_t needed = 0;  // by all processes of the group
  std::size_t taken = 0;
};

/// A host and the set of devices seen there, in any order.
using PoolKey = std::pair<std::uint64_t, std::vector<std::string>>;

PoolKey key_of(const ProcessDevices& process) {
  std::vector<std::string> sorted = process.uuids;
  std::sort(sorted.begin(), sorted.end());
  return {process.host, std::move(sorted)};
}

/// `demand` is the requirement, such as `--device 0 and 2 for each process need 2`.
[[noreturn]] void throw_too_few(const ProcessDevices& process, std::size_t rank, const std::string& demand,
                                std::string_view shared_by) {
  const std::size_t seen = process.uuids.size();
  throw Error(ExitStatus::kMissing,
              fmt::format("cuda: process {} on {} sees {}, but {}; start fewer processes on a host, lower "
                          "-g, show them more devices in CUDA_VISIBLE_DEVICES, or let all use the same with {}",
                          rank, process.host_name, counted(seen, "CUDA device"), demand, shared_by));
}

std::size_t needed(const ProcessDevices& process) { return static_cast<std::size_t>(std::max(process.needed, 0)); }

std::vector<std::vector<int>> take_from(Processes processes, std::int64_t first, std::string_view shared_by) {
  std::vector<std::vector<int>> chosen(processes.size());
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    const auto end = static_cast<std::size_t>(first) + needed(processes[rank]);
    if (end > processes[rank].uuids.size()) {
      throw_too_few(processes[rank], rank,
                    fmt::format("--device {} and {} for each process need {}", first, needed(processes[rank]), end),
                    shared_by);
    }
    for (auto device = static_cast<std::size_t>(first); device < end; ++device) {
      chosen[rank].push_back(static_cast<int>(device));
    }
  }
  return chosen;
}

int index_in(const std::vector<std::string>& uuids, const std::string& uuid) {
  return static_cast<int>(std::find(uuids.begin(), uuids.end(), uuid) - uuids.begin());
}

std::vector<std::vector<int>> take_turns(Processes processes, std::string_view shared_by) {
  std::map<PoolKey, Pool> pools;
  for (const ProcessDevices& process : processes) {
    Pool& pool = pools[key_of(process)];
    if (pool.uuids.empty()) pool.uuids = process.uuids;
    pool.needed += needed(process);
  }
  std::vector<std::vector<int>> chosen(processes.size());
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    const ProcessDevices& process = processes[rank];
    Pool& pool = pools[key_of(process)];
    if (pool.taken + needed(process) > pool.uuids.size()) {
      throw_too_few(process, rank, fmt::format("the processes that see the same need {}", pool.needed), shared_by);
    }
    for (std::size_t i = 0; i < needed(process); ++i) {
      chosen[rank].push_back(index_in(process.uuids, pool.uuids[pool.taken++]));
    }
  }
  return chosen;
}

/// The ranks that drive the same device.
using Sharers = std::vector<std::size_t>;

std::string sharing_notice(Processes processes, const std::vector<std::vector<int>>& chosen) {
  std::map<std::pair<std::uint64_t, std::string>, Sharers> drivers;
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    for (const int device : chosen[rank]) {
      drivers[{processes[rank].host, processes[rank].uuids[static_cast<std::size_t>(device)]}].push_back(rank);
    }
  }
  std::size_t shared = 0;
  const Sharers* first = nullptr;
  for (const auto& [device, ranks] : drivers) {
    if (ranks.size() < 2) continue;
    ++shared;
    if (first == nullptr || ranks < *first) first = &ranks;
  }
  if (first == nullptr) return "";
  return fmt::format(
      "Processes share {} CUDA device{}, such as processes {} of host {}: the figures show how they share", shared,
      shared == 1 ? "" : "s", fmt::join(*first, " and "), processes[first->front()].host_name);
}

}  // namespace

VisibleDevices visible_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {count, ""};
  VisibleDevices none{0, why_none(status)};
  cudaGetLastError();  // clears the error, which this function's result already tells
  return none;
}

DeviceFacts device_facts(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return {device,
          properties.name,
          fmt::format("{:04x}:{:02x}:{:02x}.0", properties.pciDomainID, properties.pciBusID, properties.pciDeviceID),
          uuid_text(properties.uuid),
          properties.totalGlobalMem,
          fmt::format("{}.{}", properties.major, properties.minor),
          properties.multiProcessorCount,
          driver_text()};
}

Bytes free_memory(int device) {
  const DeviceGuard guard(device);
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

bool keeps_order_of_rdma_writes(int device) {
  int order = cudaGPUDirectRDMAWritesOrderingNone;
  check(cudaDeviceGetAttribute(&order, cudaDevAttrGPUDirectRDMAWritesOrdering, device), "cudaDeviceGetAttribute");
  return order >= cudaGPUDirectRDMAWritesOrderingOwner;
}

// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun ...`, and with the open modules `NVRM version:
// NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (...)`.
std::string kernel_driver_version(const std::string& text) {
  std::istringstream line(text.substr(0, text.find('\n')));
  for (std::string word; line >> word;) {
    const bool digits_and_dots = word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits_and_dots && word.find('.') != std::string::npos) return word;
  }
  return "";
}

DeviceChoice choose_devices(Processes processes, std::optional<std::int64_t> first_device, std::string_view shared_by) {
  if (first_device && *first_device < 0) {
    throw UsageError(fmt::format("--device {} is not a device's number; count from 0", *first_device));
  }
  DeviceChoice choice;
  choice.devices = first_device ? take_from(processes, *first_device, shared_by) : take_turns(processes, shared_by);
  choice.notice = sharing_notice(processes, choice.devices);
  return choice;
}

}  // namespace fabricbench::cuda
