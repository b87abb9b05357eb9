// Messages that count when their reader has seen them. One rank on a fake queue pair that is connected to itself is
// both ends: what it sends is what it receives.

#include "common/backends/verbs/visibility.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/message_reader.h"
#include "fake_connection.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::test;
using namespace fabricbench::verbs;

namespace reader_backend_test {

constexpr std::size_t kBytes = 256;
constexpr std::size_t kRehearsed = 16;  // messages of that size
constexpr std::uint32_t kFlagKey = 13;
constexpr Seconds kLimit = 4;

std::uint64_t address(const std::byte* data) { return reinterpret_cast<std::uint64_t>(data); }

/// Has given up when it is first asked to read, as one that had nothing to see for too long.
class ImpatientReader final : public MessageReader {
 public:
  ~ImpatientReader() override { (void)end(); }
  [[nodiscard]] std::string description() const override { return "an impatient thread"; }
  std::vector<std::uint64_t> began_with;  ///< numbers of the first messages, launch by launch

 private:
  [[nodiscard]] ReaderWords& words() const override { return *words_; }
  [[nodiscard]] std::uint64_t* asked() const override { return &words_->asked; }
  void launch(const ReaderTask& task) override {
    began_with.push_back(task.first);
    if (began_with.size() == 1) {
      words_->findings.gave_up = true;
      words_->ended = 1;
      return;
    }
    const auto now_ns = [] { return static_cast<std::uint64_t>(now() * 1e9); };
    thread_ = std::thread([=, this] { read_on_host(task, *words_, now_ns, [] { std::this_thread::yield(); }); });
  }
  void join() override {
    if (thread_.joinable()) thread_.join();
  }

  std::unique_ptr<ReaderWords> words_ = std::make_unique<ReaderWords>();
  std::thread thread_;
};

class ReaderPair : public testing::Test {
 protected:
  ReaderPair() {
    FakeConnection::connect(connection_, connection_);
    settings_.options.stall_timeout = kLimit;
    for (std::size_t i = 0; i < kBytes; ++i) sent_[i] = std::byte(i % 100);
  }

  ReaderBackend::Parts parts(MessageReader& reader) {
    return {.connection = connection_,
            .reader = reader,
            .memory = memory_,
            .rank = rank_,
            .gather =
                [this](const std::string& text) {
                  ++gathered_;
                  return std::vector{text, text};
                },
            .barrier = [this] { ++barriers_; },
            .make_block =
                [this](std::size_t bytes) {
                  complement_.resize(bytes);
                  return LocalPart{complement_.data(), static_cast<std::uint32_t>(bytes), 21};
                },
            .flag = {flag_, 8, 3, {address(flag_), kFlagKey}},
            .numbers = {numbers_.data(), static_cast<std::uint32_t>(numbers_.size()), 22},
            .on_host = on_host_};
  }

  void open(MessageReader& reader) {
    backend_ = std::make_unique<ReaderBackend>(parts(reader), settings_);
    backend_->add_block({sent_, kBytes, 1, {0, 11}});
    backend_->add_block({received_, kBytes, 2, {address(received_), 12}});
  }

  void prepare(std::size_t bytes = kBytes) {
    backend_->announce(bytes);
    std::fill_n(received_, kBytes, std::byte{0xee});
    backend_->prepare({sent_, kBytes}, {received_, kBytes});
  }

  void ping_pong(std::size_t bytes = kBytes) {
    backend_->send(sent_, bytes, DataType::kInt8, 1);
    backend_->recv(received_, bytes, DataType::kInt8, 1);
  }

  /// Does something whenever the test's own thread reads the clock, which it does only where it waits for long; the
  /// reader's thread reads it as well.
  void when_waiting(const std::function<void()>& action) {
    clock_.when_reading([action, own = std::this_thread::get_id()](int) {
      if (std::this_thread::get_id() == own) action();
    });
  }

  [[nodiscard]] bool has_received_the_data() const { return std::equal(received_, received_ + kBytes, sent_); }

