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
  int rank = 0;  ///< its own
  int streams = 1;
  std::vector<Address> sources;  ///< the addresses to connect from; empty: as the kernel routes
  Bytes buffer = 0;              ///< as make_socket takes it
  Seconds limit_s = 10;          ///< for all attempts on one connection together

  /// What an attempt on each of so many endpoints may take.
  [[nodiscard]] Seconds share(std::size_t endpoints) const;
};

/// The rank that is to be connected to.
struct Callee {
  int rank = 0;
  std::string name;                 ///< for messages: `rank 1 on node-b`
  std::vector<Endpoint> endpoints;  ///< of which any will do, the likeliest first
};

/// Connections to one rank, by stream, which an Acceptor there has taken: all to the first endpoint that answers as it
/// should. Throws Error (missing) with what was tried where none does.
[[nodiscard]] std::vector<Socket> dial(const Callee& callee, const Dialing& dialing);

}  // namespace fabricbench::sockets
