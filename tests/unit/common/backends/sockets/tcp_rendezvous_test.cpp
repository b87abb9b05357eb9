// How ranks find each other, and take no stranger for a rank.

#include "common/backends/sockets/rendezvous.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/backends/sockets/handshake.h"
#include "common/core/clock.h"
#include "common/record/packing.h"
#include "scripted_clock.h"
#include "tcp_test_support.h"

using namespace fabricbench;
using namespace fabricbench::sockets;
using namespace fabricbench::test;

namespace tcp_rendezvous_test {

/// With which error the next connection is not accepted; 0: it is.
std::atomic<int> error_of_accept = 0;

}  // namespace tcp_rendezvous_test

/// Found before the C library's.
extern "C" int accept4(int listener, sockaddr* address, socklen_t* length, int flags) {
  if (const int error = tcp_rendezvous_test::error_of_accept.exchange(0); error != 0) {
    errno = error;
    return -1;
  }
  using Accept = int (*)(int, sockaddr*, socklen_t*, int);
  return reinterpret_cast<Accept>(::dlsym(RTLD_NEXT, "accept4"))(listener, address, length, flags);
}

namespace tcp_rendezvous_test {

/// What a rank that listens tells the others.
struct Told {
  using Outcome = std::pair<ExitStatus, std::string>;

  explicit Told(const std::string& text)
      : addresses(record::unpack<RankAddresses>(record::unpack<Outcome>(text).second)) {}

  [[nodiscard]] SocketAddress& loopback() {
    const auto is_loopback = [](const SocketAddress& each) { return to_text(each.address) == "127.0.0.1"; };
    return *std::find_if(addresses.endpoints.begin(), addresses.endpoints.end(), is_loopback);
  }
  [[nodiscard]] std::string text() const { return record::pack(Outcome(ExitStatus::kOk, record::pack(addresses))); }

  RankAddresses addresses;
};

Socket stranger(const SocketAddress& endpoint) {
  Socket socket = make_socket(AF_INET, 0);
  const SocketName name = socket_name(endpoint);
  (void)::connect(socket.get(), name.get(), name.size);
  pollfd connected{socket.get(), POLLOUT, 0};
  EXPECT_TRUE(poll_until({&connected, 1}, now() + kGenerous));
  return socket;
}

/// Whether the other side ends the connection.
bool is_turned_away(const Socket& socket) {
  pollfd ended{socket.get(), POLLIN, 0};
  std::uint8_t byte = 0;
  return poll_until({&ended, 1}, now() + kGenerous) && ::recv(socket.get(), &byte, 1, 0) <= 0;
}

TEST(TcpSession, TurnsStrangersAway) {
  std::vector<Socket> strangers;
  const auto intrude = [&](Texts& texts) {
    const SocketAddress endpoint = Told(texts[1]).loopback();
    const HandshakeBytes other_job = encode({.job = 1, .rank = 0, .stream = 0});
    const std::string rubbish = "GET / HTTP/1.1\r\nHost: somebody else\r\n\r\n";
    for (int i = 0; i < 4; ++i) strangers.push_back(stranger(endpoint));
    EXPECT_EQ(::send(strangers[0].get(), rubbish.data(), rubbish.size(), 0), static_cast<ssize_t>(rubbish.size()));
    EXPECT_EQ(::send(strangers[1].get(), other_job.data(), other_job.size(), 0),
              static_cast<ssize_t>(other_job.size()));
    EXPECT_EQ(::send(strangers[2].get(), rubbish.data(), 3, 0), 3);  // and the fourth says nothing
  };
  expect_success(run(
      2, with_streams(4),
      [](int rank, TcpSession& session) {
        exchange_all(rank, 2, session.backend(0), {1, kMiB, 4096});
      },
      intrude));
  ASSERT_EQ(strangers.size(), 4U);
  for (const Socket& socket : strangers) EXPECT_TRUE(is_turned_away(socket));
}

/// A place on the loopback that takes no connection and refuses none, as behind a firewall: its queue is full.
class BlackHole {
 public:
  BlackHole() : listener_(listen_at(*parse_address("127.0.0.1"), 0)) {
    EXPECT_EQ(::listen(listener_.get(), 0), 0);
    while (!is_full()) {
      waiting_.push_back(stranger(endpoint()));
      while (queue().tcpi_unacked < waiting_.size()) std::this_thread::yield();
    }
  }

  [[nodiscard]] SocketAddress endpoint() const { return own_endpoint(listener_.get()); }

