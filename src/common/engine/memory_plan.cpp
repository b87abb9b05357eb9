#include "common/engine/memory_plan.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/host/identity.h"
#include "common/host/memory.h"
#include "common/measure/workspace.h"

namespace fabricbench {
namespace {

constexpr Bytes kMostBytes = std::numeric_limits<Bytes>::max();
constexpr double kUsableShare = 0.9;  // share of the free memory; MPI and the system need the rest

Bytes share(const mpi::Communicator& world, std::uint64_t domain, Bytes free) {
  const std::vector<std::uint64_t> domains = world.all_gather(domain);
  const auto sharers = std::count(domains.begin(), domains.end(), domain);  // at least this rank
  return free / static_cast<Bytes>(std::max<std::int64_t>(sharers, 1));
}

}  // namespace

/// Enough for milliseconds of any stream.
Bytes pool_of_places(Bytes distance) {
  constexpr Bytes kMost = Bytes{256} << 20;
  constexpr Bytes kMostPlaces = Bytes{1} << 20;
  return distance > kMost / kMostPlaces ? std::max(kMost, distance) : distance * kMostPlaces;
}

Bytes memory_per_rank(const mpi::Communicator& world, const Session& session) {
  if (const auto of_device = session.device_memory()) {
    return static_cast<Bytes>(world.min(static_cast<std::int64_t>(*of_device)));
  }
  const host::FreeMemory free = host::free_memory();
  Bytes own = share(world, host::memory_domain(), free.machine_bytes);
  const Bytes in_group = share(world, host::cgroup_domain(), free.cgroup_bytes.value_or(free.machine_bytes));
  own = std::min(own, in_group);
  const auto least = static_cast<Bytes>(world.min(static_cast<std::int64_t>(own)));
  return static_cast<Bytes>(static_cast<double>(least) * kUsableShare);
}

MemoryPlan plan_memory(const Options& options, Bytes per_rank, Bytes pool) {
  const Bytes buffers = options.placement == Placement::kIn ? 1 : 2;
  const Bytes besides = allocated_bytes(0, options.unalign);
  const Bytes most = per_rank / buffers > besides ? per_rank / buffers - besides : 0;
  const SizeRange& sizes = options.sizes;
  if (sizes.min_bytes > most) {
    throw Error(ExitStatus::kMissing,
                fmt::format("the smallest message, {}, needs {} per rank for {}, but only {} per rank is available; "
                            "lower --min-bytes, run fewer ranks on a host, or free memory",
                            readable_bytes(sizes.min_bytes),
                            readable_bytes(std::min(sizes.min_bytes, kMostBytes / buffers - besides) * buffers +
                                           besides * buffers),
                            counted(buffers, "buffer"), readable_bytes(per_rank)));
  }
  MemoryPlan plan{sizes.max_bytes, 0, {}};
  if (plan.max_bytes > most) {
    plan.max_bytes = std::max(most - most % 16, sizes.min_bytes);
    plan.notices.push_back(
        fmt::format("Reducing maxBytes to {} due to memory limitation: {} per rank is available for {} buffers",
                    plan.max_bytes, readable_bytes(per_rank), buffers));
  }
  plan.pool_bytes = plan.max_bytes;
  const bool takes_turns = options.check_all || options.buffers == BufferPolicy::kCold;
  if (takes_turns && pool > plan.pool_bytes) {
    plan.pool_bytes = std::min(pool, most);
    if (plan.pool_bytes < pool && !options.check_all) {
      plan.notices.push_back(fmt::format("Buffers rotate through {} instead of {}: no more memory is available",
                                         readable_bytes(plan.pool_bytes), readable_bytes(pool)));
    }
  }
  if (options.check_all) {
    plan.notices.push_back(fmt::format(
        "Every message is checked: each has a place of its own in {}, which limits the messages of a window",
        readable_bytes(plan.pool_bytes)));
  }
  return plan;
}

}  // namespace fabricbench
