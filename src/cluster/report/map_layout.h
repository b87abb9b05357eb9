#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"
#include "common/core/heat_map.h"

namespace fabricbench::cluster {

/// The rate from each host to each other, as a share of the usual rate of near hosts with the same test, message size
/// and rails: the median of repeated readings, and the lowest over rails and sizes.
struct ShareMatrix {
  std::size_t hosts = 0;      ///< by their place in Sweep::hosts
  std::vector<float> shares;  ///< receiver by receiver, `hosts` senders each: not a number: not measured; 0: it failed
  double usual = 0;           ///< bytes per second of share 1, in the test, size and rails with most readings; 0: none

  [[nodiscard]] float at(std::size_t receiver, std::size_t sender) const { return shares[receiver * hosts + sender]; }
};

/// Far hosts, and hosts of the slower kind, are compared with near hosts of the faster kind too, so that groups show,
/// and a share means the same everywhere.
[[nodiscard]] ShareMatrix share_matrix(const Sweep& sweep, const Verdict& verdict);

/// A sweep as a picture of characters (common/core/heat_map.h): a line for each receiving host, a column for each
/// sending host, in the order and with the blocks and marks of map_layout. The cells are those of share_matrix. For
/// more than 64 hosts it is one line that says where else to look.
[[nodiscard]] std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour);

/// The order of hosts in a map, as places in Sweep::hosts. Hosts of a group of the coarsest level stand together, then
/// those of finer groups, then those of one kind; each has a block around it. Within these, hosts are in natural order,
/// those with a mark last. Marks are those of host_lists.
[[nodiscard]] HeatLayout map_layout(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