 private:
  /// Of a socket that listens, the kernel says here how many connections wait to be accepted, and the most that may
  /// (tcp_get_info of net/ipv4/tcp.c). It drops what comes when more than the most wait (sk_acceptq_is_full).
  [[nodiscard]] tcp_info queue() const {
    tcp_info info{};
    socklen_t size = sizeof info;
    EXPECT_EQ(::getsockopt(listener_.get(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    return info;
  }
  [[nodiscard]] bool is_full() const { return queue().tcpi_unacked > queue().tcpi_sacked; }

  Socket listener_;
  std::vector<Socket> waiting_;
};

TEST(TcpSession, SaysWhatWasTriedWhereNothingAnswers) {
  const BlackHole hole;
  TcpSettings settings = with_streams(1);
  settings.connect_limit_s = 1e5;
  const std::string port = std::to_string(hole.endpoint().port);
  const auto redirect = [&](Texts& texts) {
    Told told(texts[1]);
    told.loopback().port = hole.endpoint().port;
    texts[1] = told.text();
  };
  // The other addresses of the loopback would do as well, so the rank has only this one.
  settings.interface = "127.0.0.1";
  const ScriptedClock clock(1000, settings.connect_limit_s);  // the next look at it finds the limit passed
  for (const Outcome& outcome : run(
           2, settings, [](int, TcpSession&) { FAIL(); }, redirect)) {
    EXPECT_EQ(outcome.status, ExitStatus::kMissing);
    EXPECT_EQ(outcome.error,
              "rank 0 on node: cannot connect to rank 1 on node: tried 127.0.0.1 port " + port +
                  " (no answer); a firewall between the hosts or the wrong interface is the likely cause: " +
                  "give --interface NAME of a network that connects the hosts");
  }
}

TEST(Dial, SharesItsTimeAmongTheAddresses) {
  Dialing dialing;
  dialing.limit_s = 6;
  EXPECT_EQ(dialing.share(0), 6);
  EXPECT_EQ(dialing.share(1), 6);
  EXPECT_EQ(dialing.share(4), 1.5);
}

TEST(Dial, GoesOnToTheNextAddressWhenItsShareHasPassed) {
  const BlackHole hole;
  std::vector<Socket> listeners;
  listeners.push_back(listen_at(*parse_address("127.0.0.1"), 0));
  const SocketAddress good = own_endpoint(listeners[0].get());
  Acceptor acceptor(std::move(listeners), {.job = 5, .rank = 1, .ranks = {0}, .streams = 2});
  const Dialing dialing{.job = 5, .rank = 0, .streams = 2, .sources = {}, .buffer = 0, .limit_s = 2e5};
  ScriptedClock clock;
  int readings = 0;  // of this thread; the acceptor's has others
  clock.when_reading([&, dialler = std::this_thread::get_id()](int) {
    if (std::this_thread::get_id() == dialler && ++readings == 3) clock.advance(1e5);  // the wait for the first address
  });
  EXPECT_EQ(dial({1, "rank 1", {hole.endpoint(), good}}, dialing).size(), 2U);
  EXPECT_EQ(acceptor.take().at(0).size(), 2U);
}

/// As when so many strangers come that this rank's connection is closed before it was heard.
TEST(Dial, TriesAgainWhenItWasTurnedAway) {
  Socket listener = listen_at(*parse_address("127.0.0.1"), 0);
  const SocketAddress endpoint = own_endpoint(listener.get());
  std::vector<Socket> streams;
  std::thread dialler([&] {
    const Dialing dialing{.job = 5, .rank = 0, .streams = 2, .sources = {}, .buffer = 0, .limit_s = kGenerous};
    EXPECT_EQ(outcome_of([&] { streams = dial({1, "rank 1", {endpoint}}, dialing); }).error, "");
  });
  for (int i = 0; i < 2; ++i) {
    pollfd come{listener.get(), POLLIN, 0};
    EXPECT_TRUE(poll_until({&come, 1}, now() + kGenerous));
    const Socket turned_away(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_TRUE(turned_away.is_open());
  }
  std::vector<Socket> listeners;
  listeners.push_back(std::move(listener));
  Acceptor acceptor(std::move(listeners), {.job = 5, .rank = 1, .ranks = {0}, .streams = 2});
  dialler.join();
  EXPECT_EQ(streams.size(), 2U);
  EXPECT_EQ(acceptor.take().at(0).size(), 2U);
}

TEST(Dial, DoesNotTakeAnotherRankForTheOneMeant) {
  std::vector<Socket> listeners;
  listeners.push_back(listen_at(*parse_address("127.0.0.1"), 0));
  const SocketAddress endpoint = own_endpoint(listeners[0].get());
  Acceptor acceptor(std::move(listeners), {.job = 5, .rank = 2, .ranks = {0}, .streams = 2});
  const Dialing dialing{.job = 5, .rank = 0, .streams = 2, .sources = {}, .buffer = 0, .limit_s = kGenerous};
  const Outcome outcome = outcome_of([&] { (void)dial({1, "rank 1", {endpoint}}, dialing); });
  EXPECT_NE(outcome.error.find("something else answers there"), std::string::npos) << outcome.error;
}

TEST(Dial, SaysSoWhereThereIsNoAddressToTry) {
  const Outcome outcome = outcome_of([] { (void)dial({1, "rank 1 on b", {}}, {}); });
  EXPECT_EQ(outcome.error.find("cannot connect to rank 1 on b: it has no address that this host could connect to"), 0U)
      << outcome.error;
}

TEST(PollTime, IsWhatIsLeftOfTheDeadlineRoundedUp) {
  const ScriptedClock clock(1000);
  EXPECT_EQ(poll_milliseconds(1002), 2000);
  EXPECT_EQ(poll_milliseconds(1000.0625), 63);
  EXPECT_EQ(poll_milliseconds(1000.0001), 1);
  EXPECT_EQ(poll_milliseconds(1000), 0);
  EXPECT_EQ(poll_milliseconds(999), 0) << "-1 would be for ever";
  EXPECT_EQ(poll_milliseconds(1e12), 1'000'000'000) << "more does not fit";
  EXPECT_EQ(poll_milliseconds(0), -1) << "there is no deadline";
}

TEST(PollTime, MayHavePassedAndWhatHappenedBeforeStillCounts) {
  const Socket listener = listen_at(*parse_address("127.0.0.1"), 0);
  const Socket peer = stranger(own_endpoint(listener.get()));
  const ScriptedClock clock(1000);
  pollfd happened{listener.get(), POLLIN, 0};
  EXPECT_TRUE(poll_until({&happened, 1}, 0));
  EXPECT_TRUE(poll_until({&happened, 1}, 999));
  pollfd silent{peer.get(), POLLIN, 0};
  EXPECT_FALSE(poll_until({&silent, 1}, 999));
}

/// The kernel counts in ticks of at most 10 ms, and rounds up.
TEST(ReadySocket, HasItsTimeLimitInBothDirections) {
  for (const Seconds limit : {0.0, 1e-9, 0.3, 2.25, 3600.0}) {
    const Socket socket = make_socket(AF_INET, 0);
    make_ready(socket, limit);
    for (const int name : {SO_RCVTIMEO, SO_SNDTIMEO}) {
      timeval value{};
      socklen_t size = sizeof value;
      EXPECT_EQ(::getsockopt(socket.get(), SOL_SOCKET, name, &value, &size), 0);
      const Seconds set = static_cast<Seconds>(value.tv_sec) + 1e-6 * static_cast<Seconds>(value.tv_usec);
      EXPECT_GE(set, limit) << name;
      EXPECT_LE(set, limit == 0 ? 0 : limit + 0.011) << name;
    }
  }
}

TEST(Partners, AreAllOthersOrThoseOfItsPairs) {
  EXPECT_EQ(partners(1, 4, {}), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(partners(1, 4, {{3, 1}, {1, 0}, {1, 3}, {2, 3}}), (std::vector<int>{0, 3}));
  EXPECT_EQ(partners(2, 4, {{0, 1}}), std::vector<int>{});
  EXPECT_THROW((void)partners(0, 4, {{0, 4}}), UsageError);
}

/// The first address is for documentation only (RFC 5737), so nobody's own.
TEST(ListenAtAll, LeavesOutWhatTheKernelRefuses) {
  const OwnAddress nobodys{*parse_address("192.0.2.1"), *parse_address("255.255.255.0")};
  const OwnAddress loopback{*parse_address("127.0.0.1"), *parse_address("255.0.0.0")};
  const std::vector<Socket> listeners = listen_at_all({nobodys, loopback}, 0);
  ASSERT_EQ(listeners.size(), 1U);
  EXPECT_EQ(to_text(own_endpoint(listeners[0].get()).address), "127.0.0.1");

  const Outcome outcome = outcome_of([&] { (void)listen_at_all({nobodys, nobodys}, 0); });
  EXPECT_EQ(outcome.status, ExitStatus::kMissing);
  const std::regex expected(
      "cannot listen at any address: (.*192\\.0\\.2\\.1.*); (.*192\\.0\\.2\\.1.*); choose another one with "
      "--interface");
  EXPECT_TRUE(std::regex_match(outcome.error, expected)) << outcome.error;
}

TEST(Acceptor, LetsConnectionsGoThatWentBeforeTheyWereAccepted) {
  for (const int error : {EAGAIN, EINTR, ECONNABORTED, EPROTO, EPERM, ENETDOWN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH}) {
    error_of_accept = error;
    expect_success(run(2, with_streams(1), [](int, TcpSession&) {}));
    EXPECT_EQ(error_of_accept, 0);
  }
}

TEST(Acceptor, TurnsAllAwayWhereItCannotAccept) {
  error_of_accept = EMFILE;
  const auto outcomes = run(2, with_streams(1), [](int, TcpSession&) { FAIL(); });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.error.find("rank 1 on node: this process has no file descriptor left for the connection"), 0U)
        << outcome.error;
  }
}

/// A rank that listens at the loopback for rank 0.
class Listening {
 public:
  [[nodiscard]] SocketAddress endpoint() const { return endpoint_; }
  [[nodiscard]] bool lets_rank_0_in() {
    const Dialing dialing{.job = 5, .rank = 0, .streams = 1, .sources = {}, .buffer = 0, .limit_s = kGenerous};
    const bool connected = dial({1, "rank 1", {endpoint_}}, dialing).size() == 1;
    return connected && acceptor_.take().at(0).size() == 1;
  }

 private:
  static std::vector<Socket> one_of(Socket listener) {
    std::vector<Socket> listeners;
    listeners.push_back(std::move(listener));
    return listeners;
  }

  Socket listener_ = listen_at(*parse_address("127.0.0.1"), 0);
  SocketAddress endpoint_ = own_endpoint(listener_.get());
  Acceptor acceptor_{one_of(std::move(listener_)), {.job = 5, .rank = 1, .ranks = {0}, .streams = 1}};
};

TEST(Acceptor, HearsAFewStrangersAtATime) {
  Listening rank;
  std::vector<Socket> strangers;
  for (int i = 0; i < 40; ++i) strangers.push_back(stranger(rank.endpoint()));
  EXPECT_TRUE(is_turned_away(strangers[0])) << "later ones came, and it has said nothing";
  EXPECT_TRUE(rank.lets_rank_0_in());
}

TEST(Acceptor, HearsNobodyForEver) {
  Listening rank;
  ScriptedClock clock;
  const Socket silent = stranger(rank.endpoint());
  pollfd ended{silent.get(), POLLIN, 0};
  while (::poll(&ended, 1, 10) == 0) clock.advance(1);  // it ends, or the test's own limit does
  EXPECT_TRUE(is_turned_away(silent));
}

TEST(PutNearFirst, TriesTheNetworksOfOurOwnBeforeOthers) {
  const auto address = [](const char* text) { return *parse_address(text); };
  const std::vector<OwnAddress> own{{address("10.1.0.1"), address("255.255.0.0")}};
  std::vector<SocketAddress> endpoints{
      {address("10.2.0.7"), 1}, {address("10.1.9.7"), 2}, {address("10.3.0.7"), 3}, {address("10.1.0.7"), 4}};
  put_near_first(endpoints, own);
  std::vector<std::uint16_t> ports;
  for (const SocketAddress& endpoint : endpoints) ports.push_back(endpoint.port);
  EXPECT_EQ(ports, (std::vector<std::uint16_t>{2, 4, 1, 3}));
}

TEST(RankAddresses, IsReadAsItWasWritten) {
  const RankAddresses written{.name = "rank 7 on node-b",
                              .network = "boot net:[4]",
                              .job = ~std::uint64_t{0},
                              .endpoints = {{*parse_address("10.0.0.1"), 65535}, {*parse_address("fd00::1"), 1}}};
  const RankAddresses read = record::unpack<RankAddresses>(record::pack(written));
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.network, written.network);
  EXPECT_EQ(read.job, written.job);
  ASSERT_EQ(read.endpoints.size(), 2U);
  EXPECT_EQ(read.endpoints[1].address, written.endpoints[1].address);
  EXPECT_EQ(read.endpoints[0].port, 65535);
}

TEST(HandshakeMessage, IsKnownByItsBytes) {
  const HandshakeMessage message{.job = 1234567890123, .rank = 7, .stream = 63};
  HandshakeBytes bytes = encode(message);
  EXPECT_EQ(decode(bytes), message);
  bytes[0] ^= std::byte{1};
  EXPECT_EQ(decode(bytes), std::nullopt);
}

}  // namespace tcp_rendezvous_test
