#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <thread>
#include <vector>

#include "common/backends/sockets/address.h"
#include "common/backends/sockets/hello.h"
#include "common/backends/sockets/socket.h"

namespace fabricbench::sockets {

/// Listens at an address, on a port that the kernel chooses. `buffer` is as make_socket takes it.
[[nodiscard]] Socket listen_at(const Address& address, Bytes buffer);

/// Who is to be let in.
struct GuestList {
  std::uint64_t job = 0;
  int rank = 0;            ///< of the host, in the sense of a party
  std::vector<int> ranks;  ///< of the guests
  int streams = 1;         ///< connections of each
};

/// Lets the ranks on the list in and turns everybody else away, on a thread of its own, so that ranks can connect to
/// others meanwhile. Ends when all are there.
class Acceptor {
 public:
  Acceptor(std::vector<Socket> listeners, GuestList list);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor();

  /// The connections of each rank, by stream. Returns when all are there.
  [[nodiscard]] std::map<int, std::vector<Socket>> take();

 private:
  /// A connection that has not yet said who it is.
  struct Arrival {
    Socket socket;
    HelloBytes said{};
    std::size_t bytes = 0;
  };
  enum class Verdict { kWait, kLetIn, kTurnAway };

  void run();
  void let_in_all();
  void accept_from(const Socket& listener);
  Verdict listen_to(Arrival& arrival);
  bool let_in(Arrival& arrival);

  std::vector<Socket> listeners_;
  GuestList list_;
  std::vector<Arrival> arrivals_;
  std::map<int, std::vector<Socket>> guests_;
  std::size_t missing_;
  std::exception_ptr failure_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // the last one, because it uses the others
};

}  // namespace fabricbench::sockets
