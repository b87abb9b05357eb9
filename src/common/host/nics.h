/// The bytes that each network device of this host has sent and received.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::host {

enum class NicKind {
  kInterface,  ///< a network interface such as `eth0`
  kRdma,       ///< a port of an RDMA device, such as `mlx5_0:1`
  kLoopback,   ///< the interface `lo`, whose bytes never leave the host
  kStacked     ///< a bond, VLAN, bridge or IPoIB interface, whose bytes the devices below it count again
};

/// A device that counts bytes. The port and the interface of a RoCE adapter are two NICs: the interface's driver
/// counts the traffic of the kernel's network stack, and the port counts the traffic that bypasses it.
struct Nic {
  std::string name;  ///< `eth0`, or `mlx5_0:1` for port 1 of mlx5_0
  NicKind kind;
  std::vector<std::string> below;  ///< the names of the devices below a stacked NIC; else empty
};

/// In a reading: bytes since the device was started. In a difference or a total: bytes in that period.
struct NicCounter {
  std::string name;
  NicKind kind;
  std::uint64_t tx_bytes;
  std::uint64_t rx_bytes;
};

/// Reads the counters of the devices that existed when the reader was created. Each reading opens the files again: a
/// few microseconds per device, plus the response time of the adapter's firmware.
class NicReader {
 public:
  /// Finds the devices. `root` is the directory that stands for `/`.
  explicit NicReader(const std::filesystem::path& root = "/");

  /// All devices, including those with unreadable counters: interfaces, then ports, each sorted by name.
  [[nodiscard]] const std::vector<Nic>& nics() const { return nics_; }

  /// The devices with two readable counters, in the order of nics(). A device that disappeared, that has no counters
  /// (soft-RoCE) or whose 32-bit counter is saturated is left out, because its value is unknown, not zero. Source:
  /// `port_xmit_data` and `port_rcv_data`, in units of 4 bytes, of ABI/stable/sysfs-class-infiniband, and `tx_bytes`
  /// and `rx_bytes` of ABI/testing/sysfs-class-net-statistics of Linux, or /proc/self/net/dev where /sys is of another
  /// network namespace.
  [[nodiscard]] std::vector<NicCounter> read() const;

 private:
  struct Files {
    std::string sent;  ///< empty: see own_root_
    std::string received;
  };

  void find_rdma_ports(const std::filesystem::path& root);
  void find_interfaces(const std::filesystem::path& root);

  std::vector<Nic> nics_;
  std::vector<Files> files_;        // of each NIC
  std::filesystem::path own_root_;  // where /sys is another namespace's: of /proc, which has this one's interfaces
};

/// The NICs that count the bytes of `name`: itself, or the bottom devices of a stacked NIC, sorted. Empty for a
/// loopback and for names that are not among `nics`.
[[nodiscard]] std::vector<std::string> bottom_nics(const std::string& name, const std::vector<Nic>& nics);

/// The traffic of each NIC between two readings. A NIC that is in only one of them, or whose counter was reset in
/// between, is left out, because its traffic is unknown.
[[nodiscard]] std::vector<NicCounter> nic_traffic(const std::vector<NicCounter>& before,
                                                  const std::vector<NicCounter>& after);

/// Sums the traffic over several periods, such as the visits to one case.
class NicTotal {
 public:
  /// A NIC that is unknown in one period is unknown in the total from then on.
  void add(const std::vector<NicCounter>& traffic);
  [[nodiscard]] const std::vector<NicCounter>& nics() const { return nics_; }

 private:
  bool empty_ = true;
  std::vector<NicCounter> nics_;
};

/// An interface, and the bytes that it has sent and received since it was started.
struct InterfaceBytes {
  std::string name;
  std::uint64_t tx_bytes;
  std::uint64_t rx_bytes;
};

/// All of them, sorted by name, including the loopback; empty if they cannot be read. Source: /proc/self/net/dev of
/// proc(5). `root` is the directory that stands for `/`.
[[nodiscard]] std::vector<InterfaceBytes> interface_bytes(const std::filesystem::path& root);

/// Whether /sys/class/net is of another namespace, because it lists other interfaces: so it is in containers that mount
/// the host's /sys, and for processes that entered a namespace without mounting it anew.
[[nodiscard]] bool has_foreign_sysfs(const std::filesystem::path& root);

/// One IPv4 address of an interface. For finding interfaces by their network only; not to be published.
struct InterfaceAddress {
  std::string interface;  ///< `eth0`, also for an address that is labelled `eth0:1`
  std::uint32_t ipv4;     ///< the most significant byte is the first: 10.77.0.1 is 0x0a4d0001
};

/// The IPv4 addresses of this host's interfaces; empty if they cannot be read. Source: getifaddrs(3).
[[nodiscard]] std::vector<InterfaceAddress> interface_addresses();

/// The interfaces with an address in an IPv4 network in Open MPI's notation: `10.77.0.0/24`, or `10.77/16` for short.
/// Empty if `network` is malformed.
[[nodiscard]] std::vector<std::string> interfaces_in(std::string_view network,
                                                     const std::vector<InterfaceAddress>& addresses);

// The network devices of this machine, as the kernel lists them.

// Addresses are left out on purpose: results get published.
struct NetworkDevice {
  std::string name;   // a network interface `eth0`, or a port of an RDMA device `mlx5_0:1`
  std::string kind;   // "ethernet", "infiniband" or "other"
  std::string state;  // of an interface as RFC 2863: "up", "down"; of a port: "ACTIVE", "DOWN"
  std::optional<std::int64_t> speed_mbit_per_s;  // none where there is no link or it has no speed
  std::optional<int> numa_node{};                // none where the kernel names none
  std::optional<std::string> guid{};             // of a port's RDMA device, which no other has: `0x0c42a10300f1d2e6`
  std::optional<int> mtu{};                      // of an interface, in bytes
  std::string driver{};    // and its version where the kernel has one, such as `mlx5_core 24.10-1.1.4`; empty: unknown
  std::string firmware{};  // its version; empty: unknown, or of an interface whose adapter's RDMA port tells it
};

// The version of the firmware of a network interface as its driver tells it; empty: it tells none.
using FirmwareReader = std::function<std::string(const std::string& interface)>;

// Every network interface but the loopback, and every port of every RDMA device, sorted by name;
// an adapter with both appears as both. A property that cannot be read is "unknown", "other" or
// nothing. `root` is the directory that stands for `/`; drivers are asked only of this one, unless there is a reader.
// Source: Documentation/ABI/testing/sysfs-class-net and ABI/stable/sysfs-class-infiniband of Linux; SIOCETHTOOL and
// ETHTOOL_GDRVINFO in linux/ethtool.h.
[[nodiscard]] std::vector<NetworkDevice> network_devices(const std::filesystem::path& root = "/",
                                                         const FirmwareReader& firmware_of = {});

}  // namespace fabricbench::host
