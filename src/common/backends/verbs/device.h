#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/backends/verbs/gid_choice.h"
#include "common/core/ownership.h"
#include "common/core/units.h"

namespace fabricbench::verbs {

// If the library refuses to release one, it is released at the end of the process.
using DeviceList = Handle<ibv_device*, &ibv_free_device_list>;
using DeviceContext = Handle<ibv_context, &ibv_close_device>;
using ProtectionDomain = Handle<ibv_pd, &ibv_dealloc_pd>;
using CompletionChannel = Handle<ibv_comp_channel, &ibv_destroy_comp_channel>;
using CompletionQueue = Handle<ibv_cq, &ibv_destroy_cq>;
using MemoryRegion = Handle<ibv_mr, &ibv_dereg_mr>;
using SharedReceiveQueue = Handle<ibv_srq, &ibv_destroy_srq>;
using QueuePair = Handle<ibv_qp, &ibv_destroy_qp>;
using AddressHandle = Handle<ibv_ah, &ibv_destroy_ah>;

/// Keys of a port's partitions (P_Keys), by their index in its table; 0: unused. Source: InfiniBand specification 10.9.
using PartitionTable = std::vector<std::uint16_t>;

/// The bit of a key that makes its port a full member; without it the port is a limited one, and two limited members do
/// not hear each other.
inline constexpr std::uint16_t kFullMember = 0x8000;
inline constexpr std::uint16_t kDefaultPartition = 0xffff;

/// The indices of one partition in the tables of both ends.
struct PartitionPair {
  int first = 0;
  int second = 0;
  std::uint16_t key = kDefaultPartition;  ///< the first end's
};

/// Whether ports with these keys hear each other: one partition, and at least one full member.
[[nodiscard]] bool hear_each_other(std::uint16_t first, std::uint16_t second);

/// The default partition if both ends are in it, else the first common one; with `index` that of this index at both
/// ends. Empty if the ends do not hear each other there. Where a device tells no keys, index 0 is taken without a
/// check.
[[nodiscard]] std::optional<PartitionPair> choose_partition(const PartitionTable& first, const PartitionTable& second,
                                                            const std::optional<std::int64_t>& index);

/// Such as `0: 0xffff, 1: 0x8012`.
[[nodiscard]] std::string describe(const PartitionTable& table);

/// A port's properties when it was opened.
struct PortFacts {
  std::string device;  ///< such as mlx5_0
  int port = 1;
  bool active = false;
  std::string state;         ///< such as ACTIVE
  bool ethernet = false;     ///< true: RoCE; false: InfiniBand, or neither
  bool other_layer = false;  ///< neither: its link layer is unspecified, as EFA's
  std::uint32_t lid = 0;
  int mtu = 0;  ///< active MTU in bytes
  Bytes largest_message = 0;
  double rate = 0;           ///< one-way rate in bytes per second, see port_rate; 0: unknown
  std::string rate_text{};   ///< the kernel's text on it, such as `400 Gb/sec (4X NDR)`; empty: none
  int most_outstanding = 0;  ///< reads and atomics in flight, as requester and as responder
  bool atomics = false;
  int most_requests = 0;         ///< size limit of a work queue (max_qp_wr)
  int most_completions = 0;      ///< size limit of a completion queue (max_cqe)
  int most_shared_queues = 0;    ///< number limit of shared receive queues (max_srq); 0: not supported
  int most_shared_receives = 0;  ///< size limit of a shared receive queue (max_srq_wr)
  /// Whether packets need a global route header (GRH) even within a subnet, as the port itself says, or because it is
  /// of neither network (EFA).
  bool needs_global_route = false;
  PartitionTable partitions;  ///< empty: not told
  /// Whether the driver answers truly if it keeps the order of data (see VerbsConnection::keeps_order): mlx5 on x86.
  /// The others answer no without knowing.
  bool tells_order = false;
  std::vector<Gid> gids;
  std::string driver{};  ///< the kernel's, such as mlx5_core or efa; empty: unknown
};

/// Whether the device is an EFA adapter.
[[nodiscard]] bool is_efa(const PortFacts& port);

/// `InfiniBand`, `RoCE`, `EFA`, or `unspecified link layer`.
[[nodiscard]] const char* network_of(const PortFacts& port);

/// A device that cannot be used, and why: `port 1 is DOWN`.
struct UnusableDevice {
  std::string name;
  std::string reason;
};

/// An open device, and the chosen port.
struct OpenDevice {
  DeviceContext context;
  PortFacts port;
  std::vector<UnusableDevice> passed_by{};  ///< devices before it that could not be used
};

/// Opens `device`; an empty name means the first device with an active port, and `port` 0 its first active port.
/// Devices that fail are passed by. Throws Error (missing) if the kernel has no RDMA support, there is no device, no
/// device of that name (the message lists the existing ones), no such port, a port that is not ACTIVE (with its state
/// and what to check), a device that does not answer, or an iWARP device, whose queue pairs can only be connected by
/// rdma_cm.
[[nodiscard]] OpenDevice open_device(const std::string& device, int port);

/// Throws Error (missing, usage) if the device has no shared receive queues, or none of this size.
void check_shared_receives(const PortFacts& port, int receives);

/// The port's current state; empty if the device no longer answers.
[[nodiscard]] std::optional<ibv_port_state> current_state(const OpenDevice& device);

/// The port's state after an operation has failed on it. A port that goes down shows it a moment later, so this waits.
[[nodiscard]] std::optional<ibv_port_state> stable_state(const OpenDevice& device);

/// Such as `mlx5_0 port 1 of this host is DOWN`.
[[nodiscard]] std::string own_port_text(const PortFacts& port, std::optional<ibv_port_state> state);

// Helpers of these.

/// Speed times width of a port, coded as in ibv_port_attr (XDR: 256, which does not fit there), in bytes per second; 0
/// for unknown codes. On InfiniBand it is the signalling rate less the encoding: four fifths up to QDR, 64/66 for FDR;
/// the nominal rates of FDR10 and from EDR on are already net. On Ethernet the codes stand for the nominal rate: 4X QDR
/// for 40 Gbit/s. Source: InfiniBand specification 14.2.5.6; ib_get_eth_speed of the kernel.
[[nodiscard]] double port_rate(int active_speed, int active_width, bool ethernet);

/// The code of a port's speed. ibv_port_attr has eight bits for it, so the kernel reports NDR for XDR;
/// /sys/class/infiniband/DEVICE/ports/PORT/rate distinguishes them: `800 Gb/sec (4X XDR)`.
[[nodiscard]] int speed_code(int active_speed, std::string_view sysfs_rate);

/// The properties of a port that decide whether it is chosen.
struct PortState {
  int number = 1;
  ibv_port_state state = IBV_PORT_DOWN;
  int physical_state = 0;  ///< as in ibv_port_attr
  bool ethernet = false;
  double rate = 0;           ///< see port_rate
  bool other_layer = false;  ///< see PortFacts
};

/// A device and its ports, or the reason why it cannot be used.
struct DeviceState {
  std::string name;
  std::vector<PortState> ports;
  std::string refusal;            ///< empty if it can be used
  bool virtual_function = false;  ///< of an adapter that this host has too (SR-IOV)
};

/// All devices in the kernel's order, including those that fail. Throws Error (missing) if there is none.
[[nodiscard]] std::vector<DeviceState> device_states();

/// The first active port of the device, or the one asked for (0: any) if it is active; 0 if there is none.
[[nodiscard]] int active_port(const DeviceState& device, int asked);

/// Why active_port found no port in this device: `port 1 is DOWN`.
[[nodiscard]] std::string why_unusable(const DeviceState& device, int asked);

/// Why active_port found no port in any of these devices, and what to do.
[[nodiscard]] std::string why_none_active(const std::vector<DeviceState>& devices, int asked);

/// Why ibv_get_device_list returned no device, and what to do. `error` is its errno, or 0 for an empty list. `root`
/// replaces / in tests.
[[nodiscard]] std::string why_no_device(int error, const std::filesystem::path& root = "/");

}  // namespace fabricbench::verbs
