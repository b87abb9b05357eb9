// Connections that end or fall silent.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "asleep.h"
#include "common/core/units.h"
#include "scripted_clock.h"
#include "tcp_test_support.h"

using namespace fabricbench;
using namespace fabricbench::sockets;
using namespace fabricbench::test;

namespace tcp_faults_test {

TEST(TcpSession, NamesThePeerThatClosesTheConnection) {
  const auto outcomes = run(2, with_streams(1), [](int rank, TcpSession& session) {
    Data data(4096);
    if (rank == 0) session.backend(0).recv(data.data(), data.size(), kByte, 1);
  });
  EXPECT_EQ(outcomes[0].status, ExitStatus::kFailure);
  EXPECT_EQ(outcomes[0].error,
            "tcp: lost the connection to rank 1 on node (127.0.0.1) with 4 KiB still to be received: it closed the "
            "connection; "
            "see that rank's messages");
}

TEST(TcpSession, NoticesAPeerThatClosesAmongManyConnections) {
  TcpSettings settings = with_streams(4);
  settings.socket_buffer = 64 * kKiB;  // or else the kernel might take all
  const auto outcomes = run(3, settings, [](int rank, TcpSession& session) {
    if (rank != 1) exchange_all(rank, 3, session.backend(0), {kMiB, kMiB, 8 * kMiB});
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

void expect_timeout(const Outcome& outcome, Seconds limit, const std::string& missing) {
  EXPECT_EQ(outcome.status, ExitStatus::kTimeout) << outcome.error;
  EXPECT_EQ(
      outcome.error.find(fmt::format("tcp: nothing moved between here and rank 1 on node (127.0.0.1) for {}, with ",
                                     readable_seconds(limit))),
      0U)
      << outcome.error;
  EXPECT_NE(outcome.error.find(missing), std::string::npos) << outcome.error;
}

/// Where one way is left the kernel keeps the limit, by its own clock (ReadySocket tests that it is told): a short one,
/// which passes however busy the machine is, because the peer never does anything.
constexpr Seconds kOfTheKernel = 0.02;

TEST(TcpSession, GivesUpOnAPeerThatNeverSends) {
  TcpSettings settings = with_streams(4);
  settings.time_limit_s = kOfTheKernel;
  Data data(4096);
  const auto receive = [&](int /*rank*/, TcpSession& session) {
    session.backend(0).recv(data.data(), data.size(), kByte, 1);
  };
  expect_timeout(run_against_silence(settings, receive)[0], kOfTheKernel, "4 KiB still to be received");
}

TEST(TcpSession, GivesUpOnAPeerThatNeverSendsByAnyOfItsStreams) {
  TcpSettings settings = with_streams(4);
  settings.time_limit_s = 1e5;
  Data data(4096);
  const auto receive_many = [&](int /*rank*/, TcpSession& session) {
    const ScriptedClock clock(1000, settings.time_limit_s);  // the next look at it finds the limit passed
    for (int i = 0; i < 5; ++i) session.backend(0).start_recv(data.data(), data.size(), kByte, 1);
    session.backend(0).finish();
  };
  expect_timeout(run_against_silence(settings, receive_many)[0], 1e5, "20 KiB still to be received");
}

/// Rank 1 sends one message at a time, each of them when three fifths of the limit have passed since rank 0 began to
/// wait for it.
TEST(TcpSession, HasPatienceAnewWithWhateverMoves) {
  constexpr int kMessages = 4;
  TcpSettings settings = with_streams(kMessages);
  settings.time_limit_s = 1e5;
  ScriptedClock* clock = nullptr;
  std::atomic<bool> is_scripted = false;
  std::atomic<bool> is_over = false;
  std::array<std::uint8_t, kMessages> received{};
  expect_success(run(2, settings, [&](int rank, TcpSession& session) {
    Backend& backend = session.backend(0);
    if (rank == 0) {
      ScriptedClock scripted;
      clock = &scripted;
      is_scripted = true;
      is_scripted.notify_all();
      for (std::uint8_t& byte : received) backend.start_recv(&byte, 1, kByte, 1);
      const Outcome outcome = outcome_of([&] { backend.finish(); });
      is_over = true;
      EXPECT_EQ(outcome.error, "");
      return;
    }
    is_scripted.wait(false);
    for (int i = 0; i < kMessages; ++i) {
      // A wait reads the clock twice, for its deadline and for what is left of that. The last way waits in the kernel.
      const bool waits_here = i < kMessages - 1;
      while (waits_here && clock->readings() < 2 * (i + 1) && !is_over) std::this_thread::yield();
      if (waits_here && !is_over) clock->advance(0.6 * settings.time_limit_s);
      const auto byte = static_cast<std::uint8_t>(i + 1);
      backend.start_send(&byte, 1, kByte, 0);
      backend.finish();
    }
  }));
  EXPECT_EQ(received, (std::array<std::uint8_t, kMessages>{1, 2, 3, 4}));
}

TEST(TcpSession, GivesUpOnAPeerThatNeverReceives) {
  TcpSettings settings = with_streams(1);
  settings.time_limit_s = kOfTheKernel;
  settings.socket_buffer = 64 * kKiB;  // or else the kernel might take all
  Data data(8 * kMiB);
  const auto send = [&](int /*rank*/, TcpSession& session) {
    session.backend(0).send(data.data(), data.size(), kByte, 1);
  };
  expect_timeout(run_against_silence(settings, send)[0], kOfTheKernel, "MiB still to be sent");
}

void expect_given_up(const Body& body) {
  TcpSettings settings = with_streams(1);
  settings.time_limit_s = 0;
  const auto outcomes = run_against_silence(settings, body);
  EXPECT_EQ(outcomes[0].error.find("tcp: gave up with 1 B still to be received between here and rank 1"), 0U)
      << outcomes[0].error;
}

TEST(TcpSession, IsAbandonedFromAnotherThreadWhileItWaits) {
  expect_given_up([](int /*rank*/, TcpSession& session) {
    std::thread other([&session, receiver = gettid()] {
      wait_until_asleep(receiver);
      session.abandon();
    });
    std::uint8_t byte = 0;
    const Outcome outcome = outcome_of([&] { session.backend(0).recv(&byte, 1, kByte, 1); });
    other.join();
    throw Error(outcome.status, outcome.error);
  });
}

TEST(TcpSession, ReceivesNothingMoreOnceItWasAbandoned) {
  expect_given_up([](int /*rank*/, TcpSession& session) {
    std::thread(&TcpSession::abandon, &session).join();
    std::uint8_t byte = 0;
    session.backend(0).recv(&byte, 1, kByte, 1);
  });
}

}  // namespace tcp_faults_test
