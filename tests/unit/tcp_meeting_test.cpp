// How ranks find each other, and take no stranger for a rank.

#include "common/sockets/meeting.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/sockets/acceptor.h"
#include "common/sockets/announcement.h"
#include "common/sockets/dialer.h"
#include "common/sockets/hello.h"
#include "tcp_test_support.h"

using namespace fabricbench;
using namespace fabricbench::sockets;
using namespace fabricbench::test;

namespace tcp_meeting_test {

/// The endpoint of the loopback in what a rank tells the others.
const std::regex kLoopbackEndpoint(R"(127\.0\.0\.1 (\d+))");

Endpoint loopback_endpoint(const std::string& text) {
  std::smatch match;
  if (!std::regex_search(text, match, kLoopbackEndpoint)) throw std::runtime_error("no loopback in: " + text);
  return {*parse_address("127.0.0.1"), static_cast<std::uint16_t>(std::stoi(match[1]))};
}

Socket stranger(const Endpoint& endpoint) {
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
    const Endpoint endpoint = loopback_endpoint(texts[1]);
    const HelloBytes other_job = encode({.job = 1, .rank = 0, .stream = 0});
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
    bool full = false;
    while (!full && waiting_.size() < 16) {
      waiting_.push_back(make_socket(AF_INET, 0));
      const SocketName name = socket_name(endpoint());
      (void)::connect(waiting_.back().get(), name.get(), name.size);
      pollfd connected{waiting_.back().get(), POLLOUT, 0};
      full = !poll_until({&connected, 1}, now() + 0.1);
    }
    EXPECT_TRUE(full);
  }

  [[nodiscard]] Endpoint endpoint() const { return own_endpoint(listener_.get()); }

 private:
  Socket listener_;
  std::vector<Socket> waiting_;
};

TEST(TcpSession, SaysWhatWasTriedWhereNothingAnswers) {
  const BlackHole hole;
  TcpSettings settings = with_streams(1);
  settings.connect_limit_s = 0.3;
  const std::string port = std::to_string(hole.endpoint().port);
  const auto redirect = [&](Texts& texts) {
    texts[1] = std::regex_replace(texts[1], kLoopbackEndpoint, "127.0.0.1 " + port);
  };
  // The other addresses of the loopback would do as well, so the rank has only this one.
  settings.interface = "127.0.0.1";
  for (const Outcome& outcome : run(
           2, settings, [](int, TcpSession&) { FAIL(); }, redirect)) {
    EXPECT_EQ(outcome.status, ExitStatus::kMissing);
    EXPECT_EQ(outcome.error,
              "rank 0 on node: cannot connect to rank 1 on node: tried 127.0.0.1 port " + port +
                  " (no answer); a firewall between the hosts or the wrong interface is the likely cause: " +
                  "take --interface NAME of a network that joins the hosts");
    EXPECT_GE(outcome.took, 0.25);
    EXPECT_LE(outcome.took, kGenerous);
  }
}

TEST(Dial, GoesOnToTheNextAddress) {
  const BlackHole hole;
  std::vector<Socket> listeners;
  listeners.push_back(listen_at(*parse_address("127.0.0.1"), 0));
  const Endpoint good = own_endpoint(listeners[0].get());
  Acceptor acceptor(std::move(listeners), {.job = 5, .rank = 1, .ranks = {0}, .streams = 2});
  const Dialing dialing{.job = 5, .rank = 0, .streams = 2, .sources = {}, .buffer = 0, .limit_s = 1};
  EXPECT_EQ(dial({1, "rank 1", {hole.endpoint(), good}}, dialing).size(), 2U);
  EXPECT_EQ(acceptor.take().at(0).size(), 2U);
}

TEST(Dial, DoesNotTakeAnotherRankForTheOneMeant) {
  std::vector<Socket> listeners;
  listeners.push_back(listen_at(*parse_address("127.0.0.1"), 0));
  const Endpoint endpoint = own_endpoint(listeners[0].get());
  Acceptor acceptor(std::move(listeners), {.job = 5, .rank = 2, .ranks = {0}, .streams = 2});
  const Dialing dialing{.job = 5, .rank = 0, .streams = 2, .sources = {}, .buffer = 0, .limit_s = 1};
  const Outcome outcome = outcome_of([&] { (void)dial({1, "rank 1", {endpoint}}, dialing); });
  EXPECT_NE(outcome.error.find("something else answers there"), std::string::npos) << outcome.error;
}

TEST(Dial, SaysSoWhereThereIsNoAddressToTry) {
  const Outcome outcome = outcome_of([] { (void)dial({1, "rank 1 on b", {}}, {}); });
  EXPECT_EQ(outcome.error.find("cannot connect to rank 1 on b: it has no address that this host could connect to"), 0U)
      << outcome.error;
}

TEST(Partners, AreAllOthersOrThoseOfItsPairs) {
  EXPECT_EQ(partners(1, 4, {}), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(partners(1, 4, {{3, 1}, {1, 0}, {1, 3}, {2, 3}}), (std::vector<int>{0, 3}));
  EXPECT_EQ(partners(2, 4, {{0, 1}}), std::vector<int>{});
  EXPECT_THROW((void)partners(0, 4, {{0, 4}}), UsageError);
}

TEST(Announcement, IsReadAsItWasWritten) {
  const Announcement written{.host = "node-b",
                             .network = "boot net:[4]",
                             .job = ~std::uint64_t{0},
                             .endpoints = {{*parse_address("10.0.0.1"), 65535}, {*parse_address("fd00::1"), 1}}};
  const Announcement read = parse_announcement(to_text(written));
  EXPECT_EQ(read.host, written.host);
  EXPECT_EQ(read.network, written.network);
  EXPECT_EQ(read.job, written.job);
  ASSERT_EQ(read.endpoints.size(), 2U);
  EXPECT_EQ(read.endpoints[1].address, written.endpoints[1].address);
  EXPECT_EQ(read.endpoints[0].port, 65535);
}

TEST(Hello, IsKnownByItsBytes) {
  const Hello hello{.job = 1234567890123, .rank = 7, .stream = 63};
  HelloBytes bytes = encode(hello);
  EXPECT_EQ(decode(bytes), hello);
  bytes[0] ^= std::byte{1};
  EXPECT_EQ(decode(bytes), std::nullopt);
}

}  // namespace tcp_meeting_test
