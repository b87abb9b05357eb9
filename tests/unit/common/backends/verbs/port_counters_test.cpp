// Counters of trouble on a fake /sys.

#include "common/backends/verbs/port_meter.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "fake_root.h"

using namespace fabricbench::verbs;
using fabricbench::test::FakeRoot;

namespace port_counters_test {

void write_counter(const FakeRoot& sys, const std::string& counter, const std::string& value, int port = 1) {
  sys.write("class/infiniband/mlx5_0/ports/" + std::to_string(port) + "/" + counter, value + "\n");
}

PortCounters read(const FakeRoot& sys, int port = 1) { return read_counters("mlx5_0", port, sys.path()); }

TEST(ReadCounters, FindsNoneWhereThereAreNone) {
  const FakeRoot sys;
  EXPECT_TRUE(read(sys).empty());
  sys.write("class/infiniband/mlx5_0/ports/1/counters", "not a directory\n");
  EXPECT_TRUE(read(sys).empty());
}

TEST(ReadCounters, ReadsBothKindsOfThePort) {
  const FakeRoot sys;
  write_counter(sys, "counters/symbol_error", "3");
  write_counter(sys, "hw_counters/out_of_sequence", "18446744073709551615");
  write_counter(sys, "hw_counters/out_of_buffer", "7", 2);
  EXPECT_EQ(read(sys),
            (PortCounters{{"symbol_error", 3}, {"out_of_sequence", std::numeric_limits<std::uint64_t>::max()}}));
  EXPECT_EQ(read(sys, 2), (PortCounters{{"out_of_buffer", 7}}));
}

TEST(ReadCounters, KeepsThoseOfTroubleInAnyDriversWords) {
  // Source: mlx5 (counters.c), rxe (rxe_hw_counters.c), bnxt_re (hw_counters.c), irdma (verbs.c) and efa (efa_verbs.c)
  // of the kernel.
  const FakeRoot sys;
  const char* const troubles[] = {"symbol_error",
                                  "link_error_recovery",
                                  "link_downed",
                                  "port_rcv_errors",
                                  "port_xmit_discards",
                                  "excessive_buffer_overrun_errors",
                                  "VL15_dropped",
                                  "duplicate_request",
                                  "implied_nak_seq_err",
                                  "local_ack_timeout_err",
                                  "out_of_buffer",
                                  "rnr_nak_retry_err",
                                  "roce_adp_retrans",
                                  "roce_slow_restart",
                                  "send_rnr_err",
                                  "out_of_seq_request",
                                  "to_retransmits",
                                  "oos_drop_count",
                                  "res_length_mismatch",
                                  "req_remote_invalid_request",
                                  "tcpRetransSegs",
                                  "ip4InTruncPkts",
                                  "rx_drops",
                                  "retrans_timeout_events",
                                  "retrans_pkts",
                                  "unresponsive_remote_events",
                                  "impaired_remote_conn_events"};
  for (const char* const trouble : troubles) write_counter(sys, std::string("hw_counters/") + trouble, "1");
  const char* const others[] = {"port_xmit_data",
                                "port_rcv_packets",
                                "unicast_xmit_packets",
                                "port_xmit_wait",
                                "lifespan",
                                "np_cnp_sent",
                                "rp_cnp_handled",
                                "np_ecn_marked_roce_packets",
                                "rx_write_requests",
                                "sent_pkts",
                                "rcvd_pkts",
                                "rdma_sends",
                                "ack_deferred",
                                "bytes_transferred",
                                "active_qps",
                                "InRdmaReads"};
  for (const char* const other : others) write_counter(sys, std::string("hw_counters/") + other, "1");
  const PortCounters found = read(sys);
  for (const char* const trouble : troubles) EXPECT_EQ(found.count(trouble), 1U) << trouble;
  for (const char* const other : others) EXPECT_EQ(found.count(other), 0U) << other;
}

TEST(ReadCounters, TakesTheStandardOneOfTwoOfAName) {
  const FakeRoot sys;
  write_counter(sys, "counters/link_downed", "3");
  write_counter(sys, "hw_counters/link_downed", "4");
  EXPECT_EQ(read(sys), (PortCounters{{"link_downed", 3}}));
}

TEST(ReadCounters, LeavesOutWhatCannotBeRead) {
  const FakeRoot sys;
  write_counter(sys, "counters/symbol_error", "N/A (no PMA)");
  write_counter(sys, "counters/port_rcv_errors", "");
  sys.make_directory("class/infiniband/mlx5_0/ports/1/counters/link_downed");
  sys.link("class/infiniband/mlx5_0/ports/1/counters/VL15_dropped", "nowhere");
  write_counter(sys, "counters/port_xmit_discards", "5");
  EXPECT_EQ(read(sys), (PortCounters{{"port_xmit_discards", 5}}));
}

TEST(Grown, IsEmptyWhereNothingDid) {
  EXPECT_EQ(grown({}, {}), "");
  EXPECT_EQ(grown({{"out_of_buffer", 4}}, {{"out_of_buffer", 4}}), "");
}

TEST(Grown, SaysWhatByHowMuch) {
  EXPECT_EQ(grown({{"retry_exceeded_err", 1}, {"out_of_sequence", 0}, {"out_of_buffer", 9}},
                  {{"retry_exceeded_err", 4}, {"out_of_sequence", 7}, {"out_of_buffer", 9}}),
            "out_of_sequence +7, retry_exceeded_err +3");
}

TEST(Grown, CountsFromZeroAfterAReset) {
  EXPECT_EQ(grown({{"out_of_buffer", 9}}, {{"out_of_buffer", 2}}), "out_of_buffer +2");
  EXPECT_EQ(grown({{"out_of_buffer", 9}}, {{"out_of_buffer", 0}}), "");
}

TEST(Grown, LeavesOutWhatWasReadOnceOnly) {
  EXPECT_EQ(grown({}, {{"out_of_buffer", 2}}), "");
  EXPECT_EQ(grown({{"out_of_buffer", 2}}, {}), "");
}

}  // namespace port_counters_test
