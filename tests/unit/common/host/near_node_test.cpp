// Processing units on a NUMA node, and a thread that stays on some of them for a while.

#include "common/host/topology.h"

#include <gtest/gtest.h>

#include <string>

#include "fake_root.h"

using namespace fabricbench::host;
using fabricbench::test::FakeRoot;

namespace near_node_test {

TEST(UnitsOnNode, AreThoseThatTheProcessMayUse) {
  const FakeRoot root;
  root.write("sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
  root.write("sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
  EXPECT_EQ(units_on_node(0, "0-15", root.path()), "0-3,8-11");
  EXPECT_EQ(units_on_node(1, "6-9", root.path()), "6-7");
  EXPECT_EQ(units_on_node(1, "0-3", root.path()), "");
  EXPECT_EQ(units_on_node(2, "0-15", root.path()), "") << "there is none";
}

TEST(NearNode, RunsOnTheseUnitsAndRestoresTheOthers) {
  const std::string before = current_binding();
  const std::string one = before.substr(0, before.find_first_of("-,"));
  {
    const NearNode near(0, one);
    EXPECT_EQ(current_binding(), one);
  }
  EXPECT_EQ(current_binding(), before);
  EXPECT_THROW(NearNode(0, "1048575"), std::runtime_error) << "no machine has so many";
  EXPECT_EQ(current_binding(), before);
}

TEST(NearNode, LeavesMemoryWhereItWasForANodeThatDoesNotExist) {
  const std::string before = current_binding();
  const NearNode near(1000, before);
  EXPECT_FALSE(near.has_memory());
}

}  // namespace near_node_test
