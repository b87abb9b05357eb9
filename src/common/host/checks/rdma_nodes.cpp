#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

const std::string kVerbsClass = "/sys/class/infiniband_verbs";

void report_node(Look& host, const std::string& device, const std::string& node, const std::string& what) {
  host.report({.level = CheckLevel::kFailure,
               .device = device,
               .measured = fmt::format("{}: {}", node, what),
               .expected = "a device that this job can open",
               .expected_by = "the kernel, which lists the adapter",
               .consequence = "NCCL and MPI leave the adapter out, or hang",
               .next = "docker run --device /dev/infiniband; its mode and the job's control group (devices)"});
}

/// umad and issm are for subnet management: jobs run without them.
void examine_rdma_nodes(Look& host) {
  const auto nodes = host.names_if_any("/dev/infiniband").value_or(std::vector<std::string>());
  std::vector<std::string> devices = rdma_devices(host);
  for (const std::string& name : host.names(kVerbsClass)) {
    if (!name.starts_with("uverbs")) continue;  // abi_version
    host.attempt([&] {
      const std::string device = host.text(fmt::format("{}/{}/ibdev", kVerbsClass, name));
      std::erase(devices, device);
      const std::string node = "/dev/infiniband/" + name;
      if (std::find(nodes.begin(), nodes.end(), name) == nodes.end()) return report_node(host, device, node, "missing");
      const std::string answer = host.text("system/opens" + node);
      if (answer != "yes") report_node(host, device, node, answer);
    });
  }
  host.each(devices, [&](const std::string& device) {
    throw NotSeen(fmt::format("{}/{}", kVerbsClass, device), "no verbs device belongs to it (is ib_uverbs loaded?)");
  });
}

}  // namespace

Check rdma_nodes_check() {
  return {.name = "rdma_nodes",
          .what = "Each RDMA device has a verbs node that this job can open.",
          .reads = "/sys/class/infiniband_verbs/*/ibdev, /dev/infiniband, open(2)",
          .absent = no_rdma_device,
          .look = examine_rdma_nodes};
}

}  // namespace fabricbench::host
