#include <gtest/gtest.h>

#include "cluster/fabric/locality.h"
#include "common/core/error.h"

namespace fabricbench::fabric {
namespace {

TEST(FabricLocality, ReadsSlurmsTopology) {
  const Locality locality = read_slurm_topology(
      "# topology.conf\nSwitchName=root Switches=leaf[0-1]\nswitchname=leaf0 nodes=n[09-10] LinkSpeed=1\n"
      "SwitchName=leaf1 \\\n Nodes=n11,login\n",
      "topology.conf");
  EXPECT_EQ(text_of(locality), "login leaf1\nn09 leaf0\nn10 leaf0\nn11 leaf1\n");
}

TEST(FabricLocality, FaultsHaveTheirLine) {
  const auto fault_of = [](std::string_view text) -> std::string {
    try {
      static_cast<void>(read_slurm_topology(text, "topology.conf"));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault_of("\nNodes=a\n"), "topology.conf:2: SwitchName= expected: 'Nodes=a'");
  EXPECT_EQ(fault_of("SwitchName=a Switches=b"), "topology.conf: no switch has Nodes=; is it Slurm's topology.conf?");
  EXPECT_TRUE(fault_of("SwitchName=a Nodes=b[").starts_with("topology.conf:1: ")) << fault_of("SwitchName=a Nodes=b[");
}

TEST(FabricLocality, HostsOfAUnitShareAName) {
  Fabric fabric;
  fabric.nodes = {{NodeKind::kSwitch, 1, "MF0;u1 r2:X/U1"}, {NodeKind::kSwitch, 2, "u1r10"},
                  {NodeKind::kAdapter, 3, "gpu1 mlx5_0"},   {NodeKind::kAdapter, 4, "gpu1 mlx5_1"},
                  {NodeKind::kAdapter, 5, "gpu2 mlx5_0"},   {NodeKind::kAdapter, 6, "gpu2 mlx5_1"}};
  for (std::size_t i = 0; i < 4; ++i) {
    fabric.cables.push_back({{2 + i, 1}, {i % 2, static_cast<int>(i) + 1}, {4, "NDR"}});
  }
  EXPECT_EQ(text_of(locality_of(fabric, shape_of(fabric))), "gpu1 u1_r2\ngpu2 u1_r2\n");
}

}  // namespace
}  // namespace fabricbench::fabric
