#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/backends/sockets/address.h"

namespace fabricbench::sockets {

/// Gives every rank's text, by rank, on every rank. Collective.
using Gather = std::function<std::vector<std::string>(const std::string&)>;

/// What a rank tells the others of itself.
struct Announcement {
  std::string host;                 ///< as TcpSettings has it
  std::string network;              ///< likewise
  std::uint64_t job = 0;            ///< a number drawn at random; rank 0's tells this job's connections from others
  std::vector<Endpoint> endpoints;  ///< where it listens
};

[[nodiscard]] std::string to_text(const Announcement& announcement);
[[nodiscard]] Announcement parse_announcement(const std::string& text);

/// Every rank's result of `make`, by rank, on every rank. Where `make` throws on one rank, every rank throws the Error
/// of the first such rank, named by its number and `host`.
[[nodiscard]] std::vector<std::string> exchange(const Gather& gather, const std::string& host,
                                                const std::function<std::string()>& make);

}  // namespace fabricbench::sockets
