#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/backends/sockets/socket.h"
#include "common/core/ownership.h"
#include "common/core/units.h"

namespace fabricbench::sockets {

/// The first message of both ends of a connection, so that neither mistakes a stranger for the other.
struct HandshakeMessage {
  std::uint64_t job = 0;
  std::uint32_t rank = 0;    ///< the sender
  std::uint32_t stream = 0;  ///< the number of this connection between the two ranks

  bool operator==(const HandshakeMessage&) const = default;
};

constexpr std::size_t kHandshakeBytes = 24;
using HandshakeBytes = std::array<std::byte, kHandshakeBytes>;

[[nodiscard]] HandshakeBytes encode(const HandshakeMessage& message);
/// Sends it over a new connection, whose buffer takes these few bytes without blocking. False, with errno:
/// it cannot be sent.
[[nodiscard]] bool send_handshake(int socket, const HandshakeMessage& message);
/// Empty if the bytes are from a stranger.
[[nodiscard]] std::optional<HandshakeMessage> decode(const HandshakeBytes& bytes);

/// Listens at an address, on a port chosen by the kernel. `buffer` is as for make_socket.
[[nodiscard]] Socket listen_at(const Address& address, Bytes buffer);

/// The connections to accept.
struct ExpectedPeers {
  std::uint64_t job = 0;
  int rank = 0;            ///< this rank's own number
  std::vector<int> ranks;  ///< the connecting ranks
  int streams = 1;         ///< connections per rank
};

/// Accepts connections from the listed ranks and rejects all others, on a separate thread, so that this rank can
/// connect to others meanwhile. Ends when all have connected. Strangers have little time to say who they are, and few
/// of them are heard at a time, so that they cannot use up the process's file descriptors.
class Acceptor : NotCopied {
 public:
  Acceptor(std::vector<Socket> listeners, ExpectedPeers list);
  ~Acceptor();

  /// The connections of each rank, by stream. Returns when all have connected.
  [[nodiscard]] std::map<int, std::vector<Socket>> take();
  /// Stops accepting. Returns why no more connections could be accepted; empty: they could.
  [[nodiscard]] std::string stop();

 private:
  /// A connection that has not identified itself yet.
  struct Arrival {
    Socket socket;
    Seconds since = 0;
    HandshakeBytes said{};
    std::size_t bytes = 0;
  };
  enum class Decision { kWait, kLetIn, kTurnAway };

  void accept_all();
  void let_in_all();
  void accept_from(const Socket& listener);
  void make_room(std::size_t most);
  Decision listen_to(Arrival& arrival);
  bool let_in(Arrival& arrival);

  std::vector<Socket> listeners_;
  ExpectedPeers list_;
  std::vector<Arrival> arrivals_;
  std::map<int, std::vector<Socket>> peers_;
  std::size_t missing_;
  std::exception_ptr failure_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // last, because it uses the others
};

/// How a rank connects to others.
struct Dialing {
  std::uint64_t job = 0;
  int rank = 0;  ///< this rank
  int streams = 1;
  std::vector<Address> sources;  ///< addresses to connect from; empty: chosen by the kernel
  Bytes buffer = 0;              ///< as for make_socket
  Seconds limit_s = 10;          ///< for all attempts at one connection together

  /// The time limit of one attempt if there are this many endpoints.
  [[nodiscard]] Seconds share(std::size_t endpoints) const {
    return limit_s / static_cast<double>(std::max<std::size_t>(endpoints, 1));
  }
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
