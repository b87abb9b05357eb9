#include "common/copies/copy_setup.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/sizes.h"
#include "common/core/units.h"
#include "common/engine/setup.h"
#include "common/host/memory.h"
#include "common/host/node_memory.h"
#include "common/ranks/exchange.h"

namespace fabricbench {
namespace {

constexpr double kUsableShareOfGpu = 0.9;   // share of the free memory of a GPU
constexpr double kUsableShareOfHost = 0.5;  // pinned memory is lost to all other processes
constexpr Bytes kBuffers = 2;               // per GPU, and per NUMA node of the host

std::string why_not_here(const Options& options) {
  std::string reason = gpu::why_no_copies();
  if (!reason.empty() || !options.device) return reason;
  const auto count = static_cast<std::int64_t>(gpu::visible_gpus().size());
  if (*options.device < count) return "";
  return fmt::format("there is no --device {}: this process sees {} CUDA device{}", *options.device, count,
                     count == 1 ? "" : "s");
}

/// Throws Error (missing) on every process if one of them has no copy to make.
void check_gpus(const mpi::Communicator& world, const CopySetup& setup) {
  const std::string own = why_not_here(setup.options);
  const auto all = world.gather(own.empty() ? "" : fmt::format("host {}: {}", setup.location.host, own));
  const auto first = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
  const std::string reason = world.broadcast(first == all.end() ? "" : *first);
  if (!reason.empty()) throw Error(ExitStatus::kMissing, reason);
}

/// The processes of one host. Their colour is the rank of the first one.
std::optional<mpi::Communicator> processes_of_host(const mpi::Communicator& world, std::uint64_t host) {
  const std::vector<std::uint64_t> hosts = world.all_gather(host);
  return world.split(static_cast<int>(std::find(hosts.begin(), hosts.end(), host) - hosts.begin()));
}

std::vector<gpu::SeenGpu> gpus_to_measure(const Options& options) {
  std::vector<gpu::SeenGpu> seen = gpu::visible_gpus();
  if (options.device) seen = {seen[static_cast<std::size_t>(*options.device)]};
  return seen;
}

/// CUDA's numbers of the GPUs that this process measures.
std::vector<int> own_devices(const mpi::Communicator& host, const std::vector<gpu::SeenGpu>& seen) {
  std::vector<std::string> uuids;
  uuids.reserve(seen.size());
  for (const gpu::SeenGpu& gpu : seen) uuids.push_back(gpu.uuid);
  const auto lists = broadcast_from_first(host, gather_on_first(host, uuids));
  const std::vector<std::size_t> places = divide_gpus(lists)[static_cast<std::size_t>(host.rank())];
  std::vector<int> own;
  own.reserve(places.size());
  for (const std::size_t place : places) own.push_back(seen[place].gpu.device);
  return own;
}

/// Chooses the NUMA nodes of the host's memory: all nodes, the only node without binding memory to it, or an unknown
/// one if memory cannot be bound.
void choose_nodes(CopySetup& setup) {
  constexpr std::size_t kTrial = 4096;
  const std::vector<int> nodes = host::memory_nodes();
  setup.memory.nodes.assign(nodes.begin(), nodes.end());
  setup.memory.placed = nodes.size() > 1;
  if (nodes.empty()) setup.memory.nodes = {std::nullopt};
  if (!setup.memory.placed) return;
  try {
    for (const int node : nodes) (void)host::NodeMemory(kTrial, node);
  } catch (const std::runtime_error& error) {
    setup.notices.push_back(
        fmt::format("Memory of host {} is not bound to a NUMA node: {}", setup.location.host, error.what()));
    setup.memory.nodes = {std::nullopt};
    setup.memory.placed = false;
  }
}

/// The largest possible copy of this process.
Bytes most_bytes(const CopySetup& setup) {
  const auto processes = static_cast<double>(setup.location.local_processes);
  const host::FreeMemory free = host::free_memory();
  const auto of_host =
      static_cast<double>(std::min(free.machine_bytes, free.cgroup_bytes.value_or(free.machine_bytes)));
  double most = kUsableShareOfHost * of_host / static_cast<double>(setup.memory.nodes.size());
  for (const int device : setup.memory.devices) {
    most = std::min(most, kUsableShareOfGpu * static_cast<double>(gpu::free_on(device)));
  }
  return static_cast<Bytes>(most / processes / static_cast<double>(kBuffers));
}

void lower_sizes(const mpi::Communicator& world, CopySetup& setup) {
  const bool takes_part = !setup.memory.devices.empty();
  const auto own = takes_part ? static_cast<std::int64_t>(most_bytes(setup)) : std::numeric_limits<std::int64_t>::max();
  const auto most = static_cast<Bytes>(world.min(own));
  SizeRange& sizes = setup.options.sizes;
  if (sizes.max_bytes <= most) return;
  const Bytes lowered = std::bit_floor(most);
  if (lowered == 0) throw Error(ExitStatus::kMissing, "there is no memory left for copies; free some");
  setup.notices.push_back(
      fmt::format("Reducing maxBytes to {} due to memory limitation: {} is available for each of the {} buffers per "
                  "GPU and per NUMA node",
                  lowered, readable_bytes(most), kBuffers));
  sizes.max_bytes = lowered;
  sizes.min_bytes = std::min(sizes.min_bytes, lowered);
}

/// The notices of all processes, on the first one; a notice of all processes appears once.
std::vector<std::string> all_notices(const mpi::Communicator& world, const std::vector<std::string>& own) {
  std::vector<std::string> all;
  for (std::string& notice : gather_lists_on_first(world, own)) {
    if (std::find(all.begin(), all.end(), notice) == all.end()) all.push_back(std::move(notice));
  }
  return all;
}

void note_unseen(CopySetup& setup, const std::vector<int>& own) {
  if (setup.options.device) return;
  const auto on_host = static_cast<std::size_t>(setup.host->sum(static_cast<std::int64_t>(own.size())));
  if (setup.seen.size() >= on_host) return;
  setup.notices.push_back(fmt::format(
      "Copies between GPUs are left out where no process sees both: host {} has {} GPUs, and a process sees "
      "{} of them; let one process per host see all",
      setup.location.host, on_host, setup.seen.size()));
}

/// Shares the time of --quick among all copies of the host that has most.
void share_quick_time(const mpi::Communicator& world, CopySetup& setup) {
  if (!setup.options.quick) return;
  const std::int64_t most = world.max(std::max<std::int64_t>(std::ssize(setup.copies), 1));
  setup.options.time_budget = kQuickTime / static_cast<double>(most);
  setup.notices.push_back(fmt::format("--quick: {} for each copy; intervals are wider than by default",
                                      readable_seconds(setup.options.time_budget)));
}

}  // namespace

const CopyGpu& CopySetup::gpu(int device) const {
  return std::find_if(seen.begin(), seen.end(), [&](const gpu::SeenGpu& one) { return one.gpu.device == device; })->gpu;
}

CopySetup set_up_copies(const mpi::Communicator& world, Options options) {
  CopySetup setup;
  setup.options = std::move(options);
  setup.location = locate_processes(world);
  check_gpus(world, setup);
  setup.host = processes_of_host(world, setup.location.host_id);
  setup.seen = gpus_to_measure(setup.options);
  const std::vector<int> own = own_devices(*setup.host, setup.seen);
  std::vector<int> seen;
  seen.reserve(setup.seen.size());
  for (const gpu::SeenGpu& one : setup.seen) seen.push_back(one.gpu.device);
  if (!own.empty()) setup.memory.devices = seen;
  choose_nodes(setup);
  note_unseen(setup, own);
  lower_sizes(world, setup);
  const SizeList sizes = list_sizes(setup.options.sizes, 1);
  setup.memory.size = setup.options.sizes.max_bytes;
  setup.memory.limit = setup.options.timeout;
  setup.copies = list_copies(own, seen, setup.memory.nodes, sizes.sizes);
  share_quick_time(world, setup);
  setup.notices = all_notices(world, setup.notices);
  return setup;
}

}  // namespace fabricbench
