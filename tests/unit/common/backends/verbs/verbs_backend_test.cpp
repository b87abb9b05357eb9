// Messages by each verb between the two ranks of a pair, on fake queue pairs that move real bytes.

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/backends/verbs/verbs_backend.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/core/error.h"
#include "common/core/memory.h"
#include "common/core/pattern.h"
#include "fake_connection.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::test;
using namespace fabricbench::verbs;

namespace verbs_backend_test {

constexpr std::size_t kBytes = 256;

std::uint64_t address(std::vector<std::byte>& block) { return reinterpret_cast<std::uint64_t>(block.data()); }

/// Memory that the processor is not to look at itself: it must ask.
class AskedMemory final : public Memory {
 public:
  void set(std::span<std::byte> buffer, int byte) override {
    ++asked;
    host_.set(buffer, byte);
  }
  void fill(std::span<std::byte> /*buffer*/, const PatternTable& /*table*/, PatternPosition /*place*/) override {}
  [[nodiscard]] std::optional<Mismatch> check(std::span<const std::byte> /*buffer*/, const PatternTable& /*table*/,
                                              PatternPosition /*place*/) override {
    return std::nullopt;
  }
  void copy_to_host(std::span<const std::byte> from, std::byte* into) override {
    ++asked;
    host_.copy_to_host(from, into);
  }
  void copy_from_host(std::span<const std::byte> from, std::byte* into) override { host_.copy_from_host(from, into); }

  int asked = 0;

 private:
  HostMemory host_;
};

/// Gives each of two ranks, which are threads, the other's text.
class Exchange {
 public:
  VerbsBackend::Exchange of(std::size_t rank) {
    return [this, rank](const std::string& own) {
      texts_.at(rank) = own;
      both_.arrive_and_wait();
      return texts_.at(1 - rank);
    };
  }

 private:
  std::array<std::string, 2> texts_;
  std::barrier<> both_{2};
};

/// One rank: its connection, its buffers and its counters.
struct Rank {
  Rank(const RequestWindowSettings& settings, int queue_pairs, VerbsBackend::Exchange exchange)
      : connection(queue_pairs),
        backend(
            connection, settings, [this] { ++barriers; }, std::move(exchange)) {}

  FakeConnection connection;
  int barriers = 0;
  std::vector<std::byte> sent = std::vector<std::byte>(kBytes);
  std::vector<std::byte> received = std::vector<std::byte>(kBytes);
  std::vector<std::byte> counters = std::vector<std::byte>(4 * kCounterStride);
  std::vector<std::byte> results = std::vector<std::byte>(4 * kCounterStride);
  AskedMemory memory;
  VerbsBackend backend;
};

class BackendPair : public testing::Test {
 protected:
  static RequestWindowSettings settings_of(Verb verb) {
    RequestWindowSettings settings{.verb = verb};
    settings.options.stall_timeout = 5;
    if (verb == Verb::kSend) settings.receive_depth = 64;
    return settings;
  }

  void open(const RequestWindowSettings& settings, int queue_pairs = 1) {
    first_ = std::make_unique<Rank>(settings, queue_pairs, exchange_.of(0));
    second_ = std::make_unique<Rank>(settings, queue_pairs, exchange_.of(1));
    FakeConnection::connect(first_->connection, second_->connection);
    make_known(*first_, *second_);
    make_known(*second_, *first_);
    for (std::size_t i = 0; i < kBytes; ++i) {
      first_->sent[i] = std::byte(i % 100);
      second_->sent[i] = std::byte(100 - i % 100);
    }
    prepare();
  }

  /// Receive buffers are poisoned before operations, as the harness does it.
  void prepare() {
    for (Rank* rank : {first_.get(), second_.get()}) {
      rank->received.assign(kBytes, std::byte{pattern::kPoisonByte});
      rank->backend.prepare(rank->sent, rank->received);
    }
  }

  void wait_for_remote_writes() {
    std::thread second([this] { second_->backend.wait_for_remote_writes(); });
    first_->backend.wait_for_remote_writes();
    second.join();
  }

  /// A window from the first rank to the second.
  void stream(int messages) {
    for (int i = 0; i < messages; ++i) {
      second_->backend.start_recv(second_->received.data(), kBytes, DataType::kInt8, 0);
      first_->backend.start_send(first_->sent.data(), kBytes, DataType::kInt8, 1);
    }
    first_->backend.finish();
    second_->backend.finish();
  }

  Exchange exchange_;
  std::unique_ptr<Rank> first_;
  std::unique_ptr<Rank> second_;

