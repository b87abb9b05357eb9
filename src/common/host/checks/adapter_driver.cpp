#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <array>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Of Amazon's machines, by the beginning of the product's name: EFA devices that each has at most.
constexpr std::array<std::pair<std::string_view, int>, 5> kEfaDevices = {
    {{"p4d", 4}, {"p5.48xlarge", 32}, {"p5e.", 32}, {"p5en", 16}, {"p6-b200", 8}}};

/// What is on a host's own drivers; a driver of the kernel has no version of its own.
void state_driver(Look& host, const std::string& driver) {
  const auto version = host.text_if_any(fmt::format("/sys/module/{}/version", driver));
  host.state({.key = "driver", .among = driver, .device = driver, .value = version.value_or("that of the kernel")});
}

void compare_efa(Look& host, int count) {
  const std::string product = host.text("/sys/class/dmi/id/product_name");
  for (const auto& [name, most] : kEfaDevices) {
    if (!product.starts_with(name) || count >= most) continue;
    host.report({.level = CheckLevel::kFailure,
                 .measured = fmt::format("{} EFA devices", count),
                 .expected = fmt::format("{}", most),
                 .expected_by = fmt::format("what a {} has", product),
                 .consequence = "NCCL has less bandwidth than the machine is paid for",
                 .next = "attach an EFA interface for each network card when the machine is launched"});
  }
}

/// How the switch is asked to queue RDMA packets: NCCL_IB_TC does not reach queue pairs where this is set.
void state_traffic_class(Look& host, const RdmaPort& port) {
  const std::string file = fmt::format("{}/{}/tc/{}/traffic_class", kRdmaClass, port.device, port.number);
  const std::string text = host.text_if_any(file).value_or("");
  host.state({.key = "traffic_class",
              .among = board_of(host, port.device),
              .device = port.name(),
              .value = text.empty() ? "not set" : text});
}

void examine_adapter_driver(Look& host) {
  int efa = 0;
  bool has_seen_all = true;
  for (const std::string& device : rdma_devices(host)) {
    try {
      const std::string driver = driver_of(host, device);
      efa += driver == "efa" ? 1 : 0;
      state_driver(host, driver);
    } catch (const NotSeen& reason) {
      has_seen_all = false;
      host.not_seen(reason);
    }
  }
  if (has_seen_all) host.attempt([&] { compare_efa(host, efa); });
  each_active_port(host, "Ethernet", [&](const RdmaPort& port) { state_traffic_class(host, port); });
}

}  // namespace

Check adapter_driver_check() {
  return {.name = "adapter_driver",
          .what = "RDMA adapters have one driver and one traffic class, and Amazon's machines all their EFA devices.",
          .reads =
              "/sys/class/infiniband/*/{device/driver,tc/*/traffic_class}, /sys/module/*/version, "
              "/sys/class/dmi/id/product_name",
          .absent = no_rdma_device,
          .look = examine_adapter_driver,
          .compared = {{.key = "driver",
                        .title = "version of an RDMA driver",
                        .consequence = "speed and faults differ between hosts",
                        .next = "ofed_info -s; modinfo DRIVER"},
                       {.key = "traffic_class",
                        .title = "traffic class of RoCE ports",
                        .consequence = "switches queue some packets where they are dropped: retries exceeded, hangs",
                        .next = "/sys/class/infiniband/DEVICE/tc/1/traffic_class; mlnx_qos -i INTERFACE"}}};
}

}  // namespace fabricbench::host
