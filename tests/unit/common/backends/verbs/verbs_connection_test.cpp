// Queue pairs of the fake libibverbs, as a connection drives them.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/request_window.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/core/error.h"
#include "fake_verbs_devices.h"
#include "fake_verbs_memory.h"
#include "fake_verbs_queue_pairs.h"
#include "scripted_clock.h"

namespace fabricbench::verbs {
namespace verbs_connection_test {

using test::fake_verbs;
using test::fake_verbs_queues;
using test::FakeQueuePair;
using test::ScriptedClock;

/// A device whose queue pair is connected to itself.
class VerbsConnectionTest : public testing::Test {
 protected:
  VerbsConnectionTest() {
    fake_verbs() = {};
    test::fake_verbs_memory() = {};
    fake_verbs_queues() = {};
    test::FakeVerbsDevice& fake = fake_verbs().add("fake0");
    ibv_port_attr port{};
    port.state = IBV_PORT_ACTIVE;
    fake.ports = {port};
    test::add_data_path(fake.context);
    device_.context.reset(&fake.context);
    device_.port.device = "fake0";
    device_.port.mtu = 4096;
    connection_ = connect();
  }

  /// Begins without a queue pair; those that there were must not outlive their records.
  void forget() {
    connection_.reset();
    fake_verbs_queues() = {};
  }

  static FakeQueuePair& fake() { return fake_verbs_queues().queue_pairs.front(); }

  /// Queue pairs that are each connected to itself.
  std::unique_ptr<VerbsConnection> connect() {
    auto made = std::make_unique<VerbsConnection>(device_, settings_);
    NegotiatedSettings negotiated;
    negotiated.own = negotiated.peer = made->connect_info("here");
    negotiated.agreed.mtu = 4096;
    DirectConnector connector;
    made->connect(connector, negotiated, "");
    return made;
  }

  /// Writes so many messages; returns the polls from then on.
  std::uint64_t polls_of(int messages) {
    RequestWindowSettings settings{.verb = Verb::kWrite};
    RequestWindow window(*connection_, settings);
    for (int i = 0; i < messages; ++i) window.start(from(), {reinterpret_cast<std::uint64_t>(into_.data()), 2});
    window.finish();
    return fake_verbs_queues().polls;
  }

  LocalPart from() { return {from_.data(), static_cast<std::uint32_t>(from_.size()), 1, true}; }

  /// The bytes that arrive if messages with the values 1, 2, ... are sent.
  std::vector<int> arrive(int messages) {
    std::vector<int> came;
    std::vector<std::byte> values;
    for (int i = 1; i <= messages; ++i) values.push_back(static_cast<std::byte>(i));
    connection_->post_receives(0, {into_.data(), 1, 1, true}, messages, 0);
    for (std::byte& value : values) {
      Request request;
      request.local = {&value, 1, 1, true};
      request.signaled = false;
      connection_->post(0, {&request, 1});
    }
    fake().messages_per_poll = 1;
    for (int poll = 0; poll < 3 * messages; ++poll) {
      if (!connection_->poll().empty()) came.push_back(static_cast<int>(into_[0]));
    }
    return came;
  }

