// What is found in fabrics that are made here, cable by cable, after public ones.

#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "cluster/fabric/findings.h"

namespace fabricbench::fabric {
namespace {

using Lines = std::vector<std::string>;

class Cabled {
 public:
  Cable& cable(const std::string& name, int port) {
    return *std::find_if(fabric_.cables.begin(), fabric_.cables.end(), [&](const Cable& one) {
      return one.a == End{node(name), port} || one.b == End{node(name), port};
    });
  }

  void remove(const std::string& name, int port) {
    const Cable gone = cable(name, port);
    std::erase_if(fabric_.cables, [&](const Cable& one) { return one.a == gone.a; });
  }

  void join(const std::string& a, int port_a, const std::string& b, int port_b, const std::string& speed) {
    const End one{node(a), port_a};
    fabric_.cables.push_back({one, {node(b), port_b}, {4, speed}});
  }

  [[nodiscard]] Lines lines() const {
    Lines lines;
    for (const Finding& finding : findings_of(fabric_, shape_of(fabric_))) lines.push_back(line_of(finding));
    return lines;
  }

  [[nodiscard]] Shape shape() const { return shape_of(fabric_); }

 private:
  std::size_t node(const std::string& name) {
    const auto found =
        std::find_if(fabric_.nodes.begin(), fabric_.nodes.end(), [&](const Node& one) { return one.name == name; });
    if (found != fabric_.nodes.end()) return static_cast<std::size_t>(found - fabric_.nodes.begin());
    const bool is_switch = name.find(' ') == std::string::npos;
    fabric_.nodes.push_back(
        {is_switch ? NodeKind::kSwitch : NodeKind::kAdapter, fabric_.nodes.size() + 1, name, is_switch ? 36 : 2, 7, 1});
    return fabric_.nodes.size() - 1;
  }

