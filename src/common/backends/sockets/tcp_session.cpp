#include "common/backends/sockets/tcp_session.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/backends/sockets/interfaces.h"
#include "common/backends/sockets/socket.h"

namespace fabricbench::sockets {
namespace {

/// The addresses and interface of the first peer's connection, and the number of other peers.
std::string route(const Socket& first, std::size_t others) {
  // No addresses: results are published.
  const Address own = own_endpoint(first.get()).address;
  const std::string more = others == 0 ? "" : fmt::format(" and {} other {}", others, others == 1 ? "rank" : "ranks");
  return fmt::format("by {}{}", interface_of(own, interfaces()), more);
}

/// The buffer size that the kernel granted; it reports twice the size, for its own use (socket(7)).
std::string buffers(const Socket& socket, Bytes asked) {
  if (asked == 0) return "";
  const int given =
      std::min(option(socket, SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF"), option(socket, SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF")) /
      2;
  const auto bytes = static_cast<Bytes>(given);
  if (bytes >= asked) return fmt::format(", socket buffers of {}", readable_bytes(asked));
  return fmt::format(", socket buffers of {}, not {}: see net.core.rmem_max and wmem_max", readable_bytes(bytes),
                     readable_bytes(asked));
}

std::string describe(const std::vector<Peer>& peers, const TcpSettings& settings) {
  std::string streams = fmt::format("TCP, {} {}", settings.streams, settings.streams == 1 ? "stream" : "streams");
  const auto is_connected = [](const Peer& peer) { return !peer.streams.empty(); };
  const auto connected = std::count_if(peers.begin(), peers.end(), is_connected);
  if (connected == 0) return streams;
  const Socket& first = std::find_if(peers.begin(), peers.end(), is_connected)->streams.front();
  return fmt::format("{}, {}, congestion control {}{}", streams, route(first, static_cast<std::size_t>(connected) - 1),
                     congestion_control(first), buffers(first, settings.socket_buffer));
}

}  // namespace

TcpSession::TcpSession(int rank, int ranks, const Gather& gather, const TcpSettings& settings) {
  std::vector<Peer> peers = Meeting(rank, ranks, settings).connect(gather);
  library_ = describe(peers, settings);
  backend_ = std::make_unique<TcpBackend>(std::move(peers), settings.time_limit_s);
}

std::string TcpSession::remark() const {
  const TcpTotals all = totals();
  if (all.retransmitted_segments == 0) return "";
  return fmt::format("retransmitted {} TCP segments while {} arrived at the other side", all.retransmitted_segments,
                     readable_bytes(all.sent_bytes));
}

std::vector<std::byte*> TcpSession::allocate(std::size_t bytes) { return {HostMemory::allocate(bytes)}; }

void TcpSession::release(const std::vector<std::byte*>& blocks) noexcept {
  for (std::byte* block : blocks) HostMemory::release(block);
}

}  // namespace fabricbench::sockets
