#include "common/backends/sockets/tcp_info.h"

#include <linux/tcp.h>  // the C library's own header is older, and the two exclude each other
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

namespace fabricbench::sockets {

TcpTotals& TcpTotals::operator+=(const TcpTotals& other) {
  retransmitted_segments += other.retransmitted_segments;
  sent_bytes += other.sent_bytes;
  received_bytes += other.received_bytes;
  return *this;
}

TcpTotals read_totals(const Socket& socket) {
  tcp_info info{};  // an older kernel leaves unknown members at 0
  socklen_t size = sizeof info;
  check(::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size), "getsockopt", "TCP_INFO");
  return {info.tcpi_total_retrans, info.tcpi_bytes_acked, info.tcpi_bytes_received};
}

std::string congestion_control(const Socket& socket) {
  constexpr std::size_t kLongestName = 16;  // TCP_CA_NAME_MAX of Linux, which is not in its public headers
  std::array<char, kLongestName + 1> name{};
  socklen_t size = kLongestName;
  check(::getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size), "getsockopt", "TCP_CONGESTION");
  return name.data();
}

}  // namespace fabricbench::sockets
