#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace fabricbench {

/// What the side that opens a connection over rdma_cm waits for, in this order.
enum class ConnectStep { kResolveAddress, kResolveRoute, kConnect, kFirstMessage, kDisconnect };

inline constexpr std::size_t kConnectSteps = 5;

/// As tables and JSON spell it, such as `resolve_address`.
[[nodiscard]] constexpr std::string_view name(ConnectStep step) {
  constexpr std::array<std::string_view, kConnectSteps> kNames = {"resolve_address", "resolve_route", "connect",
                                                                  "first_message", "disconnect"};
  return kNames[static_cast<std::size_t>(step)];
}

}  // namespace fabricbench
