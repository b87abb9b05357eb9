#include "cluster/fabric/counters.h"

#include <gtest/gtest.h>

#include "common/core/error.h"

namespace fabricbench::fabric {
namespace {

// After a public report of a fabric that fell over.
constexpr std::string_view kQuery = R"(Errors for "hostA mlx4_0"
   GUID 0x7cfe900300179b31 port 1: [VL15Dropped == 14] [PortXmitWait == 4294967295]
Errors for 0x2c903006e29b0 "MF0;switch1:SX6036/U1"
   GUID 0x2c903006e29b0 port ALL: [LinkErrorRecoveryCounter == 15] [PortXmitDiscards == 15854]
   GUID 0x2c903006e29b0 port 1: [LinkDownedCounter == 8] [PortXmitWait == 4294967295]
   GUID 0x2c903006e29b0 port 6: [LinkDownedCounter == 9] [PortRcvSwitchRelayErrors == 2285] [PortXmitDiscards == 14176]
   GUID 0x2c903006e29b0 port 7: [SymbolErrorCounter == 65535] [LinkErrorRecoveryCounter == 7] [LinkDownedCounter == 2]

## Summary: 4 nodes checked, 4 bad nodes found
)";

TEST(Counters, PhysicalErrorsComeFirstAndSaturatedOnesAreAtLeast) {
  const auto ports = read_counters(kQuery, "saved");
  ASSERT_EQ(ports.size(), 4U);  // without port ALL
  EXPECT_EQ(ports[0].node, "hostA mlx4_0");
  const auto findings = counter_findings(ports);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].kind, CounterKind::kPhysical);
  EXPECT_EQ(findings[0].port, 7);
  EXPECT_EQ(findings[0].text, "SymbolErrorCounter at least 65535, LinkErrorRecoveryCounter 7; age unknown");
  EXPECT_EQ(findings[1].kind, CounterKind::kCongestion);
  EXPECT_EQ(findings[1].text, "PortXmitDiscards 14176, PortRcvSwitchRelayErrors 2285; age unknown");
}

TEST(Counters, PerfqueryOfAPortWithoutPhysicalErrors) {
  const auto ports = read_counters(
      "# Port extended counters: Lid 2052 port 1 (CapMask: 0x5300 CapMask2: 0x0000002)\n"
      "PortSelect:......................1\nCounterSelect:...................0x0000\n"
      "SymbolErrorCounter:..............0\nLinkDownedCounter:...............1\nPortXmitDiscards:................20046\n"
      "# Port counters: Lid 2052 port 255\nSymbolErrorCounter:..............9\n",
      "saved");
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(ports[0].values.at("PortXmitDiscards"), 20046U);
  const auto findings = counter_findings(ports);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, CounterKind::kCongestion);
}

TEST(Counters, SaturatedWidths) {
  EXPECT_TRUE(is_saturated("LinkDownedCounter", 255));
  EXPECT_FALSE(is_saturated("SymbolErrorCounter", 255));
  EXPECT_TRUE(is_saturated("PortXmitWait", 4294967295));
  EXPECT_EQ(kind_of_counter("PortXmitWait"), CounterKind::kNothing);
}

TEST(Counters, FaultsHaveTheirLine) {
  try {
    static_cast<void>(read_counters("\nhello\n", "saved"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "saved:2: a counter expected; is this ibqueryerrors' or perfquery's text?: 'hello'");
  }
}

}  // namespace
}  // namespace fabricbench::fabric
