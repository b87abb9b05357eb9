#include "common/backends/sockets/acceptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/backends/sockets/check.h"
#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::sockets {
namespace {

/// The maximum time for which a rank that gives up waits for its own thread.
constexpr Seconds kLookUp = 0.02;

/// The time in which a connection says who it is. A rank does at once.
constexpr Seconds kSilence = 10;
/// Connections heard at a time besides those of the ranks that are missing.
constexpr std::size_t kStrangers = 32;

/// Errors of a connection that was closed before it was accepted (accept(2)); they are the other side's.
bool is_of_the_guest(int error) {
  return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM ||
         error == ENETDOWN || error == EHOSTDOWN || error == EHOSTUNREACH || error == ENETUNREACH;
}

}  // namespace

Socket listen_at(const Address& address, Bytes buffer) {
  Socket listener = make_socket(address.family, buffer);
  const SocketName name = socket_name({address, 0});
  const std::string text = to_text(address);
  check(::bind(listener.get(), name.get(), name.size), "bind", text);
  check(::listen(listener.get(), SOMAXCONN), "listen", text);
  return listener;
}

Acceptor::Acceptor(std::vector<Socket> listeners, GuestList list)
    : listeners_(std::move(listeners)),
      list_(std::move(list)),
      missing_(list_.ranks.size() * static_cast<std::size_t>(list_.streams)) {
  for (const int rank : list_.ranks) guests_[rank].resize(static_cast<std::size_t>(list_.streams));
  thread_ = std::thread([this] { accept_all(); });
}

Acceptor::~Acceptor() { static_cast<void>(stop()); }

std::map<int, std::vector<Socket>> Acceptor::take() {
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  return std::move(guests_);
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
  if (is_of_the_guest(errno)) return;
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
  const std::optional<Hello> hello = decode(arrival.said);
  if (!hello || hello->job != list_.job || hello->stream >= static_cast<std::uint32_t>(list_.streams)) return false;
  const auto guest = guests_.find(static_cast<int>(hello->rank));
  if (guest == guests_.end()) return false;
  const Hello answer{list_.job, static_cast<std::uint32_t>(list_.rank), hello->stream};
  if (!send_hello(arrival.socket.get(), answer)) return false;
  Socket& place = guest->second[hello->stream];
  if (!place.is_open()) --missing_;
  place = std::move(arrival.socket);  // a later connection replaces it: its caller has given up the earlier one
  return true;
}

}  // namespace fabricbench::sockets