  ConnectionSettings settings_{.depth = 128, .receive_depth = 16};
  OpenDevice device_;
  std::unique_ptr<VerbsConnection> connection_;
  std::array<std::byte, 8> from_{std::byte{7}};
  std::array<std::byte, 8> into_{};
};

TEST_F(VerbsConnectionTest, GoesThroughTheStatesOfAQueuePair) {
  std::vector<ibv_qp_state> states;
  for (const FakeQueuePair::Change& change : fake().changes) states.push_back(change.attributes.qp_state);
  EXPECT_EQ(states, (std::vector<ibv_qp_state>{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}));
  EXPECT_EQ(fake().changes.at(1).attributes.path_mtu, IBV_MTU_4096);
  EXPECT_NE(fake().changes.at(2).mask & IBV_QP_RETRY_CNT, 0);
}

TEST_F(VerbsConnectionTest, IsConnectedAsWasAgreed) {
  forget();
  settings_.queue_pairs = 3;
  VerbsConnection connection(device_, settings_);
  NegotiatedSettings negotiated;
  negotiated.own = negotiated.peer = connection.connect_info("here");
  negotiated.agreed.mtu = 1024;
  negotiated.agreed.partitions = {2, 5, 0x8012};
  negotiated.agreed.has_global_route = true;
  negotiated.traffic_class = 106;
  negotiated.flow_labels = {7, 8};
  negotiated.retransmission = {20, 3};
  DirectConnector connector;
  connection.connect(connector, negotiated, "");
  std::vector<std::uint32_t> labels;
  for (const FakeQueuePair& one : fake_verbs_queues().queue_pairs) {
    EXPECT_EQ(one.changes.at(0).attributes.pkey_index, 5) << "the second rank's";
    const ibv_ah_attr& method = one.changes.at(1).attributes.ah_attr;
    EXPECT_EQ(method.is_global, 1);
    EXPECT_EQ(method.grh.traffic_class, 106);
    labels.push_back(method.grh.flow_label);
    EXPECT_EQ(one.changes.at(2).attributes.timeout, 20);
    EXPECT_EQ(one.changes.at(2).attributes.retry_cnt, 3);
  }
  EXPECT_EQ(labels, (std::vector<std::uint32_t>{7, 8, 7}));
}

TEST_F(VerbsConnectionTest, TakesTheLargestInlineSizeThatTheDeviceGrants) {
  for (const std::uint32_t most : {0, 1, 32, 96, 101, 219, 220, 1024}) {
    forget();
    fake_verbs_queues().most_inline = most;
    settings_.inline_bytes = 220;
    EXPECT_EQ(VerbsConnection(device_, settings_).inline_bytes(), std::min<Bytes>(most, 220));
  }
}

TEST_F(VerbsConnectionTest, AllowsNoAtomicsWhereTheDeviceHasNone) {
  EXPECT_EQ(fake().changes.at(0).attributes.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC, 0);
  device_.port.atomics = true;
  forget();
  const auto with_atomics = connect();
  EXPECT_NE(fake().changes.at(0).attributes.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC, 0);
}

TEST_F(VerbsConnectionTest, TellsWhetherItKeepsTheOrderOfAWriteWhereTheDriverKnows) {
  EXPECT_EQ(connection_->keeps_order(), std::nullopt);
  device_.port.tells_order = true;
  EXPECT_EQ(connection_->keeps_order(), true);
  fake().keeps_order = false;
  EXPECT_EQ(connection_->keeps_order(), false);
}

TEST_F(VerbsConnectionTest, WritesAsFastAsItsQueuePair) {
  fake().messages_per_poll = 0.1;
  EXPECT_GE(polls_of(10), 99U);
  EXPECT_EQ(fake().carried_out, 10U);
  EXPECT_EQ(into_, from_);
}

/// Time goes by with polls, as the fakes' queue pairs do, and there is no limit to waiting.
class ClockOfPolls {
 public:
  ClockOfPolls() {
    clock_.when_reading([this](int) { clock_.show(static_cast<Seconds>(fake_verbs_queues().polls)); });
  }

