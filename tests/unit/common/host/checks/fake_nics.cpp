// Adapters and interfaces of hosts for checks. Layouts are those of Linux:
// Documentation/ABI/stable/sysfs-class-infiniband, testing/sysfs-class-net, drivers/net/bonding/bond_procfs.c,
// net/ipv4/fib_trie.c (/proc/net/route).
#include <fmt/format.h>

#include "common/host/checks/fake_host.h"

namespace fabricbench::host {
namespace {

const std::string kClass = "/sys/class/infiniband";

std::string folder_of(const std::string& device) { return fmt::format("{}/{}", kClass, device); }
std::string port_of(const std::string& device) { return folder_of(device) + "/ports/1"; }
std::string pci_of(const FakeHost& host, const std::string& device) {
  return host.target(folder_of(device) + "/device");
}

void add_interface_of(FakeHost& host, const std::string& device, const std::string& interface, int mtu, int type) {
  const std::string pci = pci_of(host, device);
  const std::string folder = pci + "/net/" + interface;
  host.link("/sys/class/net/" + interface, folder);
  host.link(folder + "/device", pci);
  host.make_folder(pci + "/infiniband");
  host.set(folder + "/operstate", "up\n");
  host.set(folder + "/carrier_changes", "2\n");
  host.set(folder + "/mtu", fmt::format("{}\n", mtu));
  host.set(folder + "/type", fmt::format("{}\n", type));
  host.set(folder + "/speed", "400000\n");
}

void add_counters(FakeHost& host, const std::string& port) {
  for (const char* name :
       {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_rcv_remote_physical_errors",
        "local_link_integrity_errors", "excessive_buffer_overrun_errors"}) {
    host.set(port + "/counters/" + name, "0\n");
  }
  host.set(port + "/counters/link_downed", "1\n");
  host.set(port + "/counters/port_xmit_wait", "4294967295\n");
}

void add_verbs_node(FakeHost& host, const std::string& device, int number) {
  const std::string name = fmt::format("uverbs{}", number);
  host.set("/sys/class/infiniband_verbs/" + name + "/ibdev", device + "\n");
  host.set("/dev/infiniband/" + name, "");
  host.set("system/opens/dev/infiniband/" + name, "yes");
}

void add_driver(FakeHost& host, const std::string& device, const std::string& driver) {
  host.link(pci_of(host, device) + "/driver", "/sys/bus/pci/drivers/" + driver);
}

void make_roce_port(FakeHost& host, const std::string& device, const std::string& interface, int rail) {
  const std::string port = port_of(device);
  host.remove(port + "/pkeys");
  host.set(port + "/link_layer", "Ethernet\n");
  const std::string address = fmt::format("0000:0000:0000:0000:0000:ffff:0a00:{:02x}07", rail);
  const std::string local = fmt::format("fe80:0000:0000:0000:0200:00ff:fe00:{:04x}", rail);
  const std::string unused = "0000:0000:0000:0000:0000:0000:0000:0000";
  int index = 0;
  for (const std::string& gid : {local, local, address, address, unused}) {
    host.set(fmt::format("{}/gids/{}", port, index), gid + "\n");
    if (gid != unused) {
      host.set(fmt::format("{}/gid_attrs/types/{}", port, index), index % 2 == 0 ? "IB/RoCE v1\n" : "RoCE v2\n");
      host.set(fmt::format("{}/gid_attrs/ndevs/{}", port, index), interface + "\n");
    }
    ++index;
  }
  host.set(folder_of(device) + "/tc/1/traffic_class", "Global tclass=106\n");
  host.set("command/ethtool -S " + interface,
           "NIC statistics:\n     rx_pcs_symbol_err_phy: 0\n     rx_corrected_bits_phy: 4000000\n"
           "     rx_err_lane_0_phy: 1000000\n     rx_err_lane_1_phy: 900000\n"
           "     rx_err_lane_2_phy: 1100000\n     rx_err_lane_3_phy: 1000000\n");
  host.set("command/ethtool -m " + interface,
           "        Identifier                                : 0x0d (QSFP+)\n"
           "        Laser tx bias current (Channel 1)         : 6.662 mA\n"
           "        Rcvr signal avg optical power(Channel 1)  : 0.7682 mW / -1.15 dBm\n"
           "        Laser tx bias current (Channel 2)         : 0.000 mA\n"
           "        Rcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm\n"
           "        Module temperature high alarm             : Off\n");
}

void add_bond(FakeHost& host) {
  std::string text =
      "Ethernet Channel Bonding Driver: v5.15.0\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\n"
      "MII Status: up\n\n802.3ad info\nLACP active: on\nActive Aggregator Info:\n\tAggregator ID: 1\n"
      "\tNumber of ports: 2\n\tPartner Mac Address: 02:00:00:00:00:01\n";
  for (const char* member : {"enp97s0f0", "enp225s0f0"}) {
    text += fmt::format("\nSlave Interface: {}\nMII Status: up\nSpeed: 200000 Mbps\nDuplex: full\nAggregator ID: 1\n",
                        member);
  }
  host.set("/proc/net/bonding/front0", text);
  host.set("/sys/class/net/front0/bonding/mode", "802.3ad 4\n");
  host.set("/sys/class/net/front0/operstate", "up\n");
  host.set("/sys/class/net/front0/mtu", "9192\n");
  host.set("/sys/class/net/front0/type", "1\n");
  host.set("/sys/class/net/front0/speed", "400000\n");
}

constexpr const char* kRouteTitles =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

}  // namespace

void add_interface_details(FakeHost& host) {
  for (const std::string& name : host.names("/sys/class/net")) {
    host.set("/sys/class/net/" + name + "/type", "1\n");
    host.set("/sys/class/net/" + name + "/speed", "1000\n");
  }
  host.set("/proc/net/route", std::string(kRouteTitles) +
                                  "eno1\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                                  "eno1\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n");
  host.set("/sys/module/mlx5_core/version", "23.10-1.1.9\n");
  host.forget_asked();
}

void add_adapter_details(FakeHost& host) {
  int number = 0;
  for (const std::string& device : host.names(kClass)) {
    const std::string port = port_of(device);
    host.set(port + "/lid", fmt::format("{:#x}\n", 27 + number));
    host.set(port + "/sm_lid", "0x1\n");
    host.set(port + "/pkeys/0", "0xffff\n");
    host.set(port + "/pkeys/1", "0x8001\n");
    add_counters(host, port);
    add_verbs_node(host, device, number);
    add_driver(host, device, "mlx5_core");
    add_interface_of(host, device, fmt::format("ib{}", number), 2044, 32);
    ++number;
  }
  host.forget_asked();
}

FakeHost roce_host() {
  FakeHost host = h100_infiniband_host();
  host.remove("/etc/nccl.conf");
  host.remove(kClass + "/mlx5_8");
  host.remove("/sys/class/infiniband_verbs/uverbs8");
  host.remove("/sys/class/net/ib8");
  constexpr int kRails = 8;
  for (int rail = 0; rail < kRails; ++rail) {
    const std::string device = fmt::format("mlx5_{}", rail);
    host.remove(fmt::format("/sys/class/net/ib{}", rail));
    host.remove(pci_of(host, device) + "/net");
    const std::string interface = fmt::format("rail{}", rail);
    add_interface_of(host, device, interface, 9000, 1);
    make_roce_port(host, device, interface, rail);
  }
  add_bond(host);
  host.forget_asked();
  return host;
}

FakeHost efa_host() {
  FakeHost host = host_with_nothing();
  host.set("/sys/class/dmi/id/product_name", "p4d.24xlarge\n");
  constexpr int kDevices = 4;
  for (int number = 0; number < kDevices; ++number) {
    const std::string device = fmt::format("rdmap{}s0", number);
    const std::string folder = folder_of(device);
    const std::string bridge = fmt::format("/sys/devices/pci0000:{:02x}", number);
    const std::string pci = fmt::format("{}/0000:{:02x}:00.0", bridge, number);
    host.link(folder + "/device", pci);
    for (const char* which : {"current", "max"}) {
      host.set(fmt::format("{}/{}_link_speed", pci, which), "16.0 GT/s PCIe\n");
      host.set(fmt::format("{}/{}_link_width", pci, which), "8\n");
    }
    host.set(folder + "/fw_ver", "0.0.0.0\n");
    host.set(folder + "/ports/1/state", "4: ACTIVE\n");
    host.set(folder + "/ports/1/phys_state", "5: LinkUp\n");
    host.set(folder + "/ports/1/rate", "100 Gb/sec (4X EDR)\n");
    host.set(folder + "/ports/1/link_layer", "Unknown\n");
    add_verbs_node(host, device, number);
    add_driver(host, device, "efa");
  }
  host.forget_asked();
  return host;
}

}  // namespace fabricbench::host
