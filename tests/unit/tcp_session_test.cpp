// Ranks are threads of this process, and meet on its loopback.

#include "common/sockets/tcp_session.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/sockets/acceptor.h"
#include "common/sockets/announcement.h"
#include "common/sockets/dialer.h"
#include "common/sockets/hello.h"
#include "common/sockets/interfaces.h"
#include "common/sockets/meeting.h"

using namespace fabricbench;
using namespace fabricbench::sockets;

namespace {

using Data = std::vector<std::uint8_t>;
using Texts = std::vector<std::string>;

constexpr DataType kByte = DataType::kUint8;
constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr Seconds kGenerous = 30;  // for what is to take a fraction of a second

/// A gather function for threads. `first` may change what was gathered in the first round.
class Rounds {
 public:
  Rounds(int ranks, std::function<void(Texts&)> first)
      : texts_(static_cast<std::size_t>(ranks)), first_(std::move(first)), all_here_(ranks) {}

  Gather of(int rank) {
    return [this, rank](const std::string& text) {
      texts_[static_cast<std::size_t>(rank)] = text;
      all_here_.arrive_and_wait();
      if (rank == 0 && first_) std::exchange(first_, nullptr)(texts_);
      all_here_.arrive_and_wait();
      Texts gathered = texts_;
      all_here_.arrive_and_wait();  // nobody writes the next round's before all have read
      return gathered;
    };
  }

 private:
  Texts texts_;
  std::function<void(Texts&)> first_;
  std::barrier<> all_here_;
};

struct Outcome {
  std::string error;  // empty: none
  ExitStatus status = ExitStatus::kOk;
  Seconds took = 0;
};

using Body = std::function<void(int rank, TcpSession&)>;

Outcome outcome_of(const std::function<void()>& body) {
  Outcome outcome;
  const Seconds begin = now();
  try {
    body();
  } catch (const Error& error) {
    outcome.error = error.what();
    outcome.status = error.status();
  }
  outcome.took = now() - begin;
  return outcome;
}

/// Runs the body on every rank of a job, and says how it ended on each.
std::vector<Outcome> run(int ranks, const TcpSettings& settings, const Body& body,
                         std::function<void(Texts&)> first = nullptr) {
  Rounds rounds(ranks, std::move(first));
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  threads.reserve(outcomes.size());
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      outcomes[static_cast<std::size_t>(rank)] = outcome_of([&] {
        TcpSession session(rank, ranks, rounds.of(rank), settings);
        body(rank, session);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

void expect_success(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.error, "");
}

/// A time limit, so that a test that fails ends.
TcpSettings with_streams(int streams) {
  TcpSettings settings;
  settings.streams = streams;
  settings.time_limit_s = 10;
  return settings;
}

/// Bytes that differ by sender, message and place.
Data message(int from, std::size_t number, std::size_t bytes) {
  Data data(bytes);
  std::uint32_t state = static_cast<std::uint32_t>(from) * 7919U + static_cast<std::uint32_t>(number) * 104729U + 1U;
  for (std::uint8_t& byte : data) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return data;
}

/// Sends messages of these sizes to each of the others and receives theirs, all at once, and compares.
void exchange_all(int rank, int ranks, Backend& backend, const std::vector<std::size_t>& sizes) {
  std::vector<Data> sent;
  for (std::size_t i = 0; i < sizes.size(); ++i) sent.push_back(message(rank, i, sizes[i]));
  std::vector<std::vector<Data>> received(static_cast<std::size_t>(ranks));
  for (int other = 0; other < ranks; ++other) {
    if (other == rank) continue;
    auto& from_other = received[static_cast<std::size_t>(other)];
    for (const std::size_t size : sizes) from_other.emplace_back(size);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      backend.start_send(sent[i].data(), sizes[i], kByte, other);
      backend.start_recv(from_other[i].data(), sizes[i], kByte, other);
    }
  }
  backend.finish();
  for (int other = 0; other < ranks; ++other) {
    if (other == rank) continue;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_TRUE(received[static_cast<std::size_t>(other)][i] == message(other, i, sizes[i]))
          << "message " << i << " from rank " << other << " to rank " << rank;
    }
  }
}

class TcpStreams : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OneAndFour, TcpStreams, testing::Values(1, 4));

