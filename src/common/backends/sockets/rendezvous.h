#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/backends/sockets/handshake.h"
#include "common/backends/sockets/interfaces.h"
#include "common/backends/sockets/socket.h"
#include "common/core/pairs.h"
#include "common/core/units.h"
#include "common/record/field.h"

namespace fabricbench::sockets {

/// Gives every rank's text, by rank, on every rank. Collective.
using Gather = std::function<std::vector<std::string>(const std::string&)>;

/// A rank's description of itself for the others.
struct RankAddresses {
  std::string name;                      ///< as in TcpSettings
  std::string network;                   ///< as in TcpSettings
  std::uint64_t job = 0;                 ///< a random number; rank 0's identifies this job's connections
  std::vector<SocketAddress> endpoints;  ///< the endpoints at which it listens
};

template <typename Visitor, record::Of<RankAddresses> Record>
void describe(Visitor& visitor, Record& addresses) {
  visitor.internal(addresses.name, addresses.network, addresses.job, addresses.endpoints);
}
template <typename Visitor, record::Of<SocketAddress> Record>
void describe(Visitor& visitor, Record& endpoint) {
  visitor.internal(endpoint.address.family, endpoint.address.bytes, endpoint.port);
}

/// Gathers every rank's result of `make`, by rank, on every rank. If `make` throws on some ranks, every rank throws the
/// Error of the first such rank, with its `name`.
[[nodiscard]] std::vector<std::string> gather_or_throw(const Gather& gather, const std::string& name,
                                                       const std::function<std::string()>& make);

/// The same on every rank, except for the name, the network and the interface.
struct TcpSettings {
  std::string name;              ///< this rank's in messages, such as `rank 3 on node-07`
  std::string network;           ///< the same for ranks that share a loopback; empty: unknown, and not shared
  int streams = 1;               ///< connections between two ranks, 1 to 64
  std::string interface;         ///< as for choose_addresses; empty: the one that reaches the other rank
  Bytes socket_buffer = 0;       ///< per direction of a connection; 0: chosen by the kernel
  Seconds time_limit_s = 0;      ///< time without a byte; 0: no limit
  Seconds connect_limit_s = 10;  ///< for one connection
  std::vector<Pair> pairs;       ///< pairs that gather_or_throw messages; empty: all
};

/// A rank and its connections, all prepared for messages (make_ready).
struct Peer {
  std::string name;             ///< for messages: `rank 1 on node-b (10.0.0.2)`
  std::vector<Socket> streams;  ///< empty: no messages are exchanged with it
};

/// Connects the ranks: every rank listens and tells the others its endpoints, then the lower rank of each pair connects
/// to the higher one.
class Rendezvous {
 public:
  /// Throws UsageError for an invalid number of streams or an invalid pair.
  Rendezvous(int rank, int ranks, const TcpSettings& settings);

  /// The ranks, with connections to those that this one exchanges messages with. Collective, as for TcpSession.
  [[nodiscard]] std::vector<Peer> connect(const Gather& gather);

 private:
  [[nodiscard]] std::string describe_this_rank();
  void throw_fault_of_acceptors(const Gather& gather, Acceptor& acceptor) const;
  void dial_higher(std::vector<Peer>& peers) const;
  [[nodiscard]] std::vector<SocketAddress> reachable(const RankAddresses& other) const;
  [[nodiscard]] bool owns(const Address& address) const;

  int rank_;
  int ranks_;
  TcpSettings settings_;
  std::vector<int> partners_;
  std::vector<OwnAddress> own_;
  std::vector<Socket> listeners_;
  std::vector<RankAddresses> addresses_;  // by rank
};

/// The ranks that `rank` exchanges messages with, in ascending order.
[[nodiscard]] std::vector<int> partners(int rank, int ranks, const std::vector<Pair>& pairs);

/// Listens at all of these addresses except those that the kernel refuses, such as an IPv6 address that is still
/// tentative. Throws Error (missing) if it refuses all. `buffer` is as for make_socket.
[[nodiscard]] std::vector<Socket> listen_at_all(const std::vector<OwnAddress>& own, Bytes buffer);

/// Moves the endpoints in a network of `own` to the front; otherwise keeps the order.
void put_near_first(std::vector<SocketAddress>& endpoints, const std::vector<OwnAddress>& own);

/// The address of the other end of a connection.
[[nodiscard]] Address peer_address(const Socket& socket);

}  // namespace fabricbench::sockets
