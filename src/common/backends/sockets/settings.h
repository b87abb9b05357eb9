#pragma once

#include <string>
#include <vector>

#include "common/core/pairs.h"
#include "common/core/units.h"

namespace fabricbench::sockets {

/// The same on every rank, but for the host, its network and the interface.
struct TcpSettings {
  std::string host;              ///< this one's name, for messages
  std::string network;           ///< equal where two ranks share a loopback; empty: not known, and shared with nobody
  int streams = 1;               ///< connections between two ranks, 1 to 64
  std::string interface;         ///< as choose_addresses takes it; empty: whichever reaches the other rank
  Bytes socket_buffer = 0;       ///< of each direction of a connection; 0: as the kernel sees fit
  Seconds time_limit_s = 0;      ///< without a byte; 0: none
  Seconds connect_limit_s = 10;  ///< for one connection
  std::vector<Pair> pairs;       ///< who exchanges messages; empty: every rank with every other
};

}  // namespace fabricbench::sockets
