// DC on the fake libmlx5: initiators that name their targets.

#include "common/backends/verbs/provider_transport.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/request_window.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/core/error.h"
#include "fake_dc.h"
#include "fake_root.h"
#include "fake_verbs_devices.h"
#include "fake_verbs_memory.h"
#include "fake_verbs_queue_pairs.h"
#include "scripted_clock.h"
#include "session_pair.h"

namespace fabricbench::verbs {
namespace dc_transport_test {

using test::fake_verbs;
using test::fake_verbs_queues;
using test::FakeQueuePair;

constexpr std::uint32_t kTargetNumbers = 0x800;  // from here on

/// An mlx5 adapter, whose targets get their numbers late.
class DcTest : public testing::Test {
 protected:
  DcTest() {
    fake_verbs() = {};
    test::fake_verbs_memory() = {};
    fake_verbs_queues() = {};
    fake_dc() = {};
    fake_dc().create_initiator = [](ibv_pd* domain, const ibv_qp_init_attr_ex& wanted) {
      return &test::add_extended(domain, wanted).handle;
    };
    fake_dc().create_target = [](ibv_pd* domain, const ibv_qp_init_attr_ex& wanted, std::uint64_t key) {
      FakeQueuePair& made = test::add_queue_pair(domain, wanted.send_cq, wanted.recv_cq, wanted.qp_type);
      made.late_number = kTargetNumbers + made.handle.qp_num;
      made.handle.qp_num = 0;
      made.shared = wanted.srq;
      made.key = key;
      return &made.handle;
    };
    fake_dc().name_target = test::name_destination;
    root_.link("mlx5_0/device/driver", "/sys/bus/pci/drivers/mlx5_core");
    test::FakeVerbsDevice& fake = fake_verbs().add("mlx5_0", (root_.path() / "mlx5_0").string());
    ibv_port_attr port{};
    port.state = IBV_PORT_ACTIVE;
    port.active_mtu = IBV_MTU_4096;
    port.max_msg_sz = 1U << 30;
    port.gid_tbl_len = 1;
    port.link_layer = IBV_LINK_LAYER_INFINIBAND;
    fake.ports = {port};
    fake.limits.max_qp_wr = 1024;
    fake.limits.max_srq = 16;
    fake.limits.max_srq_wr = 1024;
    fake.limits.atomic_cap = IBV_ATOMIC_HCA;
    ibv_gid_entry gid{};
    gid.gid.raw[0] = 0xfe;
    gid.gid.raw[15] = 7;
    gid.port_num = 1;
    gid.gid_type = IBV_GID_TYPE_IB;
    fake.gids = {gid};
    test::add_data_path(fake.context);
  }

  /// Initiators whose targets are those of the same process.
  void connect(ConnectionSettings settings) {
    settings.transport = Transport::kDc;
    settings.shared_receives = true;
    device_ = open_device("mlx5_0", 1);
    connection_ = open_connection(device_, settings);
    NegotiatedSettings negotiated;
    negotiated.own = negotiated.peer = connection_->connect_info("here");
    negotiated.own.port = negotiated.peer.port = device_.port;
    negotiated.agreed.mtu = 4096;
    negotiated.agreed.outstanding = 16;
    negotiated.agreed.has_global_route = true;
    negotiated.flow_labels = {7, 8};
    negotiated.retransmission = {20, 3};
    DirectConnector connector;
    connection_->connect(connector, negotiated, connection_->listen(connector, negotiated));
  }

  /// Initiators, or targets, that were connected.
  static std::vector<FakeQueuePair*> queue_pairs(bool targets) {
    std::vector<FakeQueuePair*> found;
    for (FakeQueuePair& one : fake_verbs_queues().queue_pairs) {
      if (!one.changes.empty() && (one.late_number != 0) == targets) found.push_back(&one);
    }
    return found;
  }

  static RequestWindowSettings flow_of(Verb verb, std::int64_t post_list = 1) {
    RequestWindowSettings settings{.verb = verb, .transport = Transport::kDc};
    settings.options.depth = 16;
    settings.options.post_list = post_list;
    settings.options.shared_receives = true;
    settings.options.stall_timeout = 5;
    return settings;
  }

