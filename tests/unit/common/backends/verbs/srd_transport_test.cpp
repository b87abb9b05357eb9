// SRD on the fake libefa: messages and completions come in any order.

#include "common/backends/verbs/provider_transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/request_window.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/core/error.h"
#include "fake_efa.h"
#include "fake_root.h"
#include "fake_verbs_devices.h"
#include "fake_verbs_memory.h"
#include "fake_verbs_queue_pairs.h"
#include "session_pair.h"

namespace fabricbench::verbs {
namespace srd_transport_test {

using test::fake_verbs;
using test::fake_verbs_queues;
using test::FakeQueuePair;

constexpr std::uint32_t kReads = 1 << 0;
constexpr std::uint32_t kRetriesUnready = 1 << 1;

/// An EFA adapter, whose queue pairs behave as those of SRD.
class SrdTest : public testing::Test {
 protected:
  SrdTest() {
    fake_verbs() = {};
    test::fake_verbs_memory() = {};
    fake_verbs_queues() = {};
    fake_efa() = {};
    fake_efa().create = [](ibv_pd* domain, const ibv_qp_init_attr_ex& wanted) {
      FakeQueuePair& made = test::add_extended(domain, wanted);
      made.in_order = false;
      made.signals_all = true;
      made.extended.wr_set_ud_addr = [](ibv_qp_ex* making, ibv_ah*, std::uint32_t number, std::uint32_t key) {
        test::name_destination(making, number, key);
      };
      return &made.handle;
    };
    root_.link("rdmap0s6/device/driver", "/sys/bus/pci/drivers/efa");
    test::FakeVerbsDevice& fake = fake_verbs().add("rdmap0s6", (root_.path() / "rdmap0s6").string());
    ibv_port_attr port{};
    port.state = IBV_PORT_ACTIVE;
    port.active_mtu = IBV_MTU_4096;
    port.max_msg_sz = 8928;
    port.gid_tbl_len = 1;
    port.link_layer = IBV_LINK_LAYER_UNSPECIFIED;
    fake.ports = {port};
    ibv_gid_entry gid{};
    gid.gid.raw[0] = 0xfe;
    gid.gid.raw[15] = 7;
    gid.port_num = 1;
    gid.gid_type = IBV_GID_TYPE_IB;
    fake.gids = {gid};
    test::add_data_path(fake.context);
  }

  /// Queue pairs that are each connected to itself.
  void connect(ConnectionSettings settings) {
    settings.transport = Transport::kSrd;
    device_ = open_device("rdmap0s6", 1);
    connection_ = open_connection(device_, settings);
    NegotiatedSettings negotiated;
    negotiated.own = negotiated.peer = connection_->connect_info("here");
    negotiated.own.port = negotiated.peer.port = device_.port;
    negotiated.agreed.has_global_route = true;
    DirectConnector connector;
    connection_->connect(connector, negotiated, connection_->listen(connector, negotiated));
  }

  std::string refusal(Verb verb, Transport transport = Transport::kSrd) {
    try {
      device_ = open_device("rdmap0s6", 1);
      (void)open_connection(device_, {.transport = transport, .verb = verb});
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kMissing);
      return error.what();
    }
    return "";
  }

  static RequestWindowSettings flow_of(Verb verb, std::int64_t post_list = 1) {
    RequestWindowSettings settings{.verb = verb, .transport = Transport::kSrd};
    settings.options.depth = 16;
    settings.options.moderation = 1;
    settings.options.post_list = post_list;
    settings.options.stall_timeout = 5;
    return settings;
  }

  /// Each byte of `from_` to the same place in `into_`, or from there.
  void exchange(RequestWindow& window) {
    std::iota(reinterpret_cast<unsigned char*>(from_.data()),
              reinterpret_cast<unsigned char*>(from_.data()) + kMessages, std::uint8_t{1});
    for (std::size_t i = 0; i < kMessages; ++i) {
      window.start({&from_[i], 1, 1, true}, {reinterpret_cast<std::uint64_t>(&into_[i]), 2});
    }
    window.finish();
  }

