// The network side of reachability: who answers, and who asks.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <list>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cluster/preflight/reachability.h"
#include "common/backends/sockets/interfaces.h"
#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

using sockets::Address;
using sockets::Socket;
using sockets::SocketAddress;

constexpr std::size_t kLarge = std::size_t{64} << 10;  // many packets, also of jumbo frames

/// One byte, and when that has come back the rest.
constexpr std::size_t kSmall = 1;

bool is_bridge(const std::string& interface) {
  std::error_code error;
  return std::filesystem::exists(fmt::format("/sys/class/net/{}/bridge", interface), error);
}

Socket listen_on(int family) {
  constexpr int kBacklog = 1024;
  Socket socket = sockets::make_socket(family, 0);
  if (family == AF_INET6) sockets::set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1, "IPV6_V6ONLY");
  const sockets::SocketName name = sockets::socket_name({Address{family, {}}, 0});
  sockets::check(::bind(socket.get(), name.get(), name.size), "bind");
  sockets::check(::listen(socket.get(), kBacklog), "listen");
  return socket;
}

/// A question to one address of a host.
class Probe {
 public:
  Probe(Unreached which, const SocketAddress& from, const SocketAddress& to, Seconds deadline)
      : which_(std::move(which)), deadline_(deadline), socket_(sockets::make_socket(to.address.family, 0)) {
    sockets::set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
    const sockets::SocketName own = sockets::socket_name({from.address, 0});
    const sockets::SocketName other = sockets::socket_name(to);
    if (::bind(socket_.get(), own.get(), own.size) != 0 ||
        (::connect(socket_.get(), other.get(), other.size) != 0 && errno != EINPROGRESS)) {
      end(errno);
    }
  }

  [[nodiscard]] bool has_ended() const { return ended_; }
  [[nodiscard]] Seconds deadline() const { return deadline_; }
  [[nodiscard]] pollfd waits_for() const {
    const bool sends = !connected_ || sent_ < wanted_;
    return {socket_.get(), static_cast<short>(POLLIN | (sends ? POLLOUT : 0)), 0};
  }

  void step() {
    if (!connected_) {
      if (const int error = sockets::option(socket_, SOL_SOCKET, SO_ERROR, "SO_ERROR"); error != 0) return end(error);
      connected_ = true;
    }
    static const std::array<char, kLarge> bytes{};
    if (sent_ < wanted_) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), wanted_ - sent_, MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return end(errno);
      if (sent > 0) sent_ += static_cast<std::size_t>(sent);
    }
    std::array<char, kLarge> back{};
    const ssize_t got = ::recv(socket_.get(), back.data(), back.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return end(ECONNRESET);
    if (got > 0) received_ += static_cast<std::size_t>(got);
    if (received_ < wanted_) return;
    if (wanted_ == kSmall) {
      wanted_ += kLarge;
    } else {
      which_.end = ProbeEnd::kAnswered;
      ended_ = true;
    }
  }

  void run_out_of_time() {
    which_.end = connected_ && received_ >= kSmall ? ProbeEnd::kOnlySmall : ProbeEnd::kNoAnswer;
    ended_ = true;
  }

  [[nodiscard]] const Unreached& result() const { return which_; }

 private:
  void end(int error) {
    const bool no_route =
        error == ENETUNREACH || error == EHOSTUNREACH || error == EACCES || error == EPERM || error == EADDRNOTAVAIL;
    which_.end = error == ECONNREFUSED ? ProbeEnd::kRefused
                 : no_route            ? ProbeEnd::kNoRoute
                 : error == ETIMEDOUT  ? ProbeEnd::kNoAnswer
                                       : ProbeEnd::kBroken;
    ended_ = true;
  }

  Unreached which_;
  Seconds deadline_;
  Socket socket_;
  std::size_t wanted_ = kSmall;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  bool connected_ = false;
  bool ended_ = false;
};

/// The address from which this host reaches `other`: of the same network, or else of the interface of the same name.
const HostAddress* own_end(const std::vector<HostAddress>& own, const HostAddress& other) {
  const auto family = other.at.address.family;
  for (const HostAddress& each : own) {
    if (each.at.address.family == family && sockets::in_one_network(each.at.address, other.at.address, each.mask)) {
      return &each;
    }
  }
  for (const HostAddress& each : own) {
    if (each.at.address.family == family && each.interface == other.interface) return &each;
  }
  return nullptr;
}

struct PlannedProbe {
  Unreached which;
  SocketAddress from;
  SocketAddress to;
};

std::vector<PlannedProbe> planned_probes(const std::vector<std::vector<HostAddress>>& addresses, int own) {
  std::vector<PlannedProbe> planned;
  const auto hosts = static_cast<int>(addresses.size());
  const auto& own_addresses = addresses[static_cast<std::size_t>(own)];
  for (int step = 1; step < hosts; ++step) {
    const int to = (own + step) % hosts;
    for (const HostAddress& other : addresses[static_cast<std::size_t>(to)]) {
      const HostAddress* const from = own_end(own_addresses, other);
      if (from == nullptr) continue;
      planned.push_back({{own, to, other.interface, ProbeEnd::kNotTried}, from->at, other.at});
    }
  }
  return planned;
}