TEST_P(TcpStreams, CarryMessagesOfEverySizeInBothDirectionsAtOnce) {
  expect_success(run(2, with_streams(GetParam()), [](int rank, TcpSession& session) {
    exchange_all(rank, 2, session.backend(0), {0, 1, 4096, 10 * kMiB, 3, 0, 10 * kMiB});
  }));
}

TEST_P(TcpStreams, JoinThreeRanksAtOnce) {
  expect_success(run(3, with_streams(GetParam()), [](int rank, TcpSession& session) {
    exchange_all(rank, 3, session.backend(0), {kMiB, 1, 2 * kMiB});
  }));
}

TEST_P(TcpStreams, KeepTheOrderOverManyWindows) {
  expect_success(run(2, with_streams(GetParam()), [](int rank, TcpSession& session) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < 101; ++i) sizes.push_back(1 + i * i % 977);  // not a multiple of the streams
    for (int window = 0; window < 10; ++window) exchange_all(rank, 2, session.backend(0), sizes);
  }));
}

TEST_P(TcpStreams, CarryWindowsOneWay) {
  constexpr std::size_t kWindow = 64;
  expect_success(run(2, with_streams(GetParam()), [](int rank, TcpSession& session) {
    Backend& backend = session.backend(0);
    std::vector<Data> messages;
    for (std::size_t i = 0; i < kWindow; ++i) {
      messages.push_back(rank == 0 ? message(0, i, 64 * kKiB) : Data(64 * kKiB));
      if (rank == 0) backend.start_send(messages[i].data(), messages[i].size(), kByte, 1);
      if (rank == 1) backend.start_recv(messages[i].data(), messages[i].size(), kByte, 0);
    }
    backend.finish();
    for (std::size_t i = 0; i < kWindow; ++i) EXPECT_TRUE(messages[i] == message(0, i, 64 * kKiB)) << i;
  }));
}

TEST_P(TcpStreams, SendAndReceiveInTurn) {
  expect_success(run(2, with_streams(GetParam()), [](int rank, TcpSession& session) {
    Backend& backend = session.backend(0);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, 10 * kMiB}) {
      Data data = rank == 0 ? message(0, size, size) : Data(size);
      if (rank == 0) {
        backend.send(data.data(), size, kByte, 1);
        std::fill(data.begin(), data.end(), std::uint8_t{0});
        backend.recv(data.data(), size, kByte, 1);
      } else {
        backend.recv(data.data(), size, kByte, 0);
        backend.send(data.data(), size, kByte, 0);
      }
      EXPECT_TRUE(data == message(0, size, size)) << size;
    }
  }));
}

TEST(TcpSession, CountsElementsAndNotBytes) {
  expect_success(run(2, with_streams(1), [](int rank, TcpSession& session) {
    std::vector<double> values(1000, rank == 0 ? 1.5 : 0);
    if (rank == 0) session.backend(0).send(values.data(), values.size(), DataType::kDouble, 1);
    if (rank == 1) session.backend(0).recv(values.data(), values.size(), DataType::kDouble, 0);
    EXPECT_EQ(values, std::vector<double>(1000, 1.5));
  }));
}

TEST(TcpSession, NamesInterfaceAndCongestionControlAndNoAddress) {
  TcpSettings settings = with_streams(4);
  settings.socket_buffer = 4096;
  const std::regex expected("TCP, 4 streams, by lo, congestion control [a-z0-9_]+, socket buffers of 4 KiB");
  expect_success(run(2, settings, [&](int /*rank*/, TcpSession& session) {
    EXPECT_TRUE(std::regex_match(session.library(), expected)) << session.library();
  }));
}

