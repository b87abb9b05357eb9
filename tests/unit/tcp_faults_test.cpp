// Connections that end or fall silent.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>

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
  EXPECT_EQ(outcome.error.find("tcp: nothing moved between here and rank 1 on node (127.0.0.1) for 300 ms, with "), 0U)
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

}  // namespace tcp_faults_test
