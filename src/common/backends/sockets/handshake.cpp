#include "common/backends/sockets/handshake.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::sockets {
namespace {

/// The layout: this text, then the members of HandshakeMessage in this machine's byte order. A machine with another
/// byte order would not recognise the job number, and counts as a stranger.
constexpr std::string_view kGreeting = "fabricb1";
static_assert(kGreeting.size() + sizeof(HandshakeMessage) == kHandshakeBytes);

/// The maximum time for which a rank that gives up waits for its own thread.
constexpr Seconds kLookUp = 0.02;

/// The time in which a connection says who it is. A rank does at once.
constexpr Seconds kSilence = 10;
/// Connections heard at a time besides those of the ranks that are missing.
constexpr std::size_t kStrangers = 32;

/// Errors of a connection that was closed before it was accepted (accept(2)); they are the other side's.
bool is_of_the_peer(int error) {
  return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM ||
         error == ENETDOWN || error == EHOSTDOWN || error == EHOSTUNREACH || error == ENETUNREACH;
}

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
std::string greet(const Socket& socket, const HandshakeMessage& own, const HandshakeMessage& expected,
                  Seconds deadline) {
  if (!send_handshake(socket.get(), own)) {
    return errno == ECONNRESET || errno == EPIPE ? kTurnedAway : std::strerror(errno);
  }
  HandshakeBytes answer{};
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
  const HandshakeMessage own{dialing.job, static_cast<std::uint32_t>(dialing.rank), number};
  const HandshakeMessage expected{dialing.job, static_cast<std::uint32_t>(callee.rank), number};
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

HandshakeBytes encode(const HandshakeMessage& message) {
  HandshakeBytes bytes{};
  std::memcpy(bytes.data(), kGreeting.data(), kGreeting.size());
  const auto members = std::bit_cast<std::array<std::byte, sizeof(HandshakeMessage)>>(message);
  std::memcpy(bytes.data() + kGreeting.size(), members.data(), members.size());
  return bytes;
}

bool send_handshake(int socket, const HandshakeMessage& message) {
  const HandshakeBytes bytes = encode(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t more = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (more < 0 && errno != EINTR) return false;
    sent += static_cast<std::size_t>(std::max<ssize_t>(more, 0));
  }
  return true;
}

std::optional<HandshakeMessage> decode(const HandshakeBytes& bytes) {
  if (std::memcmp(bytes.data(), kGreeting.data(), kGreeting.size()) != 0) return std::nullopt;
  std::array<std::byte, sizeof(HandshakeMessage)> members{};
  std::memcpy(members.data(), bytes.data() + kGreeting.size(), members.size());
  return std::bit_cast<HandshakeMessage>(members);
}

Socket listen_at(const Address& address, Bytes buffer) {
  Socket listener = make_socket(address.family, buffer);
  const SocketName name = socket_name({address, 0});
  const std::string text = to_text(address);
  check(::bind(listener.get(), name.get(), name.size), "bind", text);
  check(::listen(listener.get(), SOMAXCONN), "listen", text);
  return listener;
}

Acceptor::Acceptor(std::vector<Socket> listeners, ExpectedPeers list)
    : listeners_(std::move(listeners)),
      list_(std::move(list)),
      missing_(list_.ranks.size() * static_cast<std::size_t>(list_.streams)) {
  for (const int rank : list_.ranks) peers_[rank].resize(static_cast<std::size_t>(list_.streams));
  thread_ = std::thread([this] { accept_all(); });
}

Acceptor::~Acceptor() { static_cast<void>(stop()); }

std::map<int, std::vector<Socket>> Acceptor::take() {
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  return std::move(peers_);
}

std::string Acceptor::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  if (!failure_) return "";
  try {
    std::rethrow_exception(failure_);
  } catch (const std::exception& error) {
    return error.what();
  }
}

void Acceptor::accept_all() {
  try {
    while (missing_ > 0 && !stop_) let_in_all();
  } catch (...) {
    failure_ = std::current_exception();
  }
  arrivals_.clear();
  listeners_.clear();  // later connections are refused
}

/// Waits briefly for connections and greetings.
void Acceptor::let_in_all() {
  std::erase_if(arrivals_, [](const Arrival& arrival) { return now() - arrival.since > kSilence; });
  std::vector<pollfd> waited_for;
  for (const Socket& listener : listeners_) waited_for.push_back({listener.get(), POLLIN, 0});
  for (const Arrival& arrival : arrivals_) waited_for.push_back({arrival.socket.get(), POLLIN, 0});
  if (!poll_until(waited_for, now() + kLookUp)) return;
  const auto happened = [&](std::size_t place) { return waited_for[place].revents != 0; };

  std::vector<Arrival> waiting;
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    const Decision verdict = happened(listeners_.size() + i) ? listen_to(arrivals_[i]) : Decision::kWait;
    if (verdict == Decision::kWait) waiting.push_back(std::move(arrivals_[i]));
  }
  arrivals_ = std::move(waiting);  // closes rejected connections
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if (happened(i)) accept_from(listeners_[i]);
  }
}

void Acceptor::accept_from(const Socket& listener) {
  const int descriptor = ::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor >= 0) {
    make_room(missing_ + kStrangers - 1);
    arrivals_.push_back({Socket(descriptor), now()});
    return;
  }
  if (is_of_the_peer(errno)) return;
  if ((errno == EMFILE || errno == ENFILE) && !arrivals_.empty()) return make_room(arrivals_.size() - 1);
  if (errno == EMFILE) {
    throw Error(ExitStatus::kMissing,
                "this process has no file descriptor left for the connection of another rank; raise the limit (ulimit "
                "-n), or lower --streams");
  }
  check(descriptor, "accept");
}

/// Closes the connections that have been silent longest, until there are no more than `most`.
void Acceptor::make_room(std::size_t most) {
  if (arrivals_.size() <= most) return;
  arrivals_.erase(arrivals_.begin(), arrivals_.end() - static_cast<std::ptrdiff_t>(most));
}

Acceptor::Decision Acceptor::listen_to(Arrival& arrival) {
  const ssize_t bytes =
      ::recv(arrival.socket.get(), arrival.said.data() + arrival.bytes, arrival.said.size() - arrival.bytes, 0);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return Decision::kWait;
  if (bytes <= 0) return Decision::kTurnAway;
  arrival.bytes += static_cast<std::size_t>(bytes);
  if (arrival.bytes < arrival.said.size()) return Decision::kWait;
  return let_in(arrival) ? Decision::kLetIn : Decision::kTurnAway;
}

bool Acceptor::let_in(Arrival& arrival) {
  const std::optional<HandshakeMessage> message = decode(arrival.said);
  if (!message || message->job != list_.job || message->stream >= static_cast<std::uint32_t>(list_.streams))
    return false;
  const auto peer = peers_.find(static_cast<int>(message->rank));
  if (peer == peers_.end()) return false;
  const HandshakeMessage answer{list_.job, static_cast<std::uint32_t>(list_.rank), message->stream};
  if (!send_handshake(arrival.socket.get(), answer)) return false;
  Socket& place = peer->second[message->stream];
  if (!place.is_open()) --missing_;
  place = std::move(arrival.socket);  // a later connection replaces it: its caller has given up the earlier one
  return true;
}

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
