#include "common/backends/rdma/gpu_way.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/shortened_list.h"
#include "common/host/pci_route.h"
#include "common/ranks/agreement.h"

namespace fabricbench {

GpuWay gpu_way(const Team& team, const std::string& gpu, const std::string& device) {
  constexpr std::size_t kMostRanks = 16;  // in the banner
  const std::string adapter = host::pci_address_of_rdma_device(device);
  const auto route = host::pci_route(gpu, adapter);
  GpuWay found;
  found.obstacles = host::obstacles_between(gpu, adapter);
  const std::string own =
      fmt::format("Rank {}: GPU {} and {} ({}) are {} apart; {}", team.process_in_job(), gpu, device,
                  adapter.empty() ? "no PCI device" : adapter, route ? route->distance : "an unknown distance",
                  found.obstacles.empty() ? "no obstacle found" : fmt::format("{}", fmt::join(found.obstacles, "; ")));
  found.notices = shortened(all_gather(team.world(), own), kMostRanks, "more ranks, in the JSON file (obstacles)");
  return found;
}

}  // namespace fabricbench
