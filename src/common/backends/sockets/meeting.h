#pragma once

#include <string>
#include <vector>

#include "common/backends/sockets/acceptor.h"
#include "common/backends/sockets/announcement.h"
#include "common/backends/sockets/interfaces.h"
#include "common/backends/sockets/settings.h"
#include "common/backends/sockets/tcp_backend.h"

namespace fabricbench::sockets {

/// Brings the ranks together: every rank listens and tells the others where, then the lower of two ranks connects to
/// the higher.
class Meeting {
 public:
  /// Throws UsageError for a number of streams or a pair that cannot be.
  Meeting(int rank, int ranks, const TcpSettings& settings);

  /// The ranks and the connections to those that this one exchanges messages with. Collective, as TcpSession says.
  [[nodiscard]] std::vector<Peer> connect(const Gather& gather);

 private:
  [[nodiscard]] std::string announce();
  void dial_higher(std::vector<Peer>& peers) const;
  [[nodiscard]] std::vector<Endpoint> reachable(const Announcement& other) const;
  [[nodiscard]] bool owns(const Address& address) const;
  [[nodiscard]] std::string name_of(std::size_t rank) const;

  int rank_;
  int ranks_;
  TcpSettings settings_;
  std::vector<int> partners_;
  std::vector<OwnAddress> own_;
  std::vector<Socket> listeners_;
  std::vector<Announcement> announcements_;  // by rank
};

/// Whom `rank` exchanges messages with, in order.
[[nodiscard]] std::vector<int> partners(int rank, int ranks, const std::vector<Pair>& pairs);

/// Listens at all of these addresses but those that the kernel refuses, such as one of IPv6 that it has not yet made
/// sure of. Throws Error (missing) where it refuses all. `buffer` is as make_socket takes it.
[[nodiscard]] std::vector<Socket> listen_at_all(const std::vector<OwnAddress>& own, Bytes buffer);

/// Puts the endpoints in a network of `own` before the others, and leaves the order as it is otherwise.
void put_near_first(std::vector<Endpoint>& endpoints, const std::vector<OwnAddress>& own);

/// Where the other end of a connection is.
[[nodiscard]] Address peer_address(const Socket& socket);

}  // namespace fabricbench::sockets