 private:
  ScriptedClock clock_;
};

/// Eight queue pairs, of which one has a tenth of the others' rate: together 7.1 messages a poll.
TEST_F(VerbsConnectionTest, CarriesTheSumOfItsQueuePairsWhereOneIsSlow) {
  const ClockOfPolls clock;
  constexpr std::uint64_t kMessages = 2048;  // the usual window: twice what all queues hold
  for (const std::int64_t at_once : {1, 32}) {
    forget();
    settings_.queue_pairs = 8;
    const std::unique_ptr<VerbsConnection> eight = connect();
    for (FakeQueuePair& one : fake_verbs_queues().queue_pairs) one.messages_per_poll = 1;
    fake_verbs_queues().queue_pairs[3].messages_per_poll = 0.1;
    RequestWindowSettings settings{.verb = Verb::kWrite};
    settings.options.post_list = at_once;
    settings.options.stall_timeout = 0;
    RequestWindow window(*eight, settings);
    ASSERT_TRUE(window.make_ready(from(), {reinterpret_cast<std::uint64_t>(into_.data()), 2}));
    const auto rate_of = [&](int windows) {
      const std::uint64_t before = fake_verbs_queues().polls;
      for (int each = 0; each < windows; ++each) {
        window.start_ready(kMessages);
        window.finish();
      }
      return static_cast<double>(windows) * kMessages / static_cast<double>(fake_verbs_queues().polls - before);
    };
    (void)rate_of(2);  // it learns
    const double rate = rate_of(20);
    EXPECT_GE(rate, 0.95 * 7.1);
    EXPECT_LE(rate, 7.1);
    fake_verbs_queues().queue_pairs[3].messages_per_poll = 1;  // and comes back
    (void)rate_of(60);
    EXPECT_GE(rate_of(1), 0.95 * 8);
  }
}

/// Also where a window has few messages, so that the first ones of the slow queue pair take most of its time.
TEST_F(VerbsConnectionTest, CarriesNearlyTheSumInSmallWindows) {
  settings_.queue_pairs = 8;
  const std::unique_ptr<VerbsConnection> eight = connect();
  for (FakeQueuePair& one : fake_verbs_queues().queue_pairs) one.messages_per_poll = 0.01;
  fake_verbs_queues().queue_pairs[3].messages_per_poll = 0.001;
  const ClockOfPolls clock;
  RequestWindowSettings settings{.verb = Verb::kWrite};
  settings.options.stall_timeout = 0;
  RequestWindow window(*eight, settings);
  ASSERT_TRUE(window.make_ready(from(), {reinterpret_cast<std::uint64_t>(into_.data()), 2}));
  const auto polls_of_window = [&](std::uint64_t messages) {
    const std::uint64_t before = fake_verbs_queues().polls;
    window.start_ready(messages);
    window.finish();
    return static_cast<double>(fake_verbs_queues().polls - before);
  };
  EXPECT_GE(polls_of_window(30), 2000) << "two of the slow one, which nobody knows yet";
  (void)polls_of_window(30);
  EXPECT_LE(polls_of_window(30), 1100) << "one of the slow one";
  EXPECT_LE(polls_of_window(200), 1.2 * 200 / 0.071);
  fake_verbs_queues().queue_pairs[3].messages_per_poll = 0.01;
  for (int each = 0; each < 5; ++each) (void)polls_of_window(200);
  EXPECT_LE(polls_of_window(200), 1.1 * 200 / 0.08) << "it has come back";
}

TEST_F(VerbsConnectionTest, WaitsForADelayedMessage) {
  fake().delay = 50;
  EXPECT_EQ(polls_of(1), 51U);
}

TEST_F(VerbsConnectionTest, MissesWhatIsLost) {
  fake().is_lost = [](std::uint64_t number) { return number == 1; };
  EXPECT_EQ(arrive(3), (std::vector<int>{1, 3}));
}

TEST_F(VerbsConnectionTest, SeesThatAMessageWasOvertaken) {
  fake().is_overtaken = [](std::uint64_t number) { return number == 1; };
  EXPECT_EQ(arrive(3), (std::vector<int>{1, 2})) << "the third comes with the second, and before it";
}

TEST_F(VerbsConnectionTest, RegistersMemoryWithoutAtomicsWhereTheDeviceHasNone) {
  constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  EXPECT_EQ(test::fake_verbs_memory().accesses, std::vector<int>{kAccess}) << "that for the header of datagrams";
}

TEST_F(VerbsConnectionTest, RegistersMemoryWithRelaxedOrderWhereAsked) {
  settings_.relaxed_order = true;
  const VerbsConnection relaxed(device_, settings_);
  ASSERT_EQ(test::fake_verbs_memory().accesses.size(), 2U);
  EXPECT_EQ(test::fake_verbs_memory().accesses.front() & IBV_ACCESS_RELAXED_ORDERING, 0);
  EXPECT_NE(test::fake_verbs_memory().accesses.back() & IBV_ACCESS_RELAXED_ORDERING, 0);
}

TEST_F(VerbsConnectionTest, ReportsTheErrorOfARequest) {
  const test::ScriptedClock clock;  // its port is looked at for a while
  fake().ends_with = [](std::uint64_t number) { return number == 3 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS; };
  EXPECT_THROW((void)polls_of(5), Error);
  EXPECT_EQ(fake().carried_out, 5U) << "those behind it are flushed";
}

TEST_F(VerbsConnectionTest, NamesTheOtherEndByItsRankToo) {
  const auto diagnosis_with = [this](int rank) {
    NegotiatedSettings negotiated;
    negotiated.own = negotiated.peer = connection_->connect_info("there");
    negotiated.peer.rank = rank;
    DirectConnector connector;
    connection_->connect(connector, negotiated, "");
    return connection_->diagnosis();
  };
  EXPECT_NE(diagnosis_with(-1).find(" of host there, queue pair 0x1; "), std::string::npos) << "where it is not told";
  EXPECT_NE(diagnosis_with(5).find(" of host there, queue pair 0x1 of rank 5; "), std::string::npos);
}

/// What errno holds then is an earlier call's.
TEST_F(VerbsConnectionTest, ReportsACompletionQueueThatCannotBePolled) {
  device_.context->ops.poll_cq = [](ibv_cq* /*queue*/, int /*most*/, ibv_wc* /*taken*/) { return -1; };
  errno = ENOTTY;
  try {
    (void)connection_->poll();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "verbs: ibv_poll_cq returned -1: the completion queue is broken, as where the device failed or was "
                 "removed; see the kernel's log (dmesg)");
  }
}

}  // namespace verbs_connection_test
}  // namespace fabricbench::verbs
