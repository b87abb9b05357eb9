#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/backends/sockets/address.h"
#include "common/backends/sockets/socket.h"
#include "common/core/units.h"

namespace fabricbench::sockets {

/// How a rank connects to others.
struct Dialing {
  std::uint64_t job = 0;
  int rank = 0;  ///< this rank
  int streams = 1;
  std::vector<Address> sources;  ///< addresses to connect from; empty: chosen by the kernel
  Bytes buffer = 0;              ///< as for make_socket
  Seconds limit_s = 10;          ///< for all attempts at one connection together

  /// The time limit of one attempt if there are this many endpoints.
  [[nodiscard]] Seconds share(std::size_t endpoints) const;
};

/// The rank to connect to.
struct Callee {
  int rank = 0;
  std::string name;                      ///< for messages: `rank 1 on node-b`
  std::vector<SocketAddress> endpoints;  ///< alternatives, the likeliest first
};

/// Connects to one rank, whose Acceptor takes the connections. Returns them by stream; all go to the first endpoint
/// that answers correctly. If it was turned away, as where strangers were in the way, it tries again until its limit.
/// Throws Error (missing) with the last attempts if none does.
[[nodiscard]] std::vector<Socket> dial(const Callee& callee, const Dialing& dialing);

}  // namespace fabricbench::sockets
