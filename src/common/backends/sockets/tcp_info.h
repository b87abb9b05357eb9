#pragma once

#include <cstdint>
#include <string>

#include "common/backends/sockets/socket.h"

namespace fabricbench::sockets {

/// The kernel's statistics of connections, summed since they were opened (TCP_INFO of Linux 4.1 or newer).
struct TcpTotals {
  std::uint64_t retransmitted_segments = 0;
  std::uint64_t sent_bytes = 0;  ///< acknowledged by the other side
  std::uint64_t received_bytes = 0;

  TcpTotals& operator+=(const TcpTotals& other);
};

[[nodiscard]] TcpTotals read_totals(const Socket& socket);

/// Such as `cubic`.
[[nodiscard]] std::string congestion_control(const Socket& socket);

}  // namespace fabricbench::sockets
