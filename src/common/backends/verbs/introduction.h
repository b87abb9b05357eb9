#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/verbs/device.h"

namespace fabricbench::verbs {

/// The data that the ranks of a pair exchange, so that each can connect its queue pairs to the other's.
struct Introduction {
  std::string host;
  PortFacts port;
  std::vector<std::uint32_t> queue_pairs;       ///< numbers (QPN)
  std::vector<std::uint32_t> sequence_numbers;  ///< the first packet's (PSN), by queue pair
};

/// The transmitted form, including the GIDs. Facts that concern only the own side are left out.
[[nodiscard]] std::string to_text(const Introduction& introduction);
/// Throws Error (failure) unless to_text produced the text.
[[nodiscard]] Introduction parse_introduction(const std::string& text);

/// The settings of both ends; the same on both.
struct Agreement {
  int mtu = 0;          ///< bytes
  GidPair gids;         ///< of the pair's first and second rank
  int outstanding = 0;  ///< reads and atomics in flight
};

/// Agrees on the settings of both ends. `mtu` or `outstanding` 0, or no `gid`: the best that both support. Throws Error
/// with both ends' facts: missing, or usage if more was asked for than the ports support.
[[nodiscard]] Agreement agree(const Introduction& first, const Introduction& second, std::int64_t mtu,
                              std::int64_t outstanding, const std::optional<std::int64_t>& gid);

}  // namespace fabricbench::verbs
