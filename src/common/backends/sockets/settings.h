#pragma once

#include <string>
#include <vector>

#include "common/core/pairs.h"
#include "common/core/units.h"

namespace fabricbench::sockets {

/// The same on every rank, except for the name, the network and the interface.
struct TcpSettings {
  std::string name;              ///< this rank's in messages, such as `rank 3 on node-07`
  std::string network;           ///< the same for ranks that share a loopback; empty: unknown, and not shared
  int streams = 1;               ///< connections between two ranks, 1 to 64
  std::string interface;         ///< as for choose_addresses; empty: the one that reaches the other rank
  Bytes socket_buffer = 0;       ///< per direction of a connection; 0: chosen by the kernel
  Seconds time_limit_s = 0;      ///< time without a byte; 0: no limit
  Seconds connect_limit_s = 10;  ///< for one connection
  std::vector<Pair> pairs;       ///< pairs that exchange messages; empty: all
};

}  // namespace fabricbench::sockets
