// The devices that several checks look at.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/host/checks/check.h"

namespace fabricbench::host {

inline const std::string kRdmaClass = "/sys/class/infiniband";

/// The RDMA devices of the kernel. Throws NotSeen.
[[nodiscard]] std::vector<std::string> rdma_devices(Look& look);

/// `no RDMA device`, for checks of them: `absent` of Check.
[[nodiscard]] std::optional<std::string> no_rdma_device(Look& look);

/// A port of an RDMA device.
struct RdmaPort {
  std::string device;
  std::string number;
  [[nodiscard]] std::string name() const { return device + " port " + number; }
  [[nodiscard]] std::string folder() const { return kRdmaClass + "/" + device + "/ports/" + number; }
};

/// Calls `action` for each port of each device; one that is not seen leaves the others.
void each_port(Look& look, const std::function<void(const RdmaPort&)>& action);

/// Throws NotSeen.
[[nodiscard]] bool is_active(Look& look, const RdmaPort& port);

/// Calls `action` for each active port with this link layer, `InfiniBand` or `Ethernet`; one that is not seen leaves
/// the others.
void each_active_port(Look& look, std::string_view layer, const std::function<void(const RdmaPort&)>& action);

/// `no InfiniBand port`, `no RoCE port`: `absent` of Check.
[[nodiscard]] std::optional<std::string> no_infiniband_port(Look& look);
[[nodiscard]] std::optional<std::string> no_roce_port(Look& look);

/// `mlx5_core`, from the link of its PCI device. Throws NotSeen.
[[nodiscard]] std::string driver_of(Look& look, const std::string& device);

/// The network interfaces of an RDMA device's own PCI function; none is an answer. Throws NotSeen.
[[nodiscard]] std::vector<std::string> interfaces_of(Look& look, const std::string& device);

/// What an adapter is: its board, or else its model; `unknown` where neither can be read.
[[nodiscard]] std::string board_of(Look& look, const std::string& device);

/// Whether a device has this port; any where it is empty. Throws NotSeen.
[[nodiscard]] bool has_port(Look& look, const std::string& device, const std::string& port);

}  // namespace fabricbench::host
