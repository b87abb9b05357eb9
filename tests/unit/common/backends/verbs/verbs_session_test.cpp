// Both sessions of a pair on one fake device, from opening to a message.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/backends/verbs/background_stream.h"
#include "common/core/clock.h"
#include "session_pair.h"

namespace fabricbench::verbs {
namespace verbs_session_test {

using test::fake_verbs;
using test::fake_verbs_queues;
using test::send_one;
using Pair = test::SessionPair;
using VerbsSessionTest = test::SessionPairTest;

TEST_F(VerbsSessionTest, PollsTheLastByteWhereTheOrderIsKept) {
  Pair pair(settings_);
  EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
  EXPECT_EQ(pair.rank(0).route().find("immediate"), std::string::npos) << pair.rank(0).route();
  EXPECT_EQ(pair.rank(0).registered(), "host memory, strict PCIe ordering");
  send_one(pair);
  EXPECT_TRUE(fake_verbs_queues().queue_pairs.at(1).receives.empty());
}

TEST_F(VerbsSessionTest, SaysWhichInlineSizeTheDeviceGrants) {
  fake_verbs_queues().most_inline = 96;
  EXPECT_EQ(Pair(settings_).rank(0).registered(),
            "host memory, strict PCIe ordering, inline up to 96 B (220 B is more than the device takes)");
}

TEST_F(VerbsSessionTest, SendsImmediateDataWhereAnEndDoesNotKeepTheOrder) {
  Pair pair(settings_);
  fake_verbs_queues().queue_pairs.at(1).keeps_order = false;
  EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_NE(pair.rank(rank).route().find(", writes with immediate data because the adapter does not promise to"),
              std::string::npos)
        << pair.rank(rank).route();
  }
  send_one(pair);
  EXPECT_EQ(fake_verbs_queues().queue_pairs.at(1).receives.size(), 511U) << "one was taken";
}

TEST_F(VerbsSessionTest, KeepsWhatWasAskedForWhereTheDriverDoesNotKnow) {
  root_.link("mlx5_0/device/driver", "/sys/bus/pci/drivers/other");
  Pair pair(settings_);
  fake_verbs_queues().queue_pairs.at(1).keeps_order = false;
  EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
  EXPECT_EQ(pair.rank(0).route().find("immediate"), std::string::npos);
}

TEST_F(VerbsSessionTest, WarnsOfAFlagWhereAnEndDoesNotKeepTheOrder) {
  settings_.seen_by = SeenBy::kReader;
  Pair pair(settings_);
  fake_verbs_queues().queue_pairs.at(0).keeps_order = false;
  EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_NE(pair.rank(rank).route().find(", but mlx5_0 of host here does not promise to keep the order of data"),
              std::string::npos)
        << pair.rank(rank).route();
  }
}

TEST_F(VerbsSessionTest, CountsTheMessagesOfEachQueuePairOfAStream) {
  settings_.latency = false;
  Pair alone(settings_);
  send_one(alone);
  EXPECT_TRUE(alone.rank(0).counters().messages_by_queue_pair.empty()) << "one carries everything";
  settings_.options.queue_pairs = 2;
  Pair pair(settings_);
  for (int i = 0; i < 3; ++i) send_one(pair);
  EXPECT_EQ(pair.rank(0).counters().messages_by_queue_pair, (std::vector<std::uint64_t>{3, 0})) << "one at a time";
  EXPECT_EQ(pair.rank(1).counters().messages_by_queue_pair, (std::vector<std::uint64_t>{0, 0}));
}

/// A stream between the sessions of a pair, which must outlive it.
class Stream {
 public:
  explicit Stream(Pair& pair) {
    EXPECT_EQ(pair.on_both([&](VerbsSession& /*session*/, std::size_t rank) {
      streams_.at(rank) = std::make_unique<BackgroundStream>(pair.take(rank), rank == 0);
    }),
              "");
  }

  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { streams_[0].reset(); }  // writes into the memory of the other

  BackgroundStream& rank(std::size_t rank) { return *streams_.at(rank); }
  std::unique_ptr<BackgroundStream> take(std::size_t rank) { return std::move(streams_.at(rank)); }

 private:
  std::array<std::unique_ptr<BackgroundStream>, 2> streams_;
};

