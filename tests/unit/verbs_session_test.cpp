// Both sessions of a pair on one fake device, from opening to a message.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/backends/verbs/direct_connector.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/core/error.h"
#include "common/core/host_buffers.h"
#include "common/core/pattern.h"
#include "fake_root.h"
#include "fake_verbs_devices.h"
#include "fake_verbs_memory.h"
#include "fake_verbs_queue_pairs.h"

namespace fabricbench::verbs {
namespace verbs_session_test {

using test::fake_verbs;
using test::fake_verbs_queues;

constexpr std::size_t kBytes = 64;

/// What only one of two ranks does is an error in the test; each rank is a thread where it waits for the other.
class Pair {
 public:
  explicit Pair(const VerbsSettings& settings) {
    for (int rank = 0; rank < 2; ++rank) sessions_.push_back(open(settings, rank));
    const std::vector<std::string> introductions = {sessions_[0]->introduction(), sessions_[1]->introduction()};
    std::vector<std::string> invitations;
    for (const auto& session : sessions_) invitations.push_back(session->agree_with(introductions));
    for (const auto& session : sessions_) session->connect(invitations);
  }

  VerbsSession& rank(std::size_t rank) { return *sessions_.at(rank); }

  /// The error's text of the first rank that had one.
  template <typename Step>
  std::string on_both(Step step) {
    std::array<std::string, 2> errors;
    const auto take = [&](std::size_t rank) {
      try {
        step(*sessions_[rank], rank);
      } catch (const Error& error) {
        errors.at(rank) = error.what();
      }
    };
    std::thread second([&] { take(1); });
    take(0);
    second.join();
    return errors[0].empty() ? errors[1] : errors[0];
  }

 private:
  std::unique_ptr<VerbsSession> open(const VerbsSettings& settings, int rank) {
    const auto gather = [this, rank](const std::string& own) {
      texts_.at(static_cast<std::size_t>(rank)) = own;
      both_.arrive_and_wait();
      std::vector<std::string> all(texts_.begin(), texts_.end());
      both_.arrive_and_wait();
      return all;
    };
    return std::make_unique<VerbsSession>(settings, std::make_unique<HostBuffers>(),
                                          std::make_unique<DirectConnector>(), rank, gather,
                                          [this] { both_.arrive_and_wait(); });
  }

  std::array<std::string, 2> texts_;
  std::barrier<> both_{2};
  std::vector<std::unique_ptr<VerbsSession>> sessions_;
};

class VerbsSessionTest : public testing::Test {
 protected:
  VerbsSessionTest() {
    fake_verbs() = {};
    test::fake_verbs_memory() = {};
    fake_verbs_queues() = {};
    root_.link("mlx5_0/device/driver", "/sys/bus/pci/drivers/mlx5_core");
    test::FakeVerbsDevice& fake = fake_verbs().add("mlx5_0", (root_.path() / "mlx5_0").string());
    ibv_port_attr port{};
    port.state = IBV_PORT_ACTIVE;
    port.active_mtu = IBV_MTU_4096;
    port.max_msg_sz = 1U << 30;
    port.gid_tbl_len = 1;
    fake.ports = {port};
    fake.limits.max_qp_wr = 1024;
    ibv_gid_entry gid{};
    gid.gid.raw[0] = 0xfe;
    gid.gid.raw[15] = 1;
    gid.port_num = 1;
    gid.gid_type = IBV_GID_TYPE_IB;
    fake.gids = {gid};
    test::add_data_path(fake.context);
    settings_.host = "here";
    settings_.verb = Verb::kWrite;
    settings_.latency = true;
    settings_.options.stall_timeout = 5;
  }

  test::FakeRoot root_;
  VerbsSettings settings_;
};

/// A message there, as the harness sends it.
void send_one(Pair& pair) {
  std::array<std::byte*, 2> blocks{};
  EXPECT_EQ(pair.on_both([&](VerbsSession& session, std::size_t rank) {
    blocks.at(rank) = session.allocate(2 * kBytes).front();
    const std::span<std::byte> all(blocks.at(rank), 2 * kBytes);
    std::fill(all.begin(), all.end(), std::byte{pattern::kPoisonByte});
    std::fill_n(all.begin(), kBytes, static_cast<std::byte>(rank + 1));
    session.backend(0).prepare(all.first(kBytes), all.last(kBytes));
  }),
            "");
  pair.rank(0).backend(0).send(blocks[0], kBytes, DataType::kInt8, 1);
  pair.rank(0).backend(0).finish();
  pair.rank(1).backend(0).recv(blocks[1] + kBytes, kBytes, DataType::kInt8, 0);
  EXPECT_EQ(*(blocks[1] + kBytes), std::byte{1});
  EXPECT_EQ(*(blocks[1] + 2 * kBytes - 1), std::byte{1});
}

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

}  // namespace verbs_session_test
}  // namespace fabricbench::verbs