TEST(TcpSession, CountsTheBytesOfItsConnections) {
  expect_success(run(2, with_streams(2), [](int rank, TcpSession& session) {
    exchange_all(rank, 2, session.backend(0), {kMiB, kMiB});
    exchange_all(rank, 2, session.backend(0), {1});  // so that the other has what went before
    EXPECT_GE(session.totals().received_bytes, 2 * kMiB);
    EXPECT_LE(session.totals().received_bytes, 2 * kMiB + 1000);
    EXPECT_LE(session.totals().sent_bytes, 2 * kMiB + 1000);
  }));
}

TEST(TcpSession, ConnectsOnlyThePairsThatExchangeMessages) {
  TcpSettings settings = with_streams(1);
  settings.pairs = {{2, 0}};
  const auto outcomes = run(3, settings, [](int rank, TcpSession& session) {
    std::uint8_t byte = static_cast<std::uint8_t>(rank);
    if (rank == 2) session.backend(0).send(&byte, 1, kByte, 0);
    if (rank == 0) session.backend(0).recv(&byte, 1, kByte, 2);
    EXPECT_TRUE(rank != 0 || byte == 2);
    if (rank == 1) session.backend(0).send(&byte, 1, kByte, 0);
  });
  EXPECT_EQ(outcomes[0].error, "");
  EXPECT_EQ(outcomes[1].error, "tcp: this rank has no connection to rank 0");
  EXPECT_EQ(outcomes[2].error, "");
}

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

TEST(TcpSession, NamesThePeerThatClosesTheConnection) {
  const auto outcomes = run(2, with_streams(1), [](int rank, TcpSession& session) {
    Data data(4096);
    if (rank == 0) session.backend(0).recv(data.data(), data.size(), kByte, 1);
  });
  EXPECT_EQ(outcomes[0].status, ExitStatus::kFailure);
  EXPECT_EQ(outcomes[0].error, "tcp: lost the connection to rank 1 on " + host_name() +
                                   " (127.0.0.1) with 4 KiB still to be received: it closed the connection; "
                                   "see what that rank says");
}

TEST(TcpSession, NoticesAPeerThatClosesAmongManyConnections) {
  const auto outcomes = run(3, with_streams(4), [](int rank, TcpSession& session) {
    if (rank != 1) exchange_all(rank, 3, session.backend(0), {kMiB, kMiB, 64 * kMiB});
  });
  for (const std::size_t rank : {0U, 2U}) {
    EXPECT_EQ(outcomes[rank].status, ExitStatus::kFailure);
    EXPECT_NE(outcomes[rank].error.find("lost the connection to rank "), std::string::npos) << outcomes[rank].error;
  }
}

/// Rank 0 does what it does not get done, while rank 1 does nothing until it is told that rank 0 gave up.
std::vector<Outcome> run_against_silence(const TcpSettings& settings, const Body& body) {
  std::atomic<bool> over = false;
  return run(2, settings, [&](int rank, TcpSession& session) {
    if (rank == 0) {
      const Outcome outcome = outcome_of([&] { body(rank, session); });
      over = true;
      over.notify_all();
      if (!outcome.error.empty()) throw Error(outcome.status, outcome.error);
    } else {
      over.wait(false);
    }
  });
}

void expect_timeout(const Outcome& outcome, const std::string& missing) {
  EXPECT_EQ(outcome.status, ExitStatus::kTimeout) << outcome.error;
  EXPECT_EQ(outcome.error.find("tcp: nothing moved between here and rank 1 on " + host_name() +
                               " (127.0.0.1) for 300 ms, with "),
            0U)
      << outcome.error;
  EXPECT_NE(outcome.error.find(missing), std::string::npos) << outcome.error;
  EXPECT_GE(outcome.took, 0.25);
  EXPECT_LE(outcome.took, kGenerous);
}

