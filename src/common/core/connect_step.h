#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "common/core/names.h"

namespace fabricbench {

/// The steps of the side that opens a connection over rdma_cm, in order.
enum class ConnectStep { kResolveAddress, kResolveRoute, kConnect, kFirstMessage, kDisconnect };

inline constexpr std::size_t kConnectSteps = 5;

/// As tables and JSON spell them.
constexpr auto names_of(ConnectStep) {
  return std::to_array<std::string_view>(
      {"resolve_address", "resolve_route", "connect", "first_message", "disconnect"});
}

}  // namespace fabricbench
