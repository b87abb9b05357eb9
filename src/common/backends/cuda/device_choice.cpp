#include "common/backends/cuda/device_choice.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench::cuda {
namespace {

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
