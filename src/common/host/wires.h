/// How many bytes each network device of this host has sent and received.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::host {

enum class WireKind {
  kInterface,  ///< a network interface such as `eth0`
  kRdma,       ///< a port of an RDMA device, such as `mlx5_0:1`
  kLoopback,   ///< the interface `lo`, whose bytes leave no host
  kStacked     ///< a bond, VLAN, bridge or IPoIB interface: its bytes are counted again by the wires below it
};

/// A device that counts bytes. On a RoCE adapter the port and its interface are two wires: the interface's driver
/// counts what the kernel's network stack moves, the port what bypasses that.
struct Wire {
  std::string name;  ///< `eth0`, or `mlx5_0:1` for port 1 of mlx5_0
  WireKind kind;
  std::vector<std::string> below;  ///< of a stacked wire, the names of those that it lies upon; none of the others
};

/// In a reading: bytes since the device was started. In a difference or a total: bytes in that time.
struct WireCounter {
  std::string name;
  WireKind kind;
  std::uint64_t tx_bytes;
  std::uint64_t rx_bytes;
};

/// Reads the counters of the devices that the host had when the reader was made. The files are opened anew for each
/// reading: a few microseconds a device, plus what an adapter's firmware takes to answer.
class WireReader {
 public:
  /// Looks for the devices. `root` is the directory that stands for `/`.
  explicit WireReader(const std::filesystem::path& root = "/");

  /// All devices, also those whose counters cannot be read: interfaces, then ports, each in the order of their names.
  [[nodiscard]] const std::vector<Wire>& wires() const { return wires_; }

  /// The devices whose two counters can be read now, in the order of wires(). A device that went away, that has no
  /// counters (soft-RoCE) or whose 32-bit counter has come to its end is left out: unknown, and not zero.
  /// Source: `port_xmit_data` and `port_rcv_data`, in units of 4 bytes, of ABI/stable/sysfs-class-infiniband, and
  /// `tx_bytes` and `rx_bytes` of ABI/testing/sysfs-class-net-statistics of Linux.
  [[nodiscard]] std::vector<WireCounter> read() const;

 private:
  struct Files {
    std::string sent;
    std::string received;
  };

  void find_rdma_ports(const std::filesystem::path& root);
  void find_interfaces(const std::filesystem::path& root);

  std::vector<Wire> wires_;
  std::vector<Files> files_;  // of each wire
};

/// The wires that count the bytes of `name`: itself, or of a stacked wire those at the bottom of the stack, sorted.
/// None for a loopback and for a name that is not among `wires`.
[[nodiscard]] std::vector<std::string> bottom_wires(const std::string& name, const std::vector<Wire>& wires);

/// What each wire carried between two readings. One that is in only one of them, or that counted backwards because it
/// was reset in between, is left out: what it carried is not known.
[[nodiscard]] std::vector<WireCounter> wire_traffic(const std::vector<WireCounter>& before,
                                                    const std::vector<WireCounter>& after);

/// Adds up the traffic of several stretches of time, such as the visits to one case.
class WireTotal {
 public:
  /// A wire that is not known in one stretch is not known in the total from then on.
  void add(const std::vector<WireCounter>& traffic);
  [[nodiscard]] const std::vector<WireCounter>& wires() const { return wires_; }

 private:
  bool empty_ = true;
  std::vector<WireCounter> wires_;
};

/// One IPv4 address of an interface. For finding interfaces by their network only; not to be published.
struct InterfaceAddress {
  std::string interface;  ///< `eth0`, also for an address that is labelled `eth0:1`
  std::uint32_t ipv4;     ///< the most significant byte is the first: 10.77.0.1 is 0x0a4d0001
};

/// The IPv4 addresses of this host's interfaces; none where they cannot be had. Source: getifaddrs(3).
[[nodiscard]] std::vector<InterfaceAddress> interface_addresses();

/// The interfaces with an address in an IPv4 network, as Open MPI writes one: `10.77.0.0/24`, or `10.77/16` for
/// short. None where `network` is no network.
[[nodiscard]] std::vector<std::string> interfaces_in(std::string_view network,
                                                     const std::vector<InterfaceAddress>& addresses);

}  // namespace fabricbench::host
