// Readers of ibnetdiscover's text. The lines are as the tool of infiniband-diags 44 printed them of a simulated fabric
// (ibsim 0.10), or rebuilt by hand after public files.

#include "cluster/fabric/discover_text.h"

#include <gtest/gtest.h>

#include "cluster/fabric/findings.h"
#include "common/core/error.h"

namespace fabricbench::fabric {
namespace {

constexpr std::string_view kLeaf = R"(#
# Topology file: generated on Tue Dec  1 01:06:10 2026
#

vendid=0x0
devid=0xc738
sysimgguid=0x200001
switchguid=0x200001(200001)
Switch	8 "S-0000000000200001"		# "MF0;ib5:SX6036/U1" enhanced port 0 lid 3 lmc 0
[1]	"H-0000000000100009"[2](10000a) 		# "stage4 mlx4_0" lid 7 4xQDR
[5]	"S-0000000000200002"[3]		# "MF0;ib8:SX6036/U1" lid 1 4xFDR10
)";

std::string fault_of(std::string_view text) {
  try {
    static_cast<void>(read_discovered(text, "saved"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DiscoverText, HasNodesWithoutASectionOfTheirOwn) {
  const Fabric fabric = read_discovered(kLeaf, "saved");
  ASSERT_EQ(fabric.nodes.size(), 3U);
  EXPECT_EQ(fabric.nodes[0].port_count, 8);
  EXPECT_EQ(fabric.nodes[0].device_id, 0xc738U);
  EXPECT_EQ(fabric.nodes[0].lid, 3);
  EXPECT_EQ(fabric.nodes[1].kind, NodeKind::kAdapter);
  EXPECT_EQ(fabric.nodes[1].name, "stage4 mlx4_0");
  EXPECT_EQ(fabric.nodes[1].lid, 7);
  ASSERT_EQ(fabric.cables.size(), 2U);
  EXPECT_EQ(text_of(fabric.cables[0].rate), "4xQDR");
  EXPECT_EQ(text_of(fabric, fabric.cables[0].b), "stage4 mlx4_0 port 2");
  EXPECT_EQ(text_of(fabric, fabric.cables[1].a), "ib5 port 5");
}

TEST(DiscoverText, CountsACableOnceThatBothEndsShow) {
  const Fabric fabric = read_discovered(std::string(kLeaf) + R"(
caguid=0x100009
Ca	2 "H-0000000000100009"		# "stage4 mlx4_0"
[2](10000a) 	"S-0000000000200001"[1]		# lid 7 lmc 0 "MF0;ib5:SX6036/U1" lid 3 4xQDR
)",
                                        "saved");
  EXPECT_EQ(fabric.cables.size(), 2U);
  EXPECT_EQ(fabric.nodes[1].port_count, 2);
}

TEST(DiscoverText, TakesSpacesSuffixesAndChassisPorts) {
  const Fabric fabric = read_discovered(
      "Switch  41 \"S-0ff08c43213b3f30\"         # \"MF0;a-A:MCS8500/S01/U1\" enhanced port 0 lid 387 lmc 0\n"
      "[1][ext 3]     \"S-0ff08c432172aa1a\"[21]   # \"MF0;a-A:MCS8500/L01/U1\" lid 226 4xHDR s=4 w=2 v=4 e=4\r\n"
      "[41]    \"H-0ff08c43213b3f38\"[1](ff08c43213b3f38) # \" Mellanox Technologies Aggregation Node \" lid 2152 "
      "4xHDR s=4 w=2\n",
      "saved");
  ASSERT_EQ(fabric.cables.size(), 2U);
  EXPECT_EQ(text_of(fabric, fabric.cables[0].b), "a-A/L01 port 21");
  EXPECT_EQ(fabric.nodes[2].name, "Mellanox Technologies Aggregation Node");
  EXPECT_TRUE(serves_the_fabric(fabric.nodes[2]));
  EXPECT_TRUE(shape_of(fabric).host_cables.empty());
}

TEST(DiscoverText, ReportsLeaveOutPortsWithoutACable) {
  const Fabric fabric = read_discovered(
      "CA   134  1 0x7cfe9003003b4bde 4x EDR - SW  1719 10 0x7cfe9003009ce5b0 ( 'o0001 HCA-1' - ' leaf ' )\n"
      "SW  1719 10 0x7cfe9003009ce5b0 4x EDR - CA   134  1 0x7cfe9003003b4bde ( 'leaf' - 'o0001 HCA-1' )\n"
      "SW  2052 37 0x506b4b03005c2740 4x ???                                    'ib-i4l1s01'\n"
      "SW  1781 80 0x08c0eb0300add20e 4x SDR                                    ' ib-i7l2s01 '\n",
      "saved");
  ASSERT_EQ(fabric.cables.size(), 1U);
  EXPECT_EQ(text_of(fabric.cables[0].rate), "4xEDR");
  ASSERT_EQ(fabric.nodes.size(), 4U);
  EXPECT_EQ(fabric.nodes[1].name, "leaf");
  EXPECT_EQ(fabric.nodes[3].name, "ib-i7l2s01");
  EXPECT_TRUE(findings_of(fabric, shape_of(fabric)).empty());
}

TEST(DiscoverText, FaultsHaveTheirLine) {
  EXPECT_EQ(fault_of(""), "saved:0: no switch and no adapter is in this text; is it ibnetdiscover's?");
  EXPECT_EQ(fault_of("\nhello\n"), "saved:2: a node, a port or a property expected: 'hello'");
  EXPECT_EQ(fault_of("[1] \"S-1\"[2] # \"x\" lid 1 4xHDR"), "saved:1: a port stands before the first node");
  EXPECT_EQ(fault_of("Switch x \"S-1\""), "saved:1: the number of ports expected: 'Switch x \"S-1\"'");
  EXPECT_EQ(fault_of("Switch 8 \"S-1\"\n[1] \"S-2\"[2] # \"x\" lid 1"),
            "saved:2: width and speed, such as 4xHDR, are missing at the end");
  EXPECT_EQ(fault_of("Switch 8 \"S-1\"\n[1] \"S-2\"[2] # \"x\" lid 1 4xHDR\n[1] \"S-2\"[3] # \"x\" lid 1 4xHDR"),
            "saved:3: a port has another cable on an earlier line; is this the text of one run?");
  EXPECT_EQ(fault_of("SW  1719 10 0x7c 4x EDR - CA   134  1 0x7d ( 'leaf' )"),
            "saved:1: the names of both ends are missing");
}

// Every beginning of a text is either read or refused with its line.
TEST(DiscoverText, IsNotTroubledByTornTexts) {
  for (std::size_t length = 0; length < kLeaf.size(); ++length) {
    const std::string fault = fault_of(kLeaf.substr(0, length));
    EXPECT_TRUE(fault.empty() || fault.starts_with("saved:")) << fault;
  }
}

TEST(Nodes, NamesOfHostsAndDevices) {
  const auto name = [](std::string text) { return adapter_name({NodeKind::kAdapter, 1, std::move(text)}); };
  EXPECT_EQ(name("stage114 mlx4_0").host, "stage114");
  EXPECT_EQ(name("stage114 mlx4_0").device, "mlx4_0");
  EXPECT_EQ(name("Hca0").host, "Hca0");
  EXPECT_EQ(name("MT25408 ConnectX Mellanox Technologies").device, "");
  EXPECT_EQ(numbered_name("r1n07-ib").shape, "r#n#-ib");
  EXPECT_EQ(numbered_name("r1n07-ib").numbers, (std::vector<std::int64_t>{1, 7}));
  EXPECT_EQ(numbered_name("n-5").shape, "n-#");
  EXPECT_EQ(numbered_name("login").numbers, std::vector<std::int64_t>());
}

TEST(DiscoverText, SwitchesWithOneNameHaveTheirGuid) {
  const Fabric fabric = read_discovered(
      "Switch 36 \"S-000000000000000a\" # \"Quantum Mellanox Technologies\" lid 1\n"
      "[1] \"S-000000000000000b\"[2] # \"Quantum Mellanox Technologies\" lid 2 4xHDR\n",
      "saved");
  ASSERT_EQ(fabric.nodes.size(), 2U);
  EXPECT_EQ(shown_name(fabric.nodes[1]), "0x000000000000000b");
}

}  // namespace
}  // namespace fabricbench::fabric
