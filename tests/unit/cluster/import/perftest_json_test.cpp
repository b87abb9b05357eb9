// The reader of perftest's --out_json.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/core/error.h"
#include "import_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;
using namespace fabricbench::cluster::test;

namespace perftest_json_test {

using Texts = std::vector<std::string>;

std::string document(const std::string& test, int size, const std::string& average, const std::string& messages,
                     const std::string& more = "") {
  return fmt::format(
      "{{\n\"test_info\": {{\n\"test\": \"{}\",\n\"Dual_port\": \"OFF\",\n\"Device\": \"mlx5_0\",\n\"Number_of_qps\": "
      "1\n}},\n\"results\": {{\n\"MsgSize\": {},\n{}\"n_iterations\": 5000,\n\"BW_peak\": 99.9,\n\"BW_average\": {},\n"
      "\"MsgRate\": {}\n}}\n}}\n",
      test, size, more, average, messages);
}

Imported perftest(const std::string& text, double unit = 0) {
  return read_as(ImportKind::kPerftest, "n1_n2.json", text, unit);
}

TEST(PerftestJson, TellsItsUnitByTheRateOfMessages) {
  EXPECT_EQ(told(perftest(document("RDMA_Write_BW_Test", 65536, "80.00", "0.152588"))),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 10"}));
  EXPECT_EQ(told(perftest(document("Send_BW_Test", 65536, "1000.00", "0.016000"))),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_send_bw 65536 = 1.04858"}));
  EXPECT_THROW(static_cast<void>(perftest(document("Send_BW_Test", 65536, "1000.00", "0.000000"))), UsageError);
  EXPECT_EQ(told(perftest(document("Send_BW_Test", 65536, "8.00", "0.000000"), 1e9 / 8)),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_send_bw 65536 = 1"}));
}

TEST(PerftestJson, KnowsDirections) {
  EXPECT_EQ(told(perftest(document("RDMA_Read_BW_Test", 65536, "80.00", "0.152588"))),
            (Texts{"n2 mlx5_0 > n1 mlx5_0 ib_read_bw 65536 = 10"}));
  EXPECT_EQ(told(perftest(document("RDMA_Write_Bidirectional_BW_Test", 65536, "160.00", "0.305176"))),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 20 both"}));
}

TEST(PerftestJson, MayHaveSeveralDocuments) {
  const std::string small = document("RDMA_Write_BW_Test", 32768, "40.00", "0.152588");
  const std::string large = document("RDMA_Write_BW_Test", 65536, "80.00", "0.152588");
  const Imported sizes = perftest("[" + small + "," + large + "]");
  EXPECT_EQ(told(sizes), (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 10"}));
  EXPECT_EQ(sizes.smaller_sizes, 1);
  EXPECT_EQ(told(perftest(large + large)).size(), 2U);
  // With --raw_qos it is no JSON.
  EXPECT_EQ(told(perftest(document("RDMA_Write_BW_Test", 65536, "80.00", "0.152588", "sl: 3,\n"))).size(), 1U);
}

TEST(PerftestJson, TellsWhatItDoesNotRead) {
  EXPECT_EQ(noted(perftest(document("RDMA_Write_Latency_Test", 2, "80.00", "0.1"))),
            (Texts{"1: 'RDMA_Write_Latency_Test' is not ib_write_bw, ib_read_bw or ib_send_bw"}));
  EXPECT_EQ(noted(perftest(document("RDMA_Write_BW_Test", 65536, "\"x\"", "0.1"))),
            (Texts{"1: it has no size and average bandwidth"}));
  const std::string whole = document("RDMA_Write_BW_Test", 65536, "80.00", "0.152588");
  for (const std::string& part : cut_off(whole.substr(0, whole.rfind('}')))) {
    EXPECT_EQ(told(perftest(part)), Texts{}) << part;
  }
}

}  // namespace perftest_json_test
