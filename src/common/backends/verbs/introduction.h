#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/verbs/device.h"

namespace fabricbench::verbs {

/// What a rank tells the other rank of its pair, so that each can connect its queue pairs to the other's.
struct Introduction {
  std::string host;
  PortFacts port;
  std::vector<std::uint32_t> queue_pairs;       ///< numbers (QPN)
  std::vector<std::uint32_t> sequence_numbers;  ///< the first packet's (PSN), by queue pair
};

/// What travels; the GIDs among it. Facts that only concern the own side stay behind.
[[nodiscard]] std::string to_text(const Introduction& introduction);
/// Throws Error (failure) where the text is none of to_text's.
[[nodiscard]] Introduction parse_introduction(const std::string& text);

/// What both ends use; the same on both.
struct Agreement {
  int mtu = 0;          ///< bytes
  GidPair gids;         ///< of the pair's first rank and of its second
  int outstanding = 0;  ///< reads and atomics under way at once
};

/// Settles what both ends use. `mtu`, `outstanding` 0, and no `gid`: the best that both have. Throws Error (missing, or
/// usage where more was asked for than the ports can do) with both ends' facts.
[[nodiscard]] Agreement agree(const Introduction& first, const Introduction& second, std::int64_t mtu,
                              std::int64_t outstanding, const std::optional<std::int64_t>& gid);

}  // namespace fabricbench::verbs
