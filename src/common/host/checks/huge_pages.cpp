#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <sstream>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

std::vector<std::string> efa_devices(Look& host) {
  std::vector<std::string> found;
  for (const std::string& device : rdma_devices(host)) {
    if (driver_of(host, device) == "efa") found.push_back(device);
  }
  return found;
}

/// libfabric's provider for EFA asks for huge pages for its buffers.
void examine_huge_pages(Look& host) {
  const std::string pages = host.field("/proc/meminfo", "HugePages_Free");
  if (host.number_in<std::uint64_t>("/proc/meminfo", pages) > 0) return;
  host.report({.level = CheckLevel::kNote,
               .measured = "no huge page is free",
               .expected = "some, for EFA",
               .expected_by = "aws-ofi-nccl and libfabric take buffers from them",
               .consequence = "buffers are in small pages, or EFA fails to start",
               .next = "sysctl vm.nr_hugepages=5128"});
}

std::optional<std::string> no_efa(Look& host) {
  if (!efa_devices(host).empty()) return std::nullopt;
  return "no EFA device";
}

}  // namespace

Check huge_pages_check() {
  return {.name = "huge_pages",
          .what = "Huge pages are free where there is EFA.",
          .reads = "/sys/class/infiniband/*/device/driver, /proc/meminfo",
          .absent = no_efa,
          .look = examine_huge_pages};
}

}  // namespace fabricbench::host
