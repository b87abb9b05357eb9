#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// The rate from each host to each other, as a share of the usual rate of near hosts with the same test, message size
/// and rails: the median of repeated readings, and the lowest over rails and sizes.
struct ShareMatrix {
  std::size_t hosts = 0;      ///< by their place in Sweep::hosts
  std::vector<float> shares;  ///< receiver by receiver, `hosts` senders each: not a number: not measured; 0: it failed
  double usual = 0;           ///< bytes per second of share 1, in the test, size and rails with most readings; 0: none
  /// For people, a line each: tests, sizes and rails that are left out because all of their readings failed.
  std::vector<std::string> left_out;

  [[nodiscard]] float at(std::size_t receiver, std::size_t sender) const { return shares[receiver * hosts + sender]; }
};

/// Far hosts, and hosts of the slower kind, are compared with near hosts of the faster kind too, so that groups show,
/// and a share means the same everywhere. Takes 4 bytes per pair of hosts and direction, and 16 per reading.
[[nodiscard]] ShareMatrix share_matrix(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
