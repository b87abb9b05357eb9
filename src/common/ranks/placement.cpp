#include "common/ranks/placement.h"

#include <algorithm>
#include <functional>
#include <set>

#include "common/host/identity.h"

namespace fabricbench {

Placed place_processes(const mpi::Communicator& world) {
  Placed placed;
  placed.host = host::host_name();
  placed.host_id = std::hash<std::string>{}(placed.host + host::boot_id());
  const std::uint64_t own = placed.host_id;
  const std::vector<std::uint64_t> hashes = world.all_gather(own);
  placed.hosts = static_cast<int>(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size());
  placed.local_process = static_cast<int>(std::count(hashes.begin(), hashes.begin() + world.rank(), own));
  placed.local_processes = static_cast<int>(std::count(hashes.begin(), hashes.end(), own));
  return placed;
}

}  // namespace fabricbench
