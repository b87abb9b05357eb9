// The shape of a fabric, learnt from the view of it: tiers, rails, hosts of leaves.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/fabric/fabric.h"

namespace fabricbench::fabric {

/// A cable between an adapter of a host and a switch.
struct HostCable {
  std::size_t cable = 0;
  std::string host;
  std::string device;  ///< `mlx5_0`, and `mlx5_0/2` where most adapters use two ports
  End adapter;
  End leaf;
};

struct Shape {
  std::vector<int> tiers;              ///< by node: 1 for leaves, 2 and more for spines, 0 for all else
  std::vector<HostCable> host_cables;  ///< without those of nodes that serve the fabric
  bool is_rail_aligned = false;
  std::map<std::size_t, std::string> rails;             ///< of leaves, if rail-aligned: the device of most hosts there
  std::vector<std::map<int, std::size_t>> ports;        ///< by node: its cable on a port
  std::map<std::size_t, std::set<std::string>> behind;  ///< hosts of each leaf

  [[nodiscard]] std::size_t count_of_tier(int tier) const;
};

[[nodiscard]] Shape shape_of(const Fabric& fabric);

}  // namespace fabricbench::fabric
