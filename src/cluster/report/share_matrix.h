#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// What every way from host to host reached, as a share of what is usual for near hosts in the same test, message size
/// and rails: of a way that was measured several times the median, and of several rails or sizes the lowest.
struct ShareMatrix {
  std::size_t hosts = 0;      ///< by their place in Sweep::hosts
  std::vector<float> shares;  ///< receiver by receiver, `hosts` senders each: not a number: not measured; 0: it failed
  double usual = 0;           ///< bytes per second of share 1, in the test, size and rails with most readings; 0: none
  /// A line each for people: a test, size and rails of which no reading has a figure, and that are left out.
  std::vector<std::string> left_out;

  [[nodiscard]] float at(std::size_t receiver, std::size_t sender) const { return shares[receiver * hosts + sender]; }
};

/// Hosts that are far apart, or of the slower kind, are held against near ones of the faster kind too: so that groups
/// show, and a share says the same everywhere. Takes 4 bytes for any two hosts and 16 for a reading.
[[nodiscard]] ShareMatrix share_matrix(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
