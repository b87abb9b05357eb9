// What the banner says about the place of a rank and its device.

#include "common/backends/rdma/adapter_affinity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace fabricbench;

namespace adapter_affinity_test {

constexpr host::PciLink kX16{32, 16};

AdapterAffinity place_on(int node, host::NodeBinding binding, Move move = Move::kNone) {
  AdapterAffinity place{.rank = 3, .host = "b", .device = "mlx5_1", .adapter_node = node, .wanted_node = node};
  place.links = {kX16, kX16, kX16};
  place.binding = binding;
  place.processors = "0-15";
  place.move = move;
  return place;
}

TEST(PlaceText, SaysWhereTheDeviceIsAndWhatWasMoved) {
  EXPECT_EQ(text_of(place_on(1, host::NodeBinding::kPartly, Move::kBoth)),
            "mlx5_1 on NUMA node 1, PCIe 32 GT/s x16; threads and host buffers moved there");
  EXPECT_EQ(text_of(place_on(1, host::NodeBinding::kPartly, Move::kThreads)),
            "mlx5_1 on NUMA node 1, PCIe 32 GT/s x16; threads moved there");
  EXPECT_EQ(text_of(place_on(0, host::NodeBinding::kInside)),
            "mlx5_1 on NUMA node 0, PCIe 32 GT/s x16; the rank was there already");
  EXPECT_EQ(text_of(place_on(1, host::NodeBinding::kOutside)),
            "mlx5_1 on NUMA node 1, PCIe 32 GT/s x16; the rank stays where it was");
}

TEST(PlaceText, SaysWhatWasAskedFor) {
  AdapterAffinity place = place_on(1, host::NodeBinding::kPartly, Move::kBoth);
  place.wanted_node = 0;
  EXPECT_EQ(text_of(place),
            "mlx5_1 on NUMA node 1, PCIe 32 GT/s x16; NUMA node 0 asked for; threads and host buffers moved there");
  place = place_on(1, host::NodeBinding::kPartly);
  place.wanted_node.reset();
  EXPECT_EQ(text_of(place), "mlx5_1 on NUMA node 1, PCIe 32 GT/s x16") << "--numa off";
  place.links = {};
  place.adapter_node.reset();
  EXPECT_EQ(text_of(place), "mlx5_1 on an unknown NUMA node");
}

TEST(PlaceWarnings, AreNoneWhereAllIsWell) {
  EXPECT_TRUE(warnings_of(place_on(1, host::NodeBinding::kInside)).empty());
  EXPECT_TRUE(warnings_of(place_on(1, host::NodeBinding::kPartly, Move::kBoth)).empty());
  EXPECT_TRUE(warnings_of(AdapterAffinity{}).empty());
}

TEST(PlaceWarnings, NameLinksThatAreSlowerThanTheyCouldBe) {
  AdapterAffinity place = place_on(1, host::NodeBinding::kInside);
  place.links = {host::PciLink{32, 8}, kX16, host::PciLink{32, 8}};
  EXPECT_EQ(
      warnings_of(place),
      (std::vector<std::string>{"The PCIe link of mlx5_1 of host b runs at 32 GT/s x8, and the device can do 32 GT/s "
                                "x16: check its slot and riser, and reseat it"}));
  place.links = {kX16, kX16, host::PciLink{16, 16}};
  EXPECT_EQ(warnings_of(place), (std::vector<std::string>{
                                    "A PCIe link above mlx5_1 of host b runs at 16 GT/s x16, below the 32 GT/s x16 of "
                                    "the device itself"}));
}

TEST(PlaceWarnings, NameRanksThatTheirLauncherKeepsAway) {
  EXPECT_EQ(warnings_of(place_on(1, host::NodeBinding::kOutside)),
            (std::vector<std::string>{
                "Rank 3 on host b may run on processors 0-15 only, away from NUMA node 1 of mlx5_1, and is not moved: "
                "start with mpirun --bind-to none (srun --cpu-bind=none), or bind it to that node"}));
}

}  // namespace adapter_affinity_test