 private:
  static void make_known(Rank& own, Rank& other) {
    own.backend.add_block({own.sent.data(), kBytes, 1, {address(other.sent), 11}});
    own.backend.add_block({own.received.data(), kBytes, 2, {address(other.received), 12}});
    own.backend.set_counters({own.counters.data(), own.counters.size(), 3, {address(other.counters), 13}},
                             {own.results.data(), own.results.size(), 4, {}}, own.memory);
  }
};

TEST_F(BackendPair, WritesIntoTheOthersReceiveBuffer) {
  open(settings_of(Verb::kWrite));
  stream(10);
  EXPECT_EQ(second_->received, first_->sent);
  EXPECT_TRUE(second_->connection.posts.empty());
  EXPECT_EQ(first_->connection.posts.front().requests.front().remote.key, 12U);
}

TEST_F(BackendPair, SendsIntoTheOthersReceiveBuffer) {
  open(settings_of(Verb::kSend));
  stream(100);
  EXPECT_EQ(second_->received, first_->sent);
}

TEST_F(BackendPair, ReadsFromTheOthersSendBuffer) {
  open(settings_of(Verb::kRead));
  for (int i = 0; i < 10; ++i) {
    first_->backend.start_recv(first_->received.data(), kBytes, DataType::kInt8, 1);
    second_->backend.start_send(second_->sent.data(), kBytes, DataType::kInt8, 0);
  }
  first_->backend.finish();
  EXPECT_EQ(first_->received, second_->sent);
  EXPECT_TRUE(second_->connection.posts.empty());
}

TEST_F(BackendPair, GoesToEachPlaceHoweverOftenInARow) {
  RequestWindowSettings settings = settings_of(Verb::kRead);
  settings.latency = true;
  open(settings);
  for (const std::size_t place : {0, 0, 64, 64, 0, 128}) {
    first_->backend.recv(first_->received.data() + place, 64, DataType::kInt8, 1);
    EXPECT_EQ(first_->received[place], second_->sent[place]);
    first_->received[place] = std::byte{pattern::kPoisonByte};
  }
  second_->sent[128] = std::byte{77};
  prepare();
  first_->backend.recv(first_->received.data() + 128, 64, DataType::kInt8, 1);
  EXPECT_EQ(first_->received[128], std::byte{77});
}

TEST_F(BackendPair, CountsAtomicsExactlyOnEveryQueuePair) {
  for (const AtomicKind kind : {AtomicKind::kFetchAndAdd, AtomicKind::kCompareAndSwap}) {
    RequestWindowSettings settings = settings_of(Verb::kAtomic);
    settings.options.atomic = kind;
    open(settings, 3);
    for (int round = 0; round < 2; ++round) {
      stream(10);
      wait_for_remote_writes();
      EXPECT_FALSE(second_->backend.own_mismatch());
      EXPECT_FALSE(first_->backend.own_mismatch());
      prepare();
    }
  }
}

TEST_F(BackendPair, AsksTheMemoryForCounters) {
  open(settings_of(Verb::kAtomic), 3);
  EXPECT_EQ(second_->memory.asked, 1);  // to clear them
  wait_for_remote_writes();
  (void)second_->backend.own_mismatch();
  EXPECT_EQ(second_->memory.asked, 2);
}

TEST_F(BackendPair, NamesACounterThatIsWrong) {
  open(settings_of(Verb::kAtomic), 3);
  stream(10);
  wait_for_remote_writes();
  second_->counters[kCounterStride] = std::byte{1};  // of the second queue pair, which had 3
  const auto wrong = second_->backend.own_mismatch();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->count, 1U);
  EXPECT_EQ(wrong->first_offset, 1U);
  EXPECT_EQ(wrong->expected, "a counter of 3");
  EXPECT_EQ(wrong->got, "1");
}

TEST_F(BackendPair, SeesAWriteByItsLastByteAndLeavesTheDataWhole) {
  open(settings_of(Verb::kWrite));
  for (int i = 0; i < 5; ++i) {
    first_->backend.send(first_->sent.data(), kBytes, DataType::kInt8, 1);
    second_->backend.recv(second_->received.data(), kBytes, DataType::kInt8, 0);
    second_->backend.send(second_->sent.data(), kBytes, DataType::kInt8, 0);
    EXPECT_EQ(second_->received.back(), std::byte{pattern::kPoisonByte});  // ready for the next
    first_->backend.recv(first_->received.data(), kBytes, DataType::kInt8, 1);
  }
  wait_for_remote_writes();
  EXPECT_EQ(first_->received, second_->sent);
  EXPECT_EQ(second_->received, first_->sent);
}

