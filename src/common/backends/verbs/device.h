#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/backends/verbs/gid_choice.h"
#include "common/backends/verbs/handles.h"
#include "common/core/units.h"

namespace fabricbench::verbs {

/// A port as it was when it was opened.
struct PortFacts {
  std::string device;  ///< such as mlx5_0
  int port = 1;
  bool active = false;
  std::string state;      ///< such as ACTIVE
  bool ethernet = false;  ///< RoCE; else InfiniBand
  std::uint32_t lid = 0;
  int mtu = 0;  ///< bytes, the active one
  Bytes largest_message = 0;
  double rate = 0;           ///< bytes per second of one direction, see port_rate; 0: not known
  int most_outstanding = 0;  ///< reads and atomics under way at once, of those sent and of those answered
  bool atomics = false;
  int most_requests = 0;         ///< of a work queue (max_qp_wr)
  int most_completions = 0;      ///< of a completion queue (max_cqe)
  int most_shared_queues = 0;    ///< of receives (max_srq); 0: it has none
  int most_shared_receives = 0;  ///< of such a queue (max_srq_wr)
  std::vector<Gid> gids;
};

/// An open device, and the port asked for.
struct OpenDevice {
  DeviceContext context;
  PortFacts port;
};

/// Opens `device`, or where that is empty the first one with an active port; `port` 0: its first active port. Throws
/// Error (missing): the kernel has no RDMA support, there is no device, none of that name (naming those that there
/// are), no such port, a port that is not ACTIVE (naming its state and what to look at), or an iWARP device, whose
/// queue pairs only rdma_cm connects.
[[nodiscard]] OpenDevice open_device(const std::string& device, int port);

/// Throws Error (missing, usage) where the device has no shared receive queues, or none of so many receives.
void check_shared_receives(const PortFacts& port, int receives);

/// The port's state now; nothing where the device does not tell any more.
[[nodiscard]] std::optional<ibv_port_state> current_state(const OpenDevice& device);

/// The port's state after something has failed on it, which a port that goes down shows only a moment later.
[[nodiscard]] std::optional<ibv_port_state> settled_state(const OpenDevice& device);

/// Such as `mlx5_0 port 1 of this host is DOWN`.
[[nodiscard]] std::string own_port_text(const PortFacts& port, std::optional<ibv_port_state> state);

// What it is made of.

/// Speed x width of a port as ibv_port_attr codes them (XDR: 256, which does not fit there), in bytes per second; 0
/// where a code is not known. On InfiniBand that is what its coding leaves of the signalling rate: four fifths up to
/// QDR, 64/66 of FDR; the nominal rates of FDR10 and from EDR on are net of it. On Ethernet codes stand for the nominal
/// rate: 4X QDR for 40 Gbit/s. Source: InfiniBand specification 14.2.5.6; ib_get_eth_speed of the kernel.
[[nodiscard]] double port_rate(int active_speed, int active_width, bool ethernet);

/// The code of a port's speed. ibv_port_attr has eight bits for it, and the kernel says NDR there for XDR;
/// /sys/class/infiniband/DEVICE/ports/PORT/rate tells them apart: `800 Gb/sec (4X XDR)`.
[[nodiscard]] int speed_code(int active_speed, std::string_view sysfs_rate);

/// What the choice of a port depends on.
struct PortState {
  int number = 1;
  ibv_port_state state = IBV_PORT_DOWN;
  int physical_state = 0;  ///< as ibv_port_attr has it
  bool ethernet = false;
};

/// A device and its ports, or why it cannot be used.
struct DeviceState {
  std::string name;
  std::vector<PortState> ports;
  std::string refusal;  ///< empty: it can be
};

/// Of all devices, in the order in which the kernel lists them. Throws Error (missing) where there is none.
[[nodiscard]] std::vector<DeviceState> device_states();

/// The number of the port asked for (0: any) where it is active, of several the first; 0 where there is none.
[[nodiscard]] int active_port(const DeviceState& device, int asked);

/// Why active_port found none in any of these devices, and what to do.
[[nodiscard]] std::string why_none_active(const std::vector<DeviceState>& devices, int asked);

/// Why ibv_get_device_list gave no device, and what to do; `error` is its errno, or 0 where the list was empty. `root`
/// stands for / in tests.
[[nodiscard]] std::string why_no_device(int error, const std::filesystem::path& root = "/");

}  // namespace fabricbench::verbs