  static constexpr std::size_t kMessages = 200;
  test::FakeRoot root_;
  OpenDevice device_;
  std::unique_ptr<VerbsConnection> connection_;
  std::vector<std::byte> from_ = std::vector<std::byte>(kMessages);
  std::vector<std::byte> into_ = std::vector<std::byte>(kMessages);
};

TEST_F(SrdTest, HasWrittenEverythingWhenItIsFinished) {
  for (const std::int64_t at_once : {1, 8}) {
    for (const int queue_pairs : {1, 3}) {
      connection_.reset();
      fake_verbs_queues() = {};
      into_.assign(kMessages, {});
      connect({.verb = Verb::kWrite, .queue_pairs = queue_pairs, .depth = 16});
      RequestWindow window(*connection_, flow_of(Verb::kWrite, at_once));
      exchange(window);
      EXPECT_EQ(into_, from_) << at_once << " at once on " << queue_pairs;
      EXPECT_TRUE(window.is_idle());
    }
  }
}

TEST_F(SrdTest, FillsItsWindowAndNeverMore) {
  connect({.verb = Verb::kWrite, .depth = 16});
  fake_verbs_queues().queue_pairs.front().messages_per_poll = 1;
  RequestWindow window(*connection_, flow_of(Verb::kWrite));
  ASSERT_TRUE(window.make_ready({from_.data(), 1, 1, true}, {reinterpret_cast<std::uint64_t>(into_.data()), 2}));
  window.start_ready(1000);  // a request more than there is room for would be refused
  EXPECT_EQ(fake_verbs_queues().queue_pairs.front().waiting.size(), 15U) << "and one is held back";
  window.finish();
  EXPECT_EQ(fake_verbs_queues().queue_pairs.front().carried_out, 1000U);
}

TEST_F(SrdTest, ReadsInAnyOrder) {
  connect({.verb = Verb::kRead, .depth = 16});
  RequestWindow window(*connection_, flow_of(Verb::kRead));
  std::swap(from_, into_);
  exchange(window);
  EXPECT_EQ(into_, std::vector<std::byte>(kMessages)) << "what is read";
  EXPECT_EQ(from_, into_);
}

TEST_F(SrdTest, SendsWaitForReceives) {
  connect({.verb = Verb::kSend, .depth = 16, .receive_depth = 4, .inline_bytes = 236});
  RequestWindowSettings settings = flow_of(Verb::kSend);
  settings.receive_depth = 4;
  settings.inline_bytes = connection_->inline_bytes();
  EXPECT_EQ(settings.inline_bytes, 32U) << "the most that EFA grants";
  RequestWindow window(*connection_, settings);
  window.receive_into({into_.data(), 1, 1, true});
  for (std::size_t i = 0; i < kMessages; ++i) {
    window.start({&from_[i], 1, 1, true}, {});
    window.expect();
  }
  window.finish();
  EXPECT_EQ(window.lost(), 0U);
  EXPECT_EQ(fake_verbs_queues().queue_pairs.at(connection_->connect_info("").queue_pairs.front() - 1).carried_out,
            kMessages);
}

TEST_F(SrdTest, IsBroughtUpAsEfaWantsIt) {
  connect({.verb = Verb::kSend});
  const std::vector<FakeQueuePair::Change>& changes = fake_verbs_queues().queue_pairs.front().changes;
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  EXPECT_EQ(changes[1].mask, IBV_QP_STATE);
  EXPECT_EQ(changes[2].mask, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY);
  EXPECT_EQ(changes[2].attributes.rnr_retry, 7) << "for ever";
  ASSERT_EQ(fake_verbs_queues().ways.size(), 1U);
  EXPECT_EQ(fake_verbs_queues().ways.front().is_global, 1);
  EXPECT_EQ(fake_verbs_queues().ways.front().grh.dgid.raw[15], 7);
  connection_.reset();
  fake_efa().capabilities &= ~kRetriesUnready;
  connect({.verb = Verb::kSend});
  EXPECT_EQ(fake_verbs_queues().queue_pairs.back().changes.at(2).mask, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

TEST_F(SrdTest, HasTheLimitsOfItsVerb) {
  fake_efa().most_rdma = 1U << 20;
  connect({.verb = Verb::kSend});
  EXPECT_EQ(connection_->largest_message(), 8928U);
  EXPECT_EQ(connection_->mtu(), 0);
  connect({.verb = Verb::kRead});
  EXPECT_EQ(connection_->largest_message(), Bytes{1} << 20);
}

/// EFA refuses others: efa_alloc_mr of Linux.
TEST_F(SrdTest, RegistersMemoryWithTheRightsOfItsVerbOnly) {
  const struct {
    Verb verb;
    int access;
  } cases[] = {{Verb::kSend, IBV_ACCESS_LOCAL_WRITE},
               {Verb::kRead, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ},
               {Verb::kWrite, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE}};
  for (const auto& [verb, access] : cases) {
    connect({.verb = verb});
    EXPECT_EQ(test::fake_verbs_memory().accesses.back(), access) << name(verb);
  }
  const VerbsConnection datagrams(device_, {.transport = Transport::kUd});
  EXPECT_EQ(test::fake_verbs_memory().accesses.back(), IBV_ACCESS_LOCAL_WRITE);
}

TEST_F(SrdTest, IsRefusedWhereTheDeviceLacksTheVerb) {
  fake_efa().capabilities = kReads;
  EXPECT_EQ(refusal(Verb::kRead), "");
  EXPECT_EQ(refusal(Verb::kWrite),
            "-c SRD: rdmap0s6 has no RDMA writes, as EFA of an early generation; use rdma_send_bw or rdma_send_lat, "
            "which every EFA device can carry out");
  fake_efa().capabilities = 0;
  EXPECT_EQ(refusal(Verb::kSend), "");
  EXPECT_EQ(refusal(Verb::kRead).substr(0, 34), "-c SRD: rdmap0s6 has no RDMA reads");
}

TEST_F(SrdTest, IsRefusedOnOtherDevices) {
  fake_efa().is_efa = false;
  EXPECT_EQ(refusal(Verb::kSend),
            "-c SRD: rdmap0s6 is not an EFA device, and only those have SRD; use -c RC, or choose an EFA device with "
            "-d");
}

TEST_F(SrdTest, IsWhatAnEfaDeviceHasInstead) {
  for (const Transport transport : {Transport::kRc, Transport::kUc}) {
    EXPECT_EQ(refusal(Verb::kSend, transport),
              "verbs: rdmap0s6 is an EFA device, which has no " + std::string(name(transport)) +
                  " queue pairs; use -c SRD, with which rdma_send, rdma_write and rdma_read programs run on it");
  }
  EXPECT_EQ(refusal(Verb::kSend, Transport::kUd), "");
}

TEST_F(SrdTest, NeedsItsLibrary) {
  device_ = open_device("rdmap0s6", 1);
  const auto error_of = [this](const std::string& library) {
    try {
      (void)open_srd(device_, Verb::kSend, library);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("/nowhere/libefa.so.1")
                .find("-c SRD: /nowhere/libefa.so.1 cannot be loaded (/nowhere/libefa.so.1: cannot open"),
            0U);
  EXPECT_EQ(error_of("libm.so.6"),
            "-c SRD: libm.so.6 has no efadv_create_qp_ex; install EFA's provider for libibverbs (ibverbs-providers); "
            "adapters that are not EFA take -c RC");
}

/// A session never polls for a last byte here, which may come first.
TEST_F(SrdTest, OfASessionWritesWithImmediateDataForLatency) {
  VerbsSettings settings;
  settings.host = "here";
  settings.verb = Verb::kWrite;
  settings.latency = true;
  settings.options.transport = Transport::kSrd;
  settings.options.moderation = 1;
  settings.options.stall_timeout = 5;
  test::SessionPair pair(settings);
  EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
  EXPECT_NE(pair.rank(0).route().find("writes with immediate data"), std::string::npos) << pair.rank(0).route();
  EXPECT_EQ(pair.rank(0).route().find("MTU"), std::string::npos) << pair.rank(0).route();
  EXPECT_EQ(pair.rank(0).library().find("libibverbs, SRD write, 1 queue pair, rdmap0s6 port 1 (EFA"), 0U)
      << pair.rank(0).library();
  test::send_one(pair);
  EXPECT_EQ(fake_verbs_queues().queue_pairs.at(1).receives.size(), 511U) << "one was taken";
}

}  // namespace srd_transport_test
}  // namespace fabricbench::verbs