  std::string refusal(const std::string& library = "libmlx5.so.1") {
    try {
      device_ = open_device("mlx5_0", 1);
      (void)open_dc(device_, Verb::kSend, library);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kMissing);
      return error.what();
    }
    return "";
  }

  VerbsSettings session(Verb verb, bool latency) {
    VerbsSettings settings;
    settings.host = "here";
    settings.verb = verb;
    settings.latency = latency;
    settings.options.transport = Transport::kDc;
    settings.options.shared_receives = true;
    settings.options.stall_timeout = 5;
    return settings;
  }

  static constexpr std::size_t kMessages = 200;
  test::FakeRoot root_;
  OpenDevice device_;
  std::unique_ptr<VerbsConnection> connection_;
  std::vector<std::byte> from_ = std::vector<std::byte>(kMessages, std::byte{5});
  std::vector<std::byte> into_ = std::vector<std::byte>(kMessages);
};

TEST_F(DcTest, WritesAndReads) {
  for (const Verb verb : {Verb::kWrite, Verb::kRead}) {
    for (const std::int64_t at_once : {1, 8}) {
      into_.assign(kMessages, {});
      connect({.verb = verb, .queue_pairs = 3, .depth = 16});
      RequestWindow window(*connection_, flow_of(verb, at_once));
      std::vector<std::byte>& local = verb == Verb::kWrite ? from_ : into_;
      std::vector<std::byte>& remote = verb == Verb::kWrite ? into_ : from_;
      for (std::size_t i = 0; i < kMessages; ++i) {
        window.start({&local[i], 1, 1, true}, {reinterpret_cast<std::uint64_t>(&remote[i]), 2});
      }
      window.finish();
      EXPECT_EQ(into_, from_) << name(verb) << " " << at_once;
    }
  }
}

TEST_F(DcTest, SendsToTheQueueThatTargetsShare) {
  connect({.verb = Verb::kSend, .queue_pairs = 2, .depth = 16, .receive_depth = 4, .inline_bytes = 236});
  EXPECT_EQ(connection_->inline_bytes(), 220U) << "the most that the device grants";
  RequestWindowSettings settings = flow_of(Verb::kSend);
  settings.receive_depth = 4;
  settings.inline_bytes = connection_->inline_bytes();
  RequestWindow window(*connection_, settings);
  window.receive_into({into_.data(), 1, 1, true});
  for (std::size_t i = 0; i < kMessages; ++i) {
    window.start({&from_[i], 1, 1, true}, {});
    window.expect();
  }
  window.finish();
  EXPECT_EQ(into_.front(), std::byte{5});
  const std::vector<std::uint64_t> completed = window.completed();
  EXPECT_EQ(std::accumulate(completed.begin(), completed.end(), std::uint64_t{0}), kMessages);
}

TEST_F(DcTest, TakesInlineDataWhenItIsPosted) {
  connect({.verb = Verb::kWrite, .inline_bytes = 8});
  Request request;
  request.verb = Verb::kWrite;
  request.local = {from_.data(), 1, 1, true};
  request.remote = {reinterpret_cast<std::uint64_t>(into_.data()), 2};
  request.number = 1;
  for (const bool is_inline : {true, false}) {
    from_.front() = std::byte{5};
    request.is_inline = is_inline;
    connection_->post(0, {&request, 1});
    from_.front() = std::byte{6};
    EXPECT_EQ(connection_->completed(), 1U);
    EXPECT_EQ(into_.front(), is_inline ? std::byte{5} : std::byte{6});
  }
}

TEST_F(DcTest, CountsAtomics) {
  for (const AtomicKind kind : {AtomicKind::kFetchAndAdd, AtomicKind::kCompareAndSwap}) {
    connect({.verb = Verb::kAtomic, .depth = 16});
    RequestWindowSettings settings = flow_of(Verb::kAtomic);
    settings.options.atomic = kind;
    RequestWindow window(*connection_, settings);
    std::uint64_t counter = 0;
    std::uint64_t result = 0;
    for (int i = 0; i < 10; ++i) {
      window.start({reinterpret_cast<std::byte*>(&result), 8, 1, true}, {reinterpret_cast<std::uint64_t>(&counter), 2});
    }
    window.finish();
    EXPECT_EQ(counter, 10U) << name(kind);
    EXPECT_EQ(result, 9U) << "before the last one";
  }
}

TEST_F(DcTest, IsBroughtUpAsTheKernelWantsIt) {
  connect({.verb = Verb::kWrite, .queue_pairs = 2});
  const std::vector<FakeQueuePair*> initiators = queue_pairs(false);
  const std::vector<FakeQueuePair*> targets = queue_pairs(true);
  ASSERT_EQ(initiators.size(), 2U);
  ASSERT_EQ(targets.size(), 2U);
  ASSERT_EQ(targets[0]->changes.size(), 2U);
  EXPECT_EQ(targets[0]->changes[0].mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  EXPECT_EQ(targets[0]->changes[0].attributes.qp_access_flags,
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  EXPECT_EQ(targets[0]->changes[1].mask, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER);
  ASSERT_EQ(initiators[0]->changes.size(), 3U);
  EXPECT_EQ(initiators[0]->changes[0].mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT);
  EXPECT_EQ(initiators[0]->changes[1].mask, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU);
  EXPECT_EQ(initiators[0]->changes[1].attributes.path_mtu, IBV_MTU_4096);
  EXPECT_EQ(initiators[0]->changes[2].mask, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                                IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
  EXPECT_EQ(initiators[0]->changes[2].attributes.timeout, 20);
  EXPECT_EQ(initiators[0]->changes[2].attributes.retry_cnt, 3);
  ASSERT_EQ(fake_verbs_queues().ways.size(), 2U);
  EXPECT_EQ(fake_verbs_queues().ways[0].grh.flow_label, 7U);
  EXPECT_EQ(fake_verbs_queues().ways[1].grh.flow_label, 8U);
}

TEST_F(DcTest, EndsWhereTheTargetHasAnotherKey) {
  const test::ScriptedClock clock;  // its port is looked at for a while
  connect({.verb = Verb::kWrite, .depth = 16});
  ++queue_pairs(true).front()->key;
  RequestWindow window(*connection_, flow_of(Verb::kWrite));
  window.start({from_.data(), 1, 1, true}, {reinterpret_cast<std::uint64_t>(into_.data()), 2});
  try {
    window.finish();
    FAIL();
  } catch (const Error& error) {
    const std::string target = "queue pair 0x802";
    EXPECT_NE(std::string(error.what()).find(target), std::string::npos) << error.what();
  }
  EXPECT_EQ(into_.front(), std::byte{});
}

TEST_F(DcTest, IsRefusedOnOtherDevices) {
  EXPECT_EQ(refusal(), "");
  fake_dc().is_mlx5 = false;
  EXPECT_EQ(refusal(),
            "-c DC: mlx5_0 is not an mlx5 device, and only those have DC; use -c RC, or choose an mlx5 device with -d");
  EXPECT_EQ(refusal("libm.so.6"),
            "-c DC: libm.so.6 has no mlx5dv_create_qp; install mlx5's provider for libibverbs (ibverbs-providers); "
            "adapters that are not mlx5 take -c RC");
}

TEST_F(DcTest, OfASessionPollsTheLastByteWhereTheTargetKeepsTheOrder) {
  test::SessionPair pair(session(Verb::kWrite, true));
  EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
  EXPECT_EQ(pair.rank(0).route().find("immediate"), std::string::npos) << pair.rank(0).route();
  test::send_one(pair);
}

TEST_F(DcTest, OfASessionSendsImmediateDataWhereATargetDoesNot) {
  test::SessionPair pair(session(Verb::kWrite, true));
  queue_pairs(true).back()->keeps_order = false;
  EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
  EXPECT_NE(pair.rank(0).route().find("immediate"), std::string::npos) << pair.rank(0).route();
  test::send_one(pair);
  std::vector<std::size_t> left;
  for (const auto& [queue, shared] : fake_verbs_queues().shared_receives) left.push_back(shared.receives.size());
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::size_t>{511, 512})) << "one was taken";
}

TEST_F(DcTest, OfASessionSends) {
  test::SessionPair pair(session(Verb::kSend, false));
  EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
  EXPECT_EQ(pair.rank(0).library().find("libibverbs, DC send, 1 queue pair, mlx5_0 port 1 (InfiniBand"), 0U)
      << pair.rank(0).library();
  test::send_one(pair);
}

}  // namespace dc_transport_test
}  // namespace fabricbench::verbs
