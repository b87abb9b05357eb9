#include "cluster/expected/link_rate.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::expected {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kMegabit = 1e6;
constexpr int kUsualMtu = 1500;
constexpr double kTcpHeaders = 52;  // IPv4, TCP, timestamps
constexpr double kEthernet = 38;    // preamble, header, checksum, gap
constexpr double kRdmaPacket = 4096;
constexpr double kInfiniBand = 26;  // LRH, BTH, ICRC, VCRC
constexpr double kRoce = 82;        // Ethernet, IPv4, UDP, BTH, ICRC

constexpr Seconds kRdmaEnds = 0.6e-6;
constexpr Seconds kInfiniBandSwitch = 130e-9;
constexpr Seconds kEthernetSwitch = 300e-9;

/// Network devices of virtual machines, whose speed is only a name; other virtual devices have no driver.
constexpr std::array<std::string_view, 5> kVirtualDrivers = {"virtio_net", "vmxnet3", "xen_netfront", "hv_netvsc",
                                                             "vif"};

bool is_rdma_port(const host::NetworkDevice& device) { return device.name.find(':') != std::string::npos; }

const host::NetworkDevice* find_device(const HostFacts& host, const std::string& name) {
  const auto found = std::find_if(host.network_devices.begin(), host.network_devices.end(),
                                  [&](const host::NetworkDevice& device) { return device.name == name; });
  return found == host.network_devices.end() ? nullptr : &*found;
}

const HostFacts* find_host(const Context& context, const std::string& name) {
  const auto found = std::find_if(context.host_facts.begin(), context.host_facts.end(),
                                  [&](const HostFacts& host) { return host.name == name; });
  return found == context.host_facts.end() ? nullptr : &*found;
}

/// RDMA ports that carry data as `one` does: of its kind and speed, with a link.
std::vector<const host::NetworkDevice*> ports_like(const host::NetworkDevice& one, const HostFacts& host) {
  std::vector<const host::NetworkDevice*> alike;
  for (const host::NetworkDevice& device : host.network_devices) {
    if (is_rdma_port(device) && device.kind == one.kind && device.state == one.state &&
        device.speed_mbit_per_s == one.speed_mbit_per_s) {
      alike.push_back(&device);
    }
  }
  return alike;
}

/// Of one host. `carriers`: the names of the devices that carried data.
class RateOfHost {
 public:
  RateOfHost(const Context& context, const HostFacts& host, double line_rate)
      : context_(context), host_(host), line_rate_(line_rate) {}

  [[nodiscard]] LinkRate of(const baseline::Carriers& carriers) {
    for (const std::string& name : carriers) {
      const host::NetworkDevice* device = find_device(host_, name);
      if (device == nullptr) return {.words = fmt::format("{} has no device '{}'", host_.name, name)};
      if (context_.backend == "nccl" && is_rdma_port(*device)) {
        for (const host::NetworkDevice* port : ports_like(*device, host_)) devices_[port->name] = port;
      } else {
        devices_[name] = device;
      }
    }
    return sum();
  }

 private:
  [[nodiscard]] LinkRate sum() const {
    LinkRate rate;
    std::map<double, std::vector<std::string>> names;  // by rate
    for (const auto& [name, device] : devices_) {
      if (line_rate_ <= 0 && !has_real_speed(*device)) {
        return {.words = fmt::format("the rate of {} on {}{} is unknown; give it with --line-rate", name, host_.name,
                                     device->driver.empty() ? "" : fmt::format(" ({})", device->driver))};
      }
      const double line = line_rate_ > 0
                              ? line_rate_
                              : static_cast<double>(device->speed_mbit_per_s.value_or(0)) * kMegabit / kBitsPerByte;
      rate.line += line;
      rate.payload += line * payload_share(*device);
      rate.latency = latency_of(*device);
      names[line].push_back(name);
    }
    std::vector<std::string> words;
    words.reserve(names.size());
    for (const auto& [line, devices] : names) {
      words.push_back(
          fmt::format("{} x {:.4g} Gbit/s ({})", devices.size(), line * kBitsPerByte / 1e9, fmt::join(devices, ", ")));
    }
    rate.words = fmt::format("{}, {:.1f} % of it payload", fmt::join(words, ", "), 100 * rate.payload / rate.line);
    return rate;
  }

  const Context& context_;
  const HostFacts& host_;
  double line_rate_;
  std::map<std::string, const host::NetworkDevice*> devices_;
};

}  // namespace

double payload_share(const host::NetworkDevice& device) {
  if (is_rdma_port(device)) return kRdmaPacket / (kRdmaPacket + (device.kind == "infiniband" ? kInfiniBand : kRoce));
  const double mtu = device.mtu.value_or(kUsualMtu);
  return std::max(0.0, mtu - kTcpHeaders) / (mtu + kEthernet);
}

Latency latency_of(const host::NetworkDevice& device) {
  if (!is_rdma_port(device)) return {};
  return {kRdmaEnds, device.kind == "infiniband" ? kInfiniBandSwitch : kEthernetSwitch};
}

bool has_real_speed(const host::NetworkDevice& device) {
  const std::string_view driver = std::string_view(device.driver).substr(0, device.driver.find(' '));
  const bool is_virtual = std::find(kVirtualDrivers.begin(), kVirtualDrivers.end(), driver) != kVirtualDrivers.end();
  return device.speed_mbit_per_s.value_or(0) > 0 && !driver.empty() && !is_virtual;
}

LinkRate nic_rate(const Context& context, const baseline::DeviceBytes& bytes, double line_rate) {
  LinkRate slowest{.words = "no bytes were counted at any NIC"};
  for (const auto& [name, devices] : bytes) {
    const HostFacts* host = find_host(context, name);
    if (host == nullptr) return {.words = fmt::format("the NICs of {} are unknown", name)};
    LinkRate rate = RateOfHost(context, *host, line_rate).of(baseline::carriers_on(devices));
    if (rate.line <= 0) return rate;
    if (slowest.line <= 0 || rate.payload < slowest.payload) slowest = std::move(rate);
  }
  return slowest;
}

LinkRate nvlink_rate(const Context& context) {
  LinkRate slowest{.words = "all ranks are on one host, and the rate of what connects them there is unknown"};
  for (const RankFacts& rank : context.ranks) {
    const double rate = rank.gpu ? rank.gpu->nvlink_rate : 0;
    if (rate <= 0) return {.words = slowest.words};
    if (slowest.line > 0 && rate >= slowest.line) continue;
    slowest.line = slowest.payload = rate;
    slowest.words = fmt::format("NVLinks of {:.4g} GB/s a GPU ({})", rate / 1e9, rank.gpu->model);
  }
  return slowest;
}

}  // namespace fabricbench::expected
