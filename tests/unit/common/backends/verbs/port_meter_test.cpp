// What ports of different drivers count, on a fake /sys and fake statistics of interfaces.

#include "common/backends/verbs/port_meter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "fake_root.h"

using namespace fabricbench::verbs;
using fabricbench::test::FakeRoot;

namespace port_meter_test {

class PortMeterTest : public testing::Test {
 protected:
  PortMeterTest() { port("link_layer", "Ethernet"); }

  /// A file of mlx5_0's port 1.
  void port(const std::string& file, const std::string& value) {
    sys_.write("class/infiniband/mlx5_0/ports/1/" + file, value + "\n");
  }

  [[nodiscard]] PortReading read() const {
    const auto statistics = [this](const std::string& interface) {
      const auto found = interfaces_.find(interface);
      return found == interfaces_.end() ? PortCounters() : found->second;
    };
    return read_port("mlx5_0", 1, statistics, sys_.path());
  }

  FakeRoot sys_;
  std::map<std::string, PortCounters> interfaces_;
};

TEST_F(PortMeterTest, ReadsCongestionByTheNamesOfAnyDriver) {
  for (const char* const name :
       {"np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "tx_cnp_pkts", "rx_cnp_pkts",
        "rx_ecn_marked_pkts", "cnpSent", "cnpHandled", "cnpIgnored", "RxECNMrkd"}) {
    port(std::string("hw_counters/") + name, "5");
    EXPECT_EQ(read().congestion.count(name), 1U) << name;
  }
  port("hw_counters/rx_write_requests", "5");
  port("hw_counters/out_of_sequence", "5");
  EXPECT_EQ(read().congestion.size(), 11U) << "neither traffic nor errors";
  EXPECT_EQ(read().errors, (PortCounters{{"out_of_sequence", 5}}));
  port("counters/port_xmit_wait", "7");
  EXPECT_EQ(read().congestion.at("port_xmit_wait"), 7U);
}

TEST_F(PortMeterTest, ReadsPausesOfTheInterfacesBelowThePort) {
  port("gid_attrs/ndevs/0", "eth0");
  port("gid_attrs/ndevs/1", "eth0.100");
  sys_.make_directory("class/net/eth0");
  sys_.make_directory("class/net/eth0.100/lower_eth0");
  interfaces_["eth0"] = {{"rx_prio3_pause", 4},
                         {"tx_prio3_pause", 0},
                         {"rx_prio3_discards", 1},
                         {"rx_packets", 9},
                         {"rx_prio3_pause_duration", 8}};
  EXPECT_EQ(read().pauses, (PortCounters{{"rx_prio3_discards", 1}, {"rx_prio3_pause", 4}, {"tx_prio3_pause", 0}}))
      << "once, although a VLAN stands on it";
  interfaces_["eth0"] = {{"rx_pfc_ena_frames_pri5", 1},
                         {"rx_priority_7_xoff.nic", 2},
                         {"mac_tx_pfc_pri0_pkt_num", 3},
                         {"rx_pfc_ena_frames_prix", 4}};
  EXPECT_EQ(read().pauses.size(), 3U) << "of other drivers";
}

TEST_F(PortMeterTest, KnowsPauseFramesOfAllPrioritiesTogether) {
  port("gid_attrs/ndevs/0", "eth0");
  sys_.make_directory("class/net/eth0");
  port("hw_counters/np_cnp_sent", "0");
  port("hw_counters/out_of_sequence", "0");
  interfaces_["eth0"] = {{"rx_prio0_discards", 0}};
  EXPECT_NE(unknown_text(read()).find("pause frames"), std::string::npos) << "what is dropped is no pause";
  interfaces_["eth0"] = {{"rx_prio0_discards", 0}, {"rx_global_pause", 0}};
  const PortReading none = read();
  EXPECT_EQ(unknown_text(none), "");
  interfaces_["eth0"]["rx_global_pause"] = 7;
  EXPECT_EQ(growth_text(none, read()), "congestion: pause frames received +7 (rx_global_pause)");
}

TEST_F(PortMeterTest, DoesNotTakeCreditsForMarks) {
  port("counters/port_xmit_wait", "7");
  port("hw_counters/out_of_sequence", "0");
  EXPECT_NE(unknown_text(read()).find("ECN marks and CNPs"), std::string::npos);
}

TEST_F(PortMeterTest, AddsUpTheInterfacesOfABond) {
  port("gid_attrs/ndevs/0", "bond0");
  sys_.make_directory("class/net/bond0/lower_eth0");
  sys_.make_directory("class/net/bond0/lower_eth1");
  interfaces_ = {
      {"bond0", {{"rx_prio3_pause", 100}}}, {"eth0", {{"rx_prio3_pause", 4}}}, {"eth1", {{"rx_prio3_pause", 6}}}};
  EXPECT_EQ(read().pauses, (PortCounters{{"rx_prio3_pause", 10}}));
}

TEST_F(PortMeterTest, TellsWhatGrewInTheFieldsWords) {
  PortReading before;
  before.errors = {{"out_of_sequence", 1}};
  before.congestion = {{"np_cnp_sent", 10}, {"rp_cnp_handled", 0}};
  before.pauses = {{"rx_prio3_pause", 2}, {"tx_prio3_pause", 2}};
  EXPECT_EQ(growth_text(before, before), "");
  PortReading after = before;
  after.congestion["np_cnp_sent"] = 13;
  EXPECT_EQ(growth_text(before, after), "congestion: CNPs sent +3 (np_cnp_sent)");
  after.errors["out_of_sequence"] = 8;
  after.pauses["rx_prio3_pause"] = 11;
  EXPECT_EQ(growth_text(before, after),
            "out_of_sequence +7; congestion: CNPs sent +3 (np_cnp_sent), pause frames received on priority 3 +9 "
            "(rx_prio3_pause)");
}

TEST_F(PortMeterTest, LeavesOutWhatWasReadOnce) {
  PortReading before;
  PortReading after;
  after.congestion = {{"np_cnp_sent", 10}};
  after.pauses = {{"rx_prio3_pause", 2}};
  EXPECT_EQ(growth_text(before, after), "");
}

TEST_F(PortMeterTest, TellsWhatADriverDoesNotCount) {
  sys_.make_directory("devices/efa0");
  sys_.make_directory("drivers/efa");
  sys_.link("class/infiniband/mlx5_0/device", (sys_.path() / "devices/efa0").string());
  EXPECT_EQ(
      unknown_text(read()),
      "the driver counts no errors and retransmissions, no ECN marks and CNPs, no pause frames: these are unknown, "
      "not 0");
  sys_.link("devices/efa0/driver", (sys_.path() / "drivers/efa").string());
  port("hw_counters/retrans_timeout_events", "0");
  EXPECT_EQ(unknown_text(read()), "driver efa counts no ECN marks and CNPs, no pause frames: these are unknown, not 0");
  port("hw_counters/np_cnp_sent", "0");
  EXPECT_EQ(unknown_text(read()), "driver efa counts no pause frames: this is unknown, not 0");
  port("gid_attrs/ndevs/0", "eth0");
  interfaces_["eth0"] = {{"rx_prio0_pause", 0}};
  EXPECT_EQ(unknown_text(read()), "");
}

TEST_F(PortMeterTest, TakesCountersThatNeverMoveForUnknown) {
  port("link_layer", "InfiniBand");
  for (const char* const name : {"port_xmit_wait", "symbol_error", "port_xmit_data", "port_rcv_data"}) {
    port(std::string("counters/") + name, "0");
  }
  EXPECT_EQ(unknown_text(read()),
            "the driver counts no errors and retransmissions, no waiting for credits: these are unknown, not 0");
  port("counters/port_rcv_data", "72");
  EXPECT_EQ(unknown_text(read()), "");
}

TEST(EthtoolStatistics, AreNoneWhereThereAreNone) {
  EXPECT_TRUE(ethtool_statistics("none_0").empty());
  EXPECT_TRUE(ethtool_statistics("lo").empty());
  EXPECT_TRUE(ethtool_statistics("a name that is longer than that of any interface").empty());
}

}  // namespace port_meter_test
