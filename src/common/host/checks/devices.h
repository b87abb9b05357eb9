// The devices that several checks look at.
#pragma once

#include <optional>
#include <string>
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

/// What an adapter is: its board, or else its model; `unknown` where neither can be read.
[[nodiscard]] std::string board_of(Look& look, const std::string& device);

/// Whether a device has this port; any where it is empty. Throws NotSeen.
[[nodiscard]] bool has_port(Look& look, const std::string& device, const std::string& port);

}  // namespace fabricbench::host