/// Waits until `reached`; a limit for what would never come.
template <typename Reached>
bool comes(Reached reached) {
  const Seconds began = now();
  while (!reached()) {
    if (now() - began > 60) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class BackgroundStreamTest : public VerbsSessionTest {
 protected:
  BackgroundStreamTest() { of_stream_.latency = false; }

  VerbsSettings of_stream_ = settings_;
};

TEST_F(BackgroundStreamTest, GoesOnWhileMessagesAreSentAndEndsWithTheirSession) {
  Pair messages(settings_);
  Pair streams(of_stream_);
  {
    Stream stream(streams);
    EXPECT_FALSE(stream.rank(1).counters().background_bytes.has_value()) << "its second rank is passive";
    messages.rank(0).load_with(stream.take(0));
    const auto carried = [&] { return *messages.rank(0).counters().background_bytes; };
    EXPECT_TRUE(comes([&] { return carried() > 300 * BackgroundStream::kMessage; }));
    send_one(messages);
    const std::uint64_t before = carried();
    const Seconds time = *messages.rank(0).counters().background_time;
    EXPECT_TRUE(comes([&] { return carried() > before; }));
    EXPECT_GT(*messages.rank(0).counters().background_time, time);
    (void)messages.take(0);  // destroyed
  }
  const test::FakeQueuePair& queue_pair = fake_verbs_queues().queue_pairs.at(2);
  EXPECT_GT(queue_pair.posted, 300U);
  EXPECT_EQ(queue_pair.handle.send_cq, nullptr) << "given back";
}

TEST_F(BackgroundStreamTest, IsThereWhenItsFirstBytesAre) {
  Pair streams(of_stream_);
  Stream stream(streams);
  stream.rank(1).await_first_bytes(60);
  stream.rank(0).await_first_bytes(60);
  EXPECT_GT(stream.rank(0).counters().background_bytes, 0U);
}

TEST_F(BackgroundStreamTest, ThatCarriesNothingIsNoLoad) {
  of_stream_.options.stall_timeout = 1e5;
  Pair streams(of_stream_);
  fake_verbs_queues().queue_pairs.at(0).messages_per_poll = 0;
  Stream stream(streams);
  try {
    stream.rank(0).await_first_bytes(0.02);
    ADD_FAILURE() << "nothing was carried";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kNotJudged);
    EXPECT_EQ(std::string(error.what()),
              "the stream of --background carried nothing for 20 ms, so there is no load to measure under");
  }
}

TEST_F(BackgroundStreamTest, KeepsItsQueueFull) {
  Pair streams(of_stream_);
  test::FakeQueuePair& queue_pair = fake_verbs_queues().queue_pairs.at(0);
  queue_pair.messages_per_poll = 0.5;
  std::size_t most = 0;
  queue_pair.is_lost = [&](std::uint64_t) {
    most = std::max(most, queue_pair.waiting.size() + 1);
    return false;
  };
  {
    Stream stream(streams);
    EXPECT_TRUE(comes([&] { return *stream.rank(0).counters().background_bytes > 500 * BackgroundStream::kMessage; }));
  }
  EXPECT_EQ(most, 128U) << "the depth";
}

TEST_F(BackgroundStreamTest, ThatFailsEndsTheMeasurement) {
  Pair messages(settings_);
  Pair streams(of_stream_);
  fake_verbs_queues().queue_pairs.at(2).ends_with = [](std::uint64_t number) {
    return number < 200 ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR;
  };
  Stream stream(streams);
  messages.rank(0).load_with(stream.take(0));
  std::string text;
  EXPECT_TRUE(comes([&] {
    try {
      (void)messages.rank(0).counters();
    } catch (const Error& error) {
      text = error.what();
      EXPECT_EQ(error.status(), ExitStatus::kTimeout);
    }
    return !text.empty();
  }));
  EXPECT_TRUE(text.starts_with("the stream of --background ended: verbs: a request with mlx5_0 port 1 of host here"))
      << text;
  EXPECT_THROW((void)messages.rank(0).counters(), Error) << "and stays an error";
}

TEST_F(BackgroundStreamTest, EndsWhereNothingCompletes) {
  of_stream_.options.stall_timeout = 1e5;  // it does not wait for that
  Pair streams(of_stream_);
  fake_verbs_queues().queue_pairs.at(0).messages_per_poll = 0;
  { const Stream stream(streams); }
  EXPECT_EQ(fake_verbs_queues().queue_pairs.at(0).handle.send_cq, nullptr) << "given back";
}

}  // namespace verbs_session_test
}  // namespace fabricbench::verbs