/// Waits until one of them can go on, and lets those that can.
void step(std::list<Probe>& running) {
  std::vector<pollfd> waited_for;
  Seconds deadline = running.front().deadline();
  for (const Probe& each : running) {
    waited_for.push_back(each.waits_for());
    deadline = std::min(deadline, each.deadline());
  }
  (void)sockets::poll_until(waited_for, deadline);
  std::size_t place = 0;
  for (Probe& each : running) {
    if (waited_for[place++].revents != 0) each.step();
    if (!each.has_ended() && now() >= each.deadline()) each.run_out_of_time();
  }
}

}  // namespace

struct Responder::Serving {
  /// A connection whose bytes go back.
  struct Echo {
    Socket socket;
    std::array<char, 16384> waiting{};
    std::size_t begin = 0;
    std::size_t end = 0;

    /// False when it has ended.
    bool step() {
      if (begin == end) {
        const ssize_t got = ::recv(socket.get(), waiting.data(), waiting.size(), 0);
        if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
        begin = 0;
        end = static_cast<std::size_t>(got);
      }
      const ssize_t sent = ::send(socket.get(), waiting.data() + begin, end - begin, MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      begin += static_cast<std::size_t>(sent);
      return true;
    }
  };

  std::vector<Socket> listeners;
  Socket stop{::eventfd(0, EFD_CLOEXEC)};
  std::list<Echo> echoes;
  std::thread thread;

  void run();
  void accept_all(const Socket& listener);
};

void Responder::Serving::accept_all(const Socket& listener) {
  while (true) {
    Socket accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted.is_open()) return;
    echoes.push_back({std::move(accepted)});
  }
}

void Responder::Serving::run() {
  while (true) {
    std::vector<pollfd> waited_for{{stop.get(), POLLIN, 0}};
    for (const Socket& each : listeners) waited_for.push_back({each.get(), POLLIN, 0});
    for (const Echo& each : echoes) {
      const short events = each.begin == each.end ? POLLIN : POLLOUT;
      waited_for.push_back({each.socket.get(), events, 0});
    }
    (void)sockets::poll_until(waited_for, 0);
    if (waited_for.front().revents != 0) return;
    std::size_t place = 1 + listeners.size();
    for (auto echo = echoes.begin(); echo != echoes.end();) {
      const bool goes_on = waited_for[place++].revents == 0 || echo->step();
      echo = goes_on ? std::next(echo) : echoes.erase(echo);
    }
    for (const Socket& each : listeners) accept_all(each);
  }
}

Responder::Responder() : serving_(std::make_unique<Serving>()) {
  std::array<std::uint16_t, 2> ports{};
  constexpr std::array<int, 2> kFamilies = {AF_INET, AF_INET6};
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    try {
      serving_->listeners.push_back(listen_on(kFamilies[i]));
      ports[i] = sockets::own_endpoint(serving_->listeners.back().get()).port;
    } catch (const Error&) {  // a kernel without it
    }
  }
  if (serving_->listeners.empty()) throw Error(ExitStatus::kMissing, "no TCP socket can be made on this host");
  for (const sockets::Interface& interface : sockets::interfaces()) {
    if (!interface.up || is_bridge(interface.name)) continue;
    for (const sockets::OwnAddress& own : interface.addresses) {
      const std::uint16_t port = ports[own.address.family == AF_INET ? 0 : 1];
      if (port == 0 || sockets::is_loopback(own.address) || sockets::is_link_local(own.address)) continue;
      addresses_.push_back({interface.name, {own.address, port}, own.mask});
    }
  }
  serving_->thread = std::thread([this] { serving_->run(); });
}

Responder::~Responder() {
  const std::uint64_t one = 1;
  if (::write(serving_->stop.get(), &one, sizeof one) == sizeof one) serving_->thread.join();
}

std::vector<Unreached> probe_hosts(const std::vector<std::vector<HostAddress>>& addresses, int own,
                                   const ProbeLimits& limits) {
  const Seconds end = now() + limits.all;
  const std::vector<PlannedProbe> planned = planned_probes(addresses, own);
  std::vector<Unreached> unreached;
  std::list<Probe> running;
  std::size_t next = 0;
  while (next < planned.size() || !running.empty()) {
    while (next < planned.size() && running.size() < limits.at_once && now() < end) {
      const PlannedProbe& each = planned[next++];
      running.emplace_back(each.which, each.from, each.to, now() + limits.one);
    }
    if (running.empty()) break;
    step(running);
    running.remove_if([&](const Probe& probe) {
      if (probe.has_ended() && probe.result().end != ProbeEnd::kAnswered) unreached.push_back(probe.result());
      return probe.has_ended();
    });
  }
  for (; next < planned.size(); ++next) unreached.push_back(planned[next].which);
  return unreached;
}

}  // namespace fabricbench::cluster