TEST_F(BackendPair, GivesUpOnAWriteThatDoesNotCome) {
  open(settings_of(Verb::kWrite));
  const ScriptedClock clock(1000, 1);
  try {
    second_->backend.recv(second_->received.data(), kBytes, DataType::kInt8, 0);
    FAIL() << "nothing was sent";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kTimeout);
    EXPECT_NE(std::string(error.what()).find("waited 5 s in vain for a write to arrive"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(clock.readings(), 6);  // one to begin with, and those 1 to 5 s later
}

TEST_F(BackendPair, AnswersASendWithAnother) {
  RequestWindowSettings settings = settings_of(Verb::kSend);
  settings.latency = true;
  open(settings);
  for (int i = 0; i < 200; ++i) {
    first_->backend.send(first_->sent.data(), kBytes, DataType::kInt8, 1);
    second_->backend.recv(second_->received.data(), kBytes, DataType::kInt8, 0);
    second_->backend.send(second_->sent.data(), kBytes, DataType::kInt8, 0);
    first_->backend.recv(first_->received.data(), kBytes, DataType::kInt8, 1);
  }
  EXPECT_EQ(first_->received, second_->sent);
  EXPECT_EQ(second_->received, first_->sent);
}

TEST_F(BackendPair, WaitsForTheOtherRankBeforeAndAfterOperations) {
  open(settings_of(Verb::kWrite));
  EXPECT_EQ(first_->barriers, 1);
  wait_for_remote_writes();
  EXPECT_EQ(first_->barriers, 2);
}

TEST_F(BackendPair, SendsShortMessagesInline) {
  RequestWindowSettings settings = settings_of(Verb::kWrite);
  settings.inline_bytes = 100;
  open(settings);
  for (const std::size_t bytes : {100, 101}) {
    first_->backend.start_send(first_->sent.data(), bytes, DataType::kInt8, 1);
    first_->backend.finish();
  }
  EXPECT_TRUE(first_->connection.posts[0].requests[0].is_inline);
  EXPECT_FALSE(first_->connection.posts[1].requests[0].is_inline);
}

TEST_F(BackendPair, FindsTheBlocksAgainForEveryVisit) {
  open(settings_of(Verb::kWrite));
  std::vector<std::byte> more(kBytes, std::byte{9});
  first_->backend.add_block({more.data(), kBytes, 5, {address(second_->sent), 11}});
  first_->backend.prepare(more, first_->received);
  first_->backend.start_send(more.data(), kBytes, DataType::kInt8, 1);
  first_->backend.finish();
  EXPECT_EQ(first_->connection.posts.back().requests.front().local.key, 5U);
  EXPECT_EQ(second_->received, more);
  EXPECT_THROW(first_->backend.start_send(first_->sent.data(), kBytes, DataType::kInt8, 1), Error);  // of the last one
}

TEST_F(BackendPair, TakesItsCompletionsWhileItWaitsForTheAnswer) {
  RequestWindowSettings settings = settings_of(Verb::kWrite);
  settings.latency = true;
  open(settings);
  first_->backend.send(first_->sent.data(), kBytes, DataType::kInt8, 1);
  EXPECT_FALSE(first_->backend.window().is_idle());
  first_->connection.before_poll = [this] { second_->backend.send(second_->sent.data(), kBytes, DataType::kInt8, 0); };
  first_->backend.recv(first_->received.data(), kBytes, DataType::kInt8, 1);
  EXPECT_EQ(first_->connection.polls, 1);
  EXPECT_TRUE(first_->backend.window().is_idle());
}

/// Memory that is given back may be handed out again at the same place, for which another key is right then.
TEST_F(BackendPair, ForgetsBlocksThatAreGivenBack) {
  open(settings_of(Verb::kWrite));
  first_->backend.forget_block(first_->sent.data());
  first_->backend.add_block({first_->sent.data(), kBytes, 7, {address(second_->sent), 17}});
  first_->backend.prepare(first_->sent, first_->received);
  first_->backend.start_send(first_->sent.data(), kBytes, DataType::kInt8, 1);
  first_->backend.finish();
  EXPECT_EQ(first_->connection.posts.back().requests.front().local.key, 7U);
}

TEST(BytesForMessages, LeaveAThirdToWhatAReaderIsSent) {
  EXPECT_EQ(bytes_for_messages(3000, SeenBy::kReader), 2000U);
  EXPECT_EQ(bytes_for_messages(3000, SeenBy::kFlush), 3000U);
  EXPECT_EQ(bytes_for_messages(3000, std::nullopt), 3000U);
}

TEST(InlineBytes, ArePerftestsUnlessAskedForAndNeverOutsideOfTheHostsMemory) {
  VerbsSettings settings;
  settings.latency = true;
  EXPECT_EQ(inline_bytes_wanted(settings), 236U);
  settings.options.inlined = 64;
  EXPECT_EQ(inline_bytes_wanted(settings), 64U);
  settings.in_host_memory = false;
  EXPECT_EQ(inline_bytes_wanted(settings), 0U);
  settings.in_host_memory = true;
  settings.verb = Verb::kRead;
  EXPECT_EQ(inline_bytes_wanted(settings), 0U);
}

TEST(UnequalQueuePairs, AreNamedByTheirSharesOnceTheyCanBeCompared) {
  EXPECT_EQ(unequal_queue_pairs({5000}), "");
  EXPECT_EQ(unequal_queue_pairs({1000, 800, 900}), "");
  EXPECT_EQ(unequal_queue_pairs({45, 9}), "") << "too few";
  EXPECT_EQ(unequal_queue_pairs({900, 500}), "") << "too few for so little";
  EXPECT_NE(unequal_queue_pairs({900, 400}), "");
  EXPECT_EQ(
      unequal_queue_pairs({9000, 1000, 0}).find("used queue pairs that carried 90.0, 10.0, 0.0 % of its messages"), 0U);
}

TEST(RouteDetails, HaveTheTrafficClassOnRoceAndWhatIsNotTheDefault) {
  NegotiatedSettings negotiated;
  EXPECT_EQ(route_details(negotiated), "");
  negotiated.own.port.ethernet = true;
  negotiated.agreed.has_global_route = true;
  EXPECT_EQ(route_details(negotiated), ", traffic class 0") << "and a global route header as always on RoCE";
  negotiated.by_rdma_cm = true;
  EXPECT_EQ(route_details(negotiated), ", rdma_cm's default traffic class");
  negotiated.by_rdma_cm = false;
  negotiated.own.port.ethernet = false;
  negotiated.agreed.partitions = {1, 2, 0x8012};
  negotiated.service_level = 3;
  negotiated.traffic_class = 106;
  negotiated.flow_labels = {1, 2};
  EXPECT_EQ(route_details(negotiated),
            ", partition 0x8012 (indices 1 and 2), global route header, service level 3, "
            "traffic class 106, flow labels 1 2");
}

TEST(RouteDetails, SayWhenAndHowOftenPacketsAreSentAgainIfNotAsUsual) {
  const auto details = [](int timeout, int retries) {
    NegotiatedSettings negotiated;
    negotiated.retransmission = {timeout, retries};
    return route_details(negotiated);
  };
  EXPECT_EQ(details(14, 7), "");
  EXPECT_EQ(details(16, 7), ", acknowledgement timeout 268 ms");
  EXPECT_EQ(details(0, 1), ", no acknowledgement timeout, 1 retry");
  EXPECT_EQ(details(14, 0), ", 0 retries");
}

TEST(PcieOrder, IsRelaxedUnlessSomebodyPollsMemory) {
  const auto relaxed = [](Verb verb, bool latency) {
    VerbsSettings settings;
    settings.verb = verb;
    settings.latency = latency;
    return relaxes_pcie_order(settings);
  };
  EXPECT_TRUE(relaxed(Verb::kWrite, false));
  EXPECT_TRUE(relaxed(Verb::kSend, true)) << "its completion is polled";
  EXPECT_FALSE(relaxed(Verb::kWrite, true)) << "its last byte is polled";
  VerbsSettings settings;
  settings.verb = Verb::kWrite;
  settings.latency = true;
  settings.options.write_with_immediate = true;
  EXPECT_TRUE(relaxes_pcie_order(settings));
  settings.seen_by = SeenBy::kReader;
  EXPECT_FALSE(relaxes_pcie_order(settings)) << "a reader polls its flag";
  settings.seen_by = SeenBy::kFlush;
  EXPECT_TRUE(relaxes_pcie_order(settings));
  settings.options.strict_pcie_order = true;
  EXPECT_FALSE(relaxes_pcie_order(settings));
}

TEST_F(BackendPair, RefusesMemoryThatIsNotRegistered) {
  open(settings_of(Verb::kWrite));
  std::byte elsewhere{};
  EXPECT_THROW(first_->backend.start_send(&elsewhere, 1, DataType::kInt8, 1), Error);
}

}  // namespace verbs_backend_test
