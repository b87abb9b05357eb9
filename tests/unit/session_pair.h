// Both sessions of a pair, on fake devices of one process.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/core/error.h"
#include "common/core/memory.h"
#include "common/core/pattern.h"
#include "fake_root.h"
#include "fake_verbs_devices.h"
#include "fake_verbs_memory.h"
#include "fake_verbs_queue_pairs.h"

namespace fabricbench::test {

/// What only one of two ranks does is an error in the test; each rank is a thread where it waits for the other.
class SessionPair {
 public:
  explicit SessionPair(const verbs::VerbsSettings& settings) {
    for (int rank = 0; rank < 2; ++rank) sessions_.push_back(open(settings, rank));
    const std::vector<std::string> connect_infos = {sessions_[0]->connect_info(), sessions_[1]->connect_info()};
    std::vector<std::string> listen_infos;
    for (const auto& session : sessions_) listen_infos.push_back(session->agree_with(connect_infos));
    for (const auto& session : sessions_) session->connect(listen_infos);
  }

  verbs::VerbsSession& rank(std::size_t rank) { return *sessions_.at(rank); }
  std::unique_ptr<verbs::VerbsSession> take(std::size_t rank) { return std::move(sessions_.at(rank)); }

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
  std::unique_ptr<verbs::VerbsSession> open(const verbs::VerbsSettings& settings, int rank) {
    const auto gather = [this, rank](const std::string& own) {
      texts_.at(static_cast<std::size_t>(rank)) = own;
      both_.arrive_and_wait();
      std::vector<std::string> all(texts_.begin(), texts_.end());
      both_.arrive_and_wait();
      return all;
    };
    return std::make_unique<verbs::VerbsSession>(settings, std::make_unique<HostBuffers>(),
                                                 std::make_unique<verbs::DirectConnector>(), rank, gather,
                                                 [this] { both_.arrive_and_wait(); });
  }

  std::array<std::string, 2> texts_;
  std::barrier<> both_{2};
  std::vector<std::unique_ptr<verbs::VerbsSession>> sessions_;
};

/// A message from the first rank to the second, as the harness sends it.
inline void send_one(SessionPair& pair, std::size_t bytes = 64) {
  std::array<std::byte*, 2> blocks{};
  EXPECT_EQ(pair.on_both([&](verbs::VerbsSession& session, std::size_t rank) {
    blocks.at(rank) = session.allocate(2 * bytes).front();
    const std::span<std::byte> all(blocks.at(rank), 2 * bytes);
    std::fill(all.begin(), all.end(), std::byte{pattern::kPoisonByte});
    std::fill_n(all.begin(), bytes, static_cast<std::byte>(rank + 1));
    session.backend(0).prepare(all.first(bytes), all.last(bytes));
  }),
            "");
  pair.rank(0).backend(0).send(blocks[0], bytes, DataType::kInt8, 1);
  pair.rank(0).backend(0).finish();
  pair.rank(1).backend(0).recv(blocks[1] + bytes, bytes, DataType::kInt8, 0);
  EXPECT_EQ(*(blocks[1] + bytes), std::byte{1});
  EXPECT_EQ(*(blocks[1] + 2 * bytes - 1), std::byte{1});
}

/// An mlx5 device with an InfiniBand port, and the settings of writes one at a time.
class SessionPairTest : public testing::Test {
 protected:
  SessionPairTest() {
    fake_verbs() = {};
    fake_verbs_memory() = {};
    fake_verbs_queues() = {};
    root_.link("mlx5_0/device/driver", "/sys/bus/pci/drivers/mlx5_core");
    FakeVerbsDevice& fake = fake_verbs().add("mlx5_0", (root_.path() / "mlx5_0").string());
    ibv_port_attr port{};
    port.state = IBV_PORT_ACTIVE;
    port.active_mtu = IBV_MTU_4096;
    port.max_msg_sz = 1U << 30;
    port.gid_tbl_len = 1;
    port.link_layer = IBV_LINK_LAYER_INFINIBAND;
    fake.ports = {port};
    fake.limits.max_qp_wr = 1024;
    ibv_gid_entry gid{};
    gid.gid.raw[0] = 0xfe;
    gid.gid.raw[15] = 1;
    gid.port_num = 1;
    gid.gid_type = IBV_GID_TYPE_IB;
    fake.gids = {gid};
    add_data_path(fake.context);
    settings_.host = "here";
    settings_.verb = Verb::kWrite;
    settings_.latency = true;
    settings_.options.stall_timeout = 5;
  }

  FakeRoot root_;
  verbs::VerbsSettings settings_;
};

}  // namespace fabricbench::test