TEST(TcpSession, GivesUpOnAPeerThatNeverSends) {
  TcpSettings settings = with_streams(4);
  settings.time_limit_s = 0.3;
  Data data(4096);
  const auto receive = [&](int /*rank*/, TcpSession& session) {
    session.backend(0).recv(data.data(), data.size(), kByte, 1);
  };
  expect_timeout(run_against_silence(settings, receive)[0], "4 KiB still to be received");
  const auto receive_many = [&](int /*rank*/, TcpSession& session) {
    for (int i = 0; i < 5; ++i) session.backend(0).start_recv(data.data(), data.size(), kByte, 1);
    session.backend(0).finish();
  };
  expect_timeout(run_against_silence(settings, receive_many)[0], "20 KiB still to be received");
}

TEST(TcpSession, GivesUpOnAPeerThatNeverReceives) {
  TcpSettings settings = with_streams(1);
  settings.time_limit_s = 0.3;
  settings.socket_buffer = 64 * kKiB;  // or else the kernel might take all
  Data data(64 * kMiB);
  const auto send = [&](int /*rank*/, TcpSession& session) {
    session.backend(0).send(data.data(), data.size(), kByte, 1);
  };
  expect_timeout(run_against_silence(settings, send)[0], "MiB still to be sent");
}

TEST(TcpSession, IsAbandonedFromAnotherThread) {
  TcpSettings settings = with_streams(1);
  settings.time_limit_s = 0;
  const auto outcomes = run_against_silence(settings, [](int /*rank*/, TcpSession& session) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // either order has to work
      session.abandon();
    });
    std::uint8_t byte = 0;
    const Outcome outcome = outcome_of([&] { session.backend(0).recv(&byte, 1, kByte, 1); });
    other.join();
    throw Error(outcome.status, outcome.error);
  });
  EXPECT_EQ(outcomes[0].error.find("tcp: gave up with 1 B still to be received between here and rank 1"), 0U)
      << outcomes[0].error;
}

TEST(TcpSession, ListsTheInterfacesWhereTheOneAskedForIsNotThere) {
  TcpSettings settings = with_streams(1);
  settings.interface = "nosuch0";
  for (const Outcome& outcome : run(2, settings, [](int /*rank*/, TcpSession& /*session*/) { FAIL(); })) {
    EXPECT_EQ(outcome.status, ExitStatus::kUsage);
    EXPECT_EQ(outcome.error.find("rank 0 on " + host_name() + ": --interface: 'nosuch0' is neither"), 0U)
        << outcome.error;
    EXPECT_NE(outcome.error.find("lo (127.0.0.1"), std::string::npos) << outcome.error;
  }
}

TEST(TcpSession, TakesTheInterfaceOrTheAddressAskedFor) {
  for (const std::string asked : {"lo", "127.0.0.1", "127.9.9.9"}) {
    TcpSettings settings = with_streams(1);
    settings.interface = asked;
    expect_success(run(2, settings, [](int rank, TcpSession& session) {
      exchange_all(rank, 2, session.backend(0), {100});
      EXPECT_NE(session.library().find("by lo"), std::string::npos) << session.library();
    }));
  }
}

