#include "common/harness/describe.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "common/core/clock.h"
#include "common/core/statistics.h"
#include "common/host/identity.h"
#include "common/host/network.h"
#include "common/host/topology.h"

namespace fabricbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 12> kPrefixes = {"NCCL_",  "OMPI_MCA_", "UCX_",      "UCC_", "MPICH_", "MV2_",
                                                        "I_MPI_", "FI_",       "PMIX_MCA_", "OMP_", "CUDA_",  "GOMP_"};
constexpr std::array<std::string_view, 8> kNames = {"LD_LIBRARY_PATH", "SLURM_JOB_ID",        "SLURM_NNODES",
                                                    "SLURM_NTASKS",    "SLURM_CPU_BIND",      "PBS_JOBID",
                                                    "LSB_JOBID",       "OMPI_COMM_WORLD_SIZE"};

/// What Open MPI's launcher tells its own processes: addresses, directories, the key of the job's transports.
constexpr std::array<std::string_view, 5> kPrivatePrefixes = {"OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
                                                              "OMPI_MCA_initial_wdir", "OMPI_MCA_prte_"};

bool listed(std::string_view name) {
  const auto starts = [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; };
  if (std::any_of(kPrivatePrefixes.begin(), kPrivatePrefixes.end(), starts)) return false;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), starts) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json network_json() {
  Json devices = Json::array();
  for (const host::NetworkDevice& device : host::network_devices()) {
    devices.push_back({{"name", device.name},
                       {"kind", device.kind},
                       {"state", device.state},
                       {"speed_mbit_per_s", optional_json(device.speed_mbit_per_s)},
                       {"numa_node", optional_json(device.numa_node)}});
  }
  return devices;
}

std::string host_json() {
  const host::Topology topology = host::topology();
  Json nodes = Json::array();
  for (const host::NumaNode& node : topology.nodes) {
    nodes.push_back(
        {{"index", node.index}, {"memory_bytes", node.memory_bytes}, {"processing_units", node.processing_units}});
  }
  const Json json{{"processor", host::processor_model()},
                  {"sockets", topology.sockets},
                  {"cores", topology.cores},
                  {"processing_units", topology.processing_units},
                  {"last_level_cache_bytes", topology.last_level_cache_bytes},
                  {"numa_nodes", nodes},
                  {"network_devices", network_json()}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Placed describe_ranks(const mpi::Communicator& world) {
  const std::string host = host::host_name();
  const std::uint64_t own = std::hash<std::string>{}(host + host::boot_id());
  const std::vector<std::uint64_t> hashes = world.all_gather(own);
  Placed placed;
  placed.hosts = static_cast<int>(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size());
  placed.local_rank = static_cast<int>(std::count(hashes.begin(), hashes.begin() + world.rank(), own));
  placed.local_ranks = static_cast<int>(std::count(hashes.begin(), hashes.end(), own));
  const Json json{placed.local_rank, getpid(), host, host::processor_model(), host::current_binding()};
  for (const std::string& text : world.gather(json.dump(-1, ' ', false, Json::error_handler_t::replace))) {
    const Json facts = Json::parse(text);
    placed.ranks.push_back({static_cast<int>(placed.ranks.size()), facts[0], facts[1], facts[2], facts[3], facts[4]});
  }
  return placed;
}

std::vector<HostFacts> describe_hosts(const mpi::Communicator& world, const Placed& placed) {
  const std::vector<std::string> texts = world.gather(placed.local_rank == 0 ? host_json() : "");
  const std::vector<std::string> kernels = world.gather(placed.local_rank == 0 ? host::kernel_release() : "");
  std::vector<HostFacts> hosts;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (!texts[rank].empty()) hosts.push_back({placed.ranks[rank].host, kernels[rank], texts[rank]});
  }
  return hosts;
}

std::vector<std::pair<std::string, std::string>> whitelisted_environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !listed(text.substr(0, equals))) continue;
    variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

Seconds timer_cost() {
  constexpr int kReads = 64;
  std::vector<double> costs;
  for (int i = 0; i < 16; ++i) {
    const Seconds began = now();
    for (int read = 0; read < kReads - 1; ++read) (void)now();
    costs.push_back((now() - began) / kReads);
  }
  return median(costs);
}

}  // namespace fabricbench