  ScriptedClock clock_;  // stands still, however long the reader's thread waits for a processor
  FakeConnection connection_;
  HostMemory memory_;
  HostReader reader_;
  RequestWindowSettings settings_;
  bool on_host_ = true;
  int rank_ = 0;
  int gathered_ = 0;
  int barriers_ = 0;
  alignas(8) std::byte sent_[kBytes] = {};
  alignas(8) std::byte received_[kBytes] = {};
  alignas(8) std::byte flag_[8] = {};
  std::vector<std::byte> complement_;
  std::vector<std::byte> numbers_ = std::vector<std::byte>(kNumberBytes);
  std::unique_ptr<ReaderBackend> backend_;
};

TEST_F(ReaderPair, WritesTheDataAndBehindThemTheNumber) {
  open(reader_);
  prepare();
  ping_pong();
  ASSERT_EQ(connection_.posts.size(), kRehearsed + 1);
  for (const FakeConnection::Post& post : connection_.posts) {
    ASSERT_EQ(post.requests.size(), 2U);
    EXPECT_EQ(post.requests[0].remote.key, 12U);
    EXPECT_EQ(post.requests[0].local.bytes, kBytes);
    EXPECT_FALSE(post.requests[0].signaled);
    EXPECT_EQ(post.requests[1].remote.key, kFlagKey);
    EXPECT_EQ(post.requests[1].local.bytes, 8U);
    EXPECT_TRUE(post.requests[1].signaled);
  }
}

TEST_F(ReaderPair, RehearsesBeforeEachVisitAndLooksAtEachOfThoseMessages) {
  open(reader_);
  prepare();
  EXPECT_EQ(connection_.posts.size(), kRehearsed);
  EXPECT_EQ(gathered_, 1);
  backend_->wait_for_remote_writes();
  EXPECT_EQ(barriers_, 1);
  EXPECT_FALSE(backend_->own_mismatch());
  prepare();
  EXPECT_EQ(connection_.posts.size(), 2 * kRehearsed);
}

TEST_F(ReaderPair, SendsAsTheSecondRankOnlyWhatAnswersAMessageThatWasSeen) {
  rank_ = 1;
  open(reader_);
  when_waiting([this, looks = 0]() mutable {
    if (++looks == 3) std::thread([this] { backend_->abandon(); }).join();
  });
  EXPECT_THROW(prepare(), Error);
  EXPECT_TRUE(connection_.posts.empty());
}

TEST_F(ReaderPair, AlternatesAndLeavesTheHarnesssDataBehind) {
  open(reader_);
  prepare();
  EXPECT_TRUE(has_received_the_data());
  ping_pong();
  for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(received_[i], ~sent_[i]) << i;
  backend_->wait_for_remote_writes();
  EXPECT_TRUE(has_received_the_data());
  EXPECT_EQ(connection_.posts.size(), kRehearsed + 2);
  prepare();
  ping_pong();
  ping_pong();
  backend_->wait_for_remote_writes();
  EXPECT_TRUE(has_received_the_data());
  EXPECT_EQ(connection_.posts.size(), kRehearsed + 2 + kRehearsed + 2);
}

TEST_F(ReaderPair, FindsANumberThatOvertookItsMessage) {
  connection_.is_overtaken = [](std::size_t post, std::size_t place) { return post == 2 && place == 0; };
  open(reader_);
  prepare();
  backend_->wait_for_remote_writes();
  const auto wrong = backend_->own_mismatch();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->count, 1U);
  EXPECT_EQ(wrong->first_offset, 2U);
  EXPECT_NE(wrong->expected, wrong->got);
  EXPECT_NE(wrong->expected.find("sum 0x"), std::string::npos) << wrong->expected;
  EXPECT_TRUE(has_received_the_data());  // which is all that a look at the end would show
  prepare();
  backend_->wait_for_remote_writes();
  EXPECT_FALSE(backend_->own_mismatch());
}

TEST_F(ReaderPair, LooksAtSomeMessagesLater) {
  connection_.is_overtaken = [](std::size_t post, std::size_t place) { return post == 1020 && place == 0; };  // 1021st
  open(reader_);
  prepare();
  for (int i = 0; i < 1100; ++i) ping_pong();
  backend_->wait_for_remote_writes();
  const auto wrong = backend_->own_mismatch();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->first_offset, 1020U);
}

TEST_F(ReaderPair, NeverHasMoreUnderWayThanItsQueueHolds) {
  connection_.polled_at_once = 1;
  open(reader_);
  prepare();
  for (int i = 0; i < 200; ++i) ping_pong();
  backend_->finish();
  EXPECT_LE(connection_.most_under_way, kReaderDepth);
}

