// Messages that count when their last bytes have been read back.

#include "common/backends/verbs/visibility.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "fake_connection.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::test;
using namespace fabricbench::verbs;

namespace flush_backend_test {

constexpr std::size_t kBytes = 64;
constexpr std::uint32_t kKey = 31;

class Flush : public testing::Test {
 protected:
  Flush() {
    FakeConnection::connect(connection_, connection_);
    FakeConnection::connect(loopback_, loopback_);
    const std::uint64_t at = reinterpret_cast<std::uint64_t>(received_.data());
    messages_.add_block({sent_.data(), kBytes, 1, {}});
    messages_.add_block({received_.data(), kBytes, 2, {at, 12}});
    for (std::size_t i = 0; i < kBytes; ++i) sent_[i] = std::byte(i);
    backend_.prepare(sent_, received_);
  }

  static RequestWindowSettings settings() {
    RequestWindowSettings settings{.verb = Verb::kWrite, .latency = true};
    settings.options.write_with_immediate = true;
    settings.options.stall_timeout = 5;
    settings.receive_depth = 8;
    return settings;
  }

  void ping_pong(std::size_t bytes) {
    backend_.send(sent_.data(), bytes, DataType::kInt8, 1);
    backend_.recv(received_.data(), bytes, DataType::kInt8, 1);
  }

  [[nodiscard]] Request last_read() const { return loopback_.posts.back().requests.front(); }
  [[nodiscard]] std::uint64_t place(std::size_t byte) const {
    return reinterpret_cast<std::uint64_t>(received_.data() + byte);
  }

  FakeConnection connection_;
  FakeConnection loopback_;
  std::vector<std::byte> sent_ = std::vector<std::byte>(kBytes);
  std::vector<std::byte> received_ = std::vector<std::byte>(kBytes);
  std::vector<std::byte> into_ = std::vector<std::byte>(8);
  int made_ = 0;
  int forgotten_ = 0;
  VerbsBackend messages_{connection_, settings(), [] {}, {}};
  FlushBackend backend_{messages_,
                        loopback_,
                        settings(),
                        {into_.data(), 8, 9},
                        {[this](std::span<std::byte>) { return ++made_, kKey; }, [this] { ++forgotten_; }}};
};

TEST_F(Flush, ReadsTheLastBytesOfEachMessage) {
  ping_pong(kBytes);
  ASSERT_EQ(loopback_.posts.size(), 1U);
  EXPECT_EQ(last_read().verb, Verb::kRead);
  EXPECT_EQ(last_read().remote.key, kKey);
  EXPECT_EQ(last_read().remote.address, place(kBytes - 8));
  EXPECT_EQ(last_read().local.bytes, 8U);
  EXPECT_EQ(into_.back(), sent_.back());
  ping_pong(kBytes);
  EXPECT_EQ(loopback_.posts.size(), 2U);
  EXPECT_EQ(connection_.posts.size(), 2U);
}

TEST_F(Flush, ReadsNoMoreThanTheMessageHas) {
  ping_pong(3);
  EXPECT_EQ(last_read().local.bytes, 3U);
  EXPECT_EQ(last_read().remote.address, place(0));
}

TEST_F(Flush, ReadsTheBeginningOfTheBufferForAMessageOfNoBytes) {
  ping_pong(0);
  EXPECT_EQ(last_read().local.bytes, 8U);
  EXPECT_EQ(last_read().remote.address, place(0));
}

TEST_F(Flush, WaitsForTheRead) {
  const ScriptedClock clock(1000, 1);
  loopback_.polled_at_once = 0;
  backend_.send(sent_.data(), kBytes, DataType::kInt8, 1);
  EXPECT_THROW(backend_.recv(received_.data(), kBytes, DataType::kInt8, 1), Error);
}

TEST_F(Flush, KnowsTheBufferUntilItGoes) {
  EXPECT_EQ(made_, 1);
  backend_.prepare(sent_, received_);
  EXPECT_EQ(made_, 1);
  backend_.forget_block(sent_.data());
  EXPECT_EQ(forgotten_, 0);
  backend_.forget_block(received_.data());
  EXPECT_EQ(forgotten_, 1);
  backend_.prepare(sent_, received_);
  EXPECT_EQ(made_, 2);
}

}  // namespace flush_backend_test