TEST(TcpSession, RefusesStreamsThatCannotBe) {
  for (const int streams : {0, 65}) {
    for (const Outcome& outcome : run(2, with_streams(streams), [](int, TcpSession&) { FAIL(); })) {
      EXPECT_EQ(outcome.status, ExitStatus::kUsage);
      EXPECT_EQ(outcome.error, std::to_string(streams) + " streams cannot be; take 1 to 64");
    }
  }
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
              "rank 0 on " + host_name() + ": cannot connect to rank 1 on " + host_name() + ": tried 127.0.0.1 port " +
                  port + " (no answer); a firewall between the hosts or the wrong interface is the likely cause: " +
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

OwnAddress own(const std::string& address, const std::string& mask) {
  return {*parse_address(address), *parse_address(mask)};
}

std::vector<Interface> some_interfaces() {
  return {{"lo", true, true, {own("127.0.0.1", "255.0.0.0")}},
          {"eth0",
           true,
           true,
           {own("10.0.0.1", "255.255.255.0"), own("fd00::1", "ffff:ffff:ffff:ffff::"),
            own("fe80::1", "ffff:ffff:ffff:ffff::")}},
          {"eth1", true, false, {own("10.0.1.1", "255.255.255.0")}},
          {"ib0", false, false, {}},
          {"ib1", true, true, {}},
          {"usb0", true, true, {own("169.254.3.1", "255.255.0.0")}}};
}

Texts chosen(const std::string& asked) {
  Texts texts;
  for (const OwnAddress& one : choose_addresses(asked, some_interfaces())) texts.push_back(to_text(one.address));
  return texts;
}

TEST(ChooseAddresses, TakesAllThatAreUpAndReachFurtherThanTheirLink) {
  EXPECT_EQ(chosen(""), (Texts{"127.0.0.1", "10.0.0.1", "fd00::1"}));
}

TEST(ChooseAddresses, TakesAnInterfaceByItsNameItsAddressOrItsNetwork) {
  EXPECT_EQ(chosen("eth0"), (Texts{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(chosen("10.0.0.1"), (Texts{"10.0.0.1"}));
  EXPECT_EQ(chosen("10.0.0.77"), (Texts{"10.0.0.1"}));
  EXPECT_EQ(chosen("fd00::77"), (Texts{"fd00::1"}));
  EXPECT_EQ(chosen("usb0"), (Texts{"169.254.3.1"}));
}

TEST(ChooseAddresses, SaysWhatIsWrongAndWhatIsThere) {
  const std::string there =
      "take one of those that are there: lo (127.0.0.1), eth0 (10.0.0.1, fd00::1, fe80::1), eth1 (no link), "
      "ib0 (down), ib1 (no address), usb0 (169.254.3.1)";
  struct Case {
    std::string asked;
    ExitStatus status;
    std::string wrong;
  };
  const Case cases[] = {
      {"ib0", ExitStatus::kMissing, "is down; set it up, or "},
      {"eth1", ExitStatus::kMissing, "has no link; set it up, or "},
      {"ib1", ExitStatus::kMissing, "has no address that other hosts could connect to; set it up, or "},
      {"eth7", ExitStatus::kUsage, "is neither an interface nor in the network of one; "},
      {"10.9.9.9", ExitStatus::kUsage, "is neither an interface nor in the network of one; "}};
  for (const Case& one : cases) {
    const Outcome outcome = outcome_of([&] { (void)chosen(one.asked); });
    EXPECT_EQ(outcome.status, one.status);
    EXPECT_EQ(outcome.error, fmt::format("--interface: '{}' {}{}", one.asked, one.wrong, there));
  }
  EXPECT_EQ(outcome_of([&] { (void)chosen("10.0.1.9"); }).error.find("--interface: 'eth1' has no link"), 0U);
}

TEST(Interfaces, HaveALoopback) {
  const std::vector<Interface> known = interfaces();
  EXPECT_EQ(interface_of(*parse_address("127.0.0.1"), known), "lo") << listed(known);
  EXPECT_EQ(interface_of(*parse_address("192.0.2.255"), known), "");
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

TEST(MessagesOnly, RefusesCollectivesAndSaysWhoHasThem) {
  expect_success(run(1, with_streams(1), [](int /*rank*/, TcpSession& session) {
    EXPECT_EQ(session.library(), "TCP, 1 stream");
    const Outcome outcome =
        outcome_of([&] { session.backend(0).all_reduce(nullptr, nullptr, 1, kByte, Reduction::kSum); });
    EXPECT_EQ(outcome.status, ExitStatus::kMissing);
    EXPECT_EQ(outcome.error,
              "this backend carries messages between two ranks only, and has no all_reduce; "
              "take --backend mpi or nccl");
  }));
}

}  // namespace
