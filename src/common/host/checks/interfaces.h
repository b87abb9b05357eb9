// The network interfaces of a host and their addresses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/host/checks/check.h"

namespace fabricbench::host {

/// An interface with its addresses: `10.0.0.7/24`.
struct HostInterface {
  std::string name;
  std::string state;  ///< `up`, `no-carrier`, `down`
  std::vector<std::string> addresses{};

  [[nodiscard]] bool is_bridge_of_containers() const;
  /// Why no other host can be reached by it; empty if one may.
  [[nodiscard]] std::string obstacle() const;
  /// Why one that is up leads to no other host; empty if it may.
  [[nodiscard]] std::string detour() const;
  /// Whether MPI and Gloo mean it: by its name, or by a subnet.
  [[nodiscard]] bool is_named_by(const std::string& text) const;
};

inline const std::string kNetClass = "/sys/class/net";

/// Calls `action` for each interface of a device and each bond, not for bridges, containers and tunnels; one that is
/// not seen leaves the others.
void each_link(Look& look, const std::function<void(const std::string&)>& action);

/// Throws NotSeen.
[[nodiscard]] std::vector<HostInterface> interfaces_of_host(Look& look);

}  // namespace fabricbench::host
