#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/backends/sockets/address.h"
#include "common/backends/sockets/hello.h"
#include "common/backends/sockets/socket.h"

namespace fabricbench::sockets {

/// Listens at an address, on a port chosen by the kernel. `buffer` is as for make_socket.
[[nodiscard]] Socket listen_at(const Address& address, Bytes buffer);

/// The connections to accept.
struct GuestList {
  std::uint64_t job = 0;
  int rank = 0;            ///< this rank's own number
  std::vector<int> ranks;  ///< the connecting ranks
  int streams = 1;         ///< connections per rank
};

/// Accepts connections from the listed ranks and rejects all others, on a separate thread, so that this rank can
/// connect to others meanwhile. Ends when all have connected. Strangers have little time to say who they are, and few
/// of them are heard at a time, so that they cannot use up the process's file descriptors.
class Acceptor {
 public:
  Acceptor(std::vector<Socket> listeners, GuestList list);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
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
    HelloBytes said{};
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
  GuestList list_;
  std::vector<Arrival> arrivals_;
  std::map<int, std::vector<Socket>> guests_;
  std::size_t missing_;
  std::exception_ptr failure_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // last, because it uses the others
};

}  // namespace fabricbench::sockets