TEST_F(ReaderPair, KeepsANumberUntilItCannotBeSentAgain) {
  connection_.polled_at_once = 0;  // nothing completes
  open(reader_);
  when_waiting([this] {
    const bool only_room_is_missing = connection_.posts.size() == kReaderDepth && reader_.seen() == kReaderDepth;
    if (only_room_is_missing) clock_.advance(kLimit);
  });
  EXPECT_THROW(
      {
        prepare(0);
        for (;;) ping_pong(0);
      },
      Error);
  ASSERT_EQ(connection_.posts.size(), static_cast<std::size_t>(kReaderDepth));
  for (std::size_t i = 0; i < connection_.posts.size(); ++i) {
    std::uint64_t number = 0;
    std::memcpy(&number, connection_.posts[i].requests[0].local.data, sizeof number);
    EXPECT_EQ(number, i + 1);
  }
}

TEST_F(ReaderPair, SendsNoBytesAsANumberAlone) {
  open(reader_);
  prepare(0);
  ping_pong(0);
  backend_->wait_for_remote_writes();
  EXPECT_FALSE(backend_->own_mismatch());
  for (const FakeConnection::Post& post : connection_.posts) {
    ASSERT_EQ(post.requests.size(), 1U);
    EXPECT_EQ(post.requests[0].remote.key, kFlagKey);
  }
}

TEST_F(ReaderPair, SendsNothingInlineFromMemoryThatTheProcessorDoesNotSee) {
  settings_.inline_bytes = 300;
  open(reader_);
  prepare();
  EXPECT_TRUE(connection_.posts.back().requests[0].is_inline);
  EXPECT_TRUE(connection_.posts.back().requests[1].is_inline);
  on_host_ = false;
  open(reader_);
  prepare();
  EXPECT_FALSE(connection_.posts.back().requests[0].is_inline);
  EXPECT_TRUE(connection_.posts.back().requests[1].is_inline);  // the number comes from the host
}

TEST_F(ReaderPair, GivesUpOnAMessageThatDoesNotCome) {
  open(reader_);
  prepare();
  int looks = 0;
  when_waiting([&] {
    if (++looks > 1) clock_.advance(1);
  });
  try {
    backend_->recv(received_, kBytes, DataType::kInt8, 1);
    FAIL() << "nothing was sent";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kTimeout);
    EXPECT_NE(std::string(error.what()).find("the reader to see a message; the other end is a fake"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(looks, 5) << "1 to begin with, and those 1 to 4 s later";
  EXPECT_TRUE(reader_.reads());
  EXPECT_FALSE(reader_.has_stopped()) << "the reader is to wait longer";
  backend_->forget_block(received_);
  EXPECT_FALSE(reader_.reads());  // before the memory goes
}

TEST_F(ReaderPair, GoesOnWithAReaderThatLostItsPatience) {
  ImpatientReader impatient;
  open(impatient);
  prepare();
  backend_->wait_for_remote_writes();
  EXPECT_EQ(impatient.began_with, (std::vector<std::uint64_t>{1, 1}));
  EXPECT_FALSE(backend_->own_mismatch());
  backend_.reset();  // it ends its reader, which goes with this function
}

TEST_F(ReaderPair, PreparesAnewWithoutHavingSettled) {
  open(reader_);
  prepare(64);
  ping_pong(64);
  prepare();
  ping_pong();
  ping_pong();
  backend_->wait_for_remote_writes();
  EXPECT_FALSE(backend_->own_mismatch());
  EXPECT_TRUE(has_received_the_data());
}

TEST_F(ReaderPair, EndsItsReaderBeforeBuffersAreMadeReady) {
  open(reader_);
  prepare();
  EXPECT_TRUE(reader_.reads());
  backend_->announce(8);
  EXPECT_FALSE(reader_.reads());
}

TEST_F(ReaderPair, MayBeAbandonedByAnotherThread) {
  open(reader_);
  prepare();
  when_waiting([this, looks = 0]() mutable {
    if (++looks == 3) std::thread([this] { backend_->abandon(); }).join();
  });
  EXPECT_THROW(backend_->recv(received_, kBytes, DataType::kInt8, 1), Error);
}

}  // namespace reader_backend_test
