#include "common/backends/sockets/dialer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/backends/sockets/check.h"
#include "common/backends/sockets/hello.h"
#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::sockets {
namespace {

constexpr const char* kNoAnswer = "no answer";

constexpr const char* kTurnedAway = "connected, but was turned away";
constexpr Seconds kPause = 0.1;

/// A connection, or the reason for its failure.
struct Attempt {
  Socket socket;
  std::string reason;
};

/// Connections, or the reasons for their failure.
struct Round {
  std::vector<Socket> streams;
  std::vector<std::string> tried;
  bool is_turned_away = false;  ///< somewhere: strangers may have been in the way
};

bool wait_for(const Socket& socket, short events, Seconds deadline) {
  pollfd waited_for{.fd = socket.get(), .events = events, .revents = 0};
  return poll_until({&waited_for, 1}, deadline);
}

/// Empty if the socket is connected.
std::string connect(const Socket& socket, const SocketAddress& endpoint, Seconds deadline) {
  const SocketName name = socket_name(endpoint);
  if (::connect(socket.get(), name.get(), name.size) == 0) return "";
  if (errno != EINPROGRESS) return std::strerror(errno);
  if (!wait_for(socket, POLLOUT, deadline)) return kNoAnswer;
  const int error = option(socket, SOL_SOCKET, SO_ERROR, "SO_ERROR");
  return error == 0 ? "" : std::strerror(error);
}

/// Empty if the other end answers as expected.
std::string greet(const Socket& socket, const Hello& own, const Hello& expected, Seconds deadline) {
  if (!send_hello(socket.get(), own)) {
    return errno == ECONNRESET || errno == EPIPE ? kTurnedAway : std::strerror(errno);
  }
  HelloBytes answer{};
  std::size_t got = 0;
  while (got < answer.size()) {
    if (!wait_for(socket, POLLIN, deadline)) return "connected, but no answer";
    const ssize_t bytes = ::recv(socket.get(), answer.data() + got, answer.size() - got, 0);
    if (bytes == 0 || (bytes < 0 && errno == ECONNRESET)) return kTurnedAway;
    if (bytes < 0 && errno != EAGAIN && errno != EINTR) return std::strerror(errno);
    got += static_cast<std::size_t>(std::max<ssize_t>(bytes, 0));
  }
  return decode(answer) == expected ? "" : "connected, but something else answers there";
}

void bind_source(const Socket& socket, int family, const std::vector<Address>& sources) {
  const auto source =
      std::find_if(sources.begin(), sources.end(), [&](const Address& one) { return one.family == family; });
  if (source == sources.end()) return;
  const SocketName name = socket_name({*source, 0});
  const std::string address = to_text(*source);
  check(::bind(socket.get(), name.get(), name.size), "bind", address);
}

Attempt attempt(const Callee& callee, const SocketAddress& endpoint, int stream, const Dialing& dialing,
                Seconds deadline) {
  Attempt result{make_socket(endpoint.address.family, dialing.buffer), ""};
  bind_source(result.socket, endpoint.address.family, dialing.sources);
  result.reason = connect(result.socket, endpoint, deadline);
  if (!result.reason.empty()) return result;
  const auto number = static_cast<std::uint32_t>(stream);
  const Hello own{dialing.job, static_cast<std::uint32_t>(dialing.rank), number};
  const Hello expected{dialing.job, static_cast<std::uint32_t>(callee.rank), number};
  result.reason = greet(result.socket, own, expected, deadline);
  return result;
}

[[noreturn]] void fail_to_reach(const Callee& callee, const std::vector<std::string>& tried) {
  const std::string attempts = tried.empty() ? "it has no address that this host could connect to"
                                             : fmt::format("tried {}", fmt::join(tried, ", "));
  throw Error(ExitStatus::kMissing,
              fmt::format("cannot connect to {}: {}; a firewall between the hosts or the wrong interface is the likely "
                          "cause: give --interface NAME of a network that connects the hosts",
                          callee.name, attempts));
}

}  // namespace

Seconds Dialing::share(std::size_t endpoints) const {
  return limit_s / static_cast<double>(std::max<std::size_t>(endpoints, 1));
}

namespace {

/// Tries each address once.
Round try_all(const Callee& callee, const Dialing& dialing) {
  Round round;
  const auto wanted = static_cast<std::size_t>(dialing.streams);
  const Seconds share = dialing.share(callee.endpoints.size());
  for (const SocketAddress& endpoint : callee.endpoints) {
    while (round.streams.size() < wanted) {
      Attempt made = attempt(callee, endpoint, static_cast<int>(round.streams.size()), dialing, now() + share);
      if (!made.reason.empty()) {
        round.is_turned_away = round.is_turned_away || made.reason == kTurnedAway;
        round.tried.push_back(fmt::format("{} port {} ({})", to_text(endpoint.address), endpoint.port, made.reason));
        break;
      }
      round.streams.push_back(std::move(made.socket));
    }
    if (!round.streams.empty()) break;  // this address works, and all streams must take the same path
  }
  return round;
}

}  // namespace

std::vector<Socket> dial(const Callee& callee, const Dialing& dialing) {
  const Seconds deadline = now() + dialing.limit_s;
  for (;;) {
    Round round = try_all(callee, dialing);
    if (round.streams.size() == static_cast<std::size_t>(dialing.streams)) return std::move(round.streams);
    if (!round.is_turned_away || now() >= deadline) fail_to_reach(callee, round.tried);
    sleep_for(kPause);
  }
}

}  // namespace fabricbench::sockets