  Fabric fabric_;
};

/// Leaves 1 to 4 with 6 hosts each on ports 1 to 6, and two cables to each of 3 spines.
class Made : public Cabled {
 public:
  Made() {
    for (int leaf = 1; leaf <= 4; ++leaf) {
      for (int host = 1; host <= 6; ++host) {
        join(fmt::format("node{:02d} mlx5_0", (leaf - 1) * 6 + host), 1, fmt::format("leaf{}", leaf), host, "QDR");
      }
      for (int cable = 0; cable < 6; ++cable) {
        join(fmt::format("leaf{}", leaf), 7 + cable, fmt::format("spine{}", cable / 2 + 1), leaf * 2 - 1 + cable % 2,
             "FDR10");
      }
    }
  }
};

TEST(FabricFindings, HostsAndTrunksOfTwoSpeedsAreWell) {
  Made made;
  EXPECT_EQ(made.lines(), Lines());
  EXPECT_EQ(made.shape().count_of_tier(1), 4U);
  EXPECT_EQ(made.shape().count_of_tier(2), 3U);
}

TEST(FabricFindings, AMissingTrunkHasBothEnds) {
  Made made;
  made.remove("leaf3", 10);
  EXPECT_EQ(made.lines(),
            Lines{"missing cable: leaf3 port 10 <-> spine2 port 6 (1 of 2 cables); behind it: node[13-18]"});
}

TEST(FabricFindings, SwappedTrunksHaveFourEnds) {
  Made made;
  std::swap(made.cable("leaf1", 7).b, made.cable("leaf4", 12).b);
  EXPECT_EQ(made.lines(), Lines{"swapped cables: leaf1 port 7 <-> spine3 port 8, leaf4 port 12 <-> spine1 port 1; "
                                "behind it: node[01-06,19-24]"});
}

TEST(FabricFindings, WidthAndSpeedHaveTheirKind) {
  Made made;
  made.cable("leaf2", 3).rate = {1, "QDR"};
  made.cable("leaf2", 8).rate = {4, "QDR"};
  EXPECT_EQ(made.lines(),
            (Lines{"reduced width: node09 mlx5_0 port 1 <-> leaf2 port 3 (1xQDR, where most of its kind have 4xQDR); "
                   "behind it: node09",
                   "low speed: leaf2 port 8 <-> spine1 port 4 (4xQDR, where most of its kind have 4xFDR10); "
                   "behind it: node[07-12]"}));
}

TEST(FabricFindings, AHostThatIsNotThereIsANote) {
  Made made;
  made.remove("node09 mlx5_0", 1);
  EXPECT_EQ(made.lines(),
            Lines{"missing cable: leaf2 port 3 <-> node09 mlx5_0 (by the order of names and ports; or the "
                  "host is off); behind it: node09"});
}

TEST(FabricFindings, SwappedHostsBreakTheOrder) {
  Made made;
  std::swap(made.cable("node06 mlx5_0", 1).b, made.cable("node20 mlx5_0", 1).b);
  EXPECT_EQ(made.lines(), Lines{"swapped cables: node06 mlx5_0 port 1 <-> leaf4 port 2, node20 mlx5_0 port 1 <-> leaf1 "
                                "port 6 (by the order of names and ports); behind it: node[06,20]"});
}

TEST(FabricFindings, AnAbsentLeafLeavesPortsAndHostsOut) {
  Made made;
  for (int port = 1; port <= 12; ++port) made.remove("leaf2", port);
  EXPECT_EQ(made.lines(),
            Lines{"absent switch: a switch between leaf1 and leaf3 <-> ports 3-4 of spine1, spine2, spine3 "
                  "(a leaf's worth of hosts is missing in the order of names); behind it: node[07-12]"});
}

TEST(FabricFindings, AnAbsentFirstLeafIsANote) {
  Made made;
  for (int port = 1; port <= 12; ++port) made.remove("leaf1", port);
  const Lines lines = made.lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("absent switch: a switch before leaf2 <-> ports 1-2 of spine1, spine2, spine3"));
  EXPECT_TRUE(lines[0].ends_with("; behind it: node[01-06]")) << lines[0];
}

/// Racks of 8 hosts on leaves with 6 of them.
TEST(FabricFindings, NamesWithRacksHaveAnOrderToo) {
  Cabled made;
  for (int host = 0; host < 24; ++host) {
    const std::string name = fmt::format("r{}u{:02d} mlx5_0", host / 8 + 1, host % 8 + 1);
    made.join(name, 1, fmt::format("leaf{}", host / 6), host % 6 + 1, "NDR");
  }
  for (int leaf = 0; leaf < 4; ++leaf) made.join(fmt::format("leaf{}", leaf), 7, "spine", leaf + 1, "NDR");
  EXPECT_EQ(made.lines(), Lines());
  std::swap(made.cable("r1u03 mlx5_0", 1).b, made.cable("r3u02 mlx5_0", 1).b);
  ASSERT_EQ(made.lines().size(), 1U);
  EXPECT_TRUE(
      made.lines()[0].starts_with("swapped cables: r1u03 mlx5_0 port 1 <-> leaf2 port 6, r3u02 mlx5_0 port 1 "
                                  "<-> leaf0 port 3"))
      << made.lines()[0];
}

TEST(FabricFindings, SecondPortsAndNodesOfTheFabricAreNoFault) {
  Made made;
  made.cable("node09 mlx5_0", 1).a.port = 2;
  made.join("Mellanox Technologies Aggregation Node", 1, "spine1", 36, "HDR");
  made.join("ufm1 mlx5_0", 1, "leaf1", 36, "SDR");
  made.join("tank1 mlx4_0", 1, "leaf1", 30, "QDR");
  made.join("tank1 mlx4_0", 2, "leaf2", 30, "QDR");
  EXPECT_EQ(made.lines(), Lines());
}

/// Two units of 8 hosts with 4 adapters, each unit with a leaf for every rail, and 2 spines.
class MadeRails : public Cabled {
 public:
  MadeRails() {
    for (int host = 1; host <= 16; ++host) {
      for (int rail = 0; rail < 4; ++rail) {
        join(fmt::format("gpu{} mlx5_{}", host, rail), 1, fmt::format("u{}r{}", (host - 1) / 8 + 1, rail),
             (host - 1) % 8 + 1, "NDR");
      }
    }
    for (int leaf = 0; leaf < 8; ++leaf) {
      for (int spine = 1; spine <= 2; ++spine)
        join(fmt::format("u{}r{}", leaf / 4 + 1, leaf % 4), 8 + spine, fmt::format("spine{}", spine), leaf + 1, "NDR");
    }
  }
};

TEST(FabricRails, AreLearntAndWell) {
  const MadeRails made;
  EXPECT_TRUE(made.shape().is_rail_aligned);
  EXPECT_EQ(made.lines(), Lines());
}

TEST(FabricRails, AHostForLoginsLacksNoRails) {
  MadeRails made;
  made.join("login1 mlx5_0", 1, "u1r0", 20, "NDR");
  EXPECT_EQ(made.lines(), Lines());
}

TEST(FabricRails, AHostOnAnotherRailsLeaf) {
  MadeRails made;
  std::swap(made.cable("gpu3 mlx5_1", 1).b, made.cable("gpu3 mlx5_2", 1).b);
  EXPECT_EQ(made.lines(),
            Lines{"swapped cables: gpu3 mlx5_2 port 1 <-> u1r1 port 3, gpu3 mlx5_1 port 1 <-> u1r2 port 3 "
                  "(each is on the other's leaf); behind it: gpu3"});
  MadeRails other;
  other.cable("gpu3 mlx5_1", 1).b = other.cable("gpu3 mlx5_2", 1).b;
  other.remove("gpu3 mlx5_2", 1);
  other.join("gpu3 mlx5_1", 1, "u1r2", 3, "NDR");
  ASSERT_FALSE(other.lines().empty());
  EXPECT_TRUE(other.lines().front().starts_with("wrong leaf: gpu3 mlx5_1 port 1 <-> u1r2 port 3"))
      << other.lines().front();
}

TEST(FabricRails, AMissingCableAndAnAbsentLeaf) {
  MadeRails made;
  made.remove("gpu3 mlx5_1", 1);
  EXPECT_EQ(made.lines(), Lines{"missing cable: gpu3 mlx5_1 <-> u1r1 port 3; behind it: gpu3"});
  MadeRails other;
  for (int port = 1; port <= 10; ++port) other.remove("u1r2", port);
  EXPECT_EQ(other.lines(),
            Lines{"absent switch: a switch between u1r1 and u1r3 <-> port 3 of spine1, spine2 (all of these "
                  "hosts lack mlx5_2); behind it: gpu[1-8]"});
}

}  // namespace
}  // namespace fabricbench::fabric
