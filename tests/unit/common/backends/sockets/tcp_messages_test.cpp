// What travels over TCP connections, and in which order.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "asleep.h"
#include "tcp_test_support.h"

using namespace fabricbench;
using namespace fabricbench::sockets;
using namespace fabricbench::test;

namespace tcp_messages_test {

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

/// Rank 1 holds back what it receives until it has what rank 0 has to say at last, so that rank 0's sends cannot end.
TEST_P(TcpStreams, TellWhenAllIsReceivedThoughSendsGoOn) {
  constexpr std::size_t kMuch = 8 * kMiB;  // more than all buffers between the two take
  TcpSettings settings = with_streams(GetParam());
  settings.socket_buffer = 64 * kKiB;
  std::atomic<bool> received = false;
  expect_success(run(2, settings, [&](int rank, TcpSession& session) {
    Backend& backend = session.backend(0);
    Data much = rank == 0 ? message(0, 1, kMuch) : Data(kMuch);
    Data little = rank == 1 ? message(1, 2, 5) : Data(5);
    if (rank == 0) {
      backend.start_send(much.data(), kMuch, kByte, 1);
      backend.start_recv(little.data(), 5, kByte, 1);
      EXPECT_TRUE(backend.finish_receiving());
      EXPECT_TRUE(little == message(1, 2, 5));
      received = true;
      received.notify_all();
    } else {
      backend.start_send(little.data(), 5, kByte, 0);
      backend.finish();
      received.wait(false);
      backend.start_recv(much.data(), kMuch, kByte, 0);
    }
    backend.finish();
    EXPECT_TRUE(much == message(0, 1, kMuch));
  }));
}

TEST_P(TcpStreams, SendWhileTheyWaitForWhatTheyReceive) {
  expect_success(run(2, with_streams(GetParam()), [](int rank, TcpSession& session) {
    Backend& backend = session.backend(0);
    const int other = 1 - rank;
    const Data sent = message(rank, 0, 20 * kMiB);
    Data received(sent.size());
    backend.start_recv(received.data(), received.size(), kByte, other);
    backend.start_send(sent.data(), sent.size(), kByte, other);
    EXPECT_TRUE(backend.finish_receiving());
    EXPECT_TRUE(received == message(other, 0, received.size()));
    backend.finish();
  }));
}

/// One of them each round comes when the others wait there, or wait for it behind a barrier that let them through.
TEST_P(TcpStreams, PassABarrierWhenAllRanksHaveReachedIt) {
  std::atomic<int> reached = 0;
  std::array<std::atomic<pid_t>, 3> threads{};
  expect_success(run(3, with_streams(GetParam()), [&](int rank, TcpSession& session) {
    threads[static_cast<std::size_t>(rank)] = gettid();
    for (int round = 1; round <= 20; ++round) {
      if (rank == round % 3) {
        while (reached < 3 * round - 1) std::this_thread::yield();
        for (const pid_t thread : threads) {
          if (thread != gettid()) wait_until_asleep(thread);
        }
      }
      ++reached;
      session.backend(0).barrier();
      EXPECT_GE(reached, 3 * round);
      exchange_all(rank, 3, session.backend(0), {100, 1, 7});  // and it leaves the order of the messages alone
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

TEST(TcpSession, CountsTheBytesOfItsConnections) {
  expect_success(run(2, with_streams(2), [](int rank, TcpSession& session) {
    exchange_all(rank, 2, session.backend(0), {kMiB, kMiB});
    exchange_all(rank, 2, session.backend(0), {1});  // so that the other has what went before
    EXPECT_GE(session.totals().received_bytes, 2 * kMiB);
    EXPECT_LE(session.totals().received_bytes, 2 * kMiB + 1000);
    EXPECT_LE(session.totals().sent_bytes, 2 * kMiB + 1000);
  }));
}

TEST(TcpSession, NamesItsLibrary) {
  expect_success(run(1, with_streams(1),
                     [](int /*rank*/, TcpSession& session) { EXPECT_EQ(session.library(), "TCP, 1 stream"); }));
}

}  // namespace tcp_messages_test
