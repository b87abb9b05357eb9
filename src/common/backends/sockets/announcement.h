#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/backends/sockets/address.h"

namespace fabricbench::sockets {

/// Gives every rank's text, by rank, on every rank. Collective.
using Gather = std::function<std::vector<std::string>(const std::string&)>;

/// A rank's description of itself for the others.
struct Announcement {
  std::string name;                      ///< as in TcpSettings
  std::string network;                   ///< as in TcpSettings
  std::uint64_t job = 0;                 ///< a random number; rank 0's identifies this job's connections
  std::vector<SocketAddress> endpoints;  ///< the endpoints at which it listens
};

[[nodiscard]] std::string to_text(const Announcement& announcement);
[[nodiscard]] Announcement parse_announcement(const std::string& text);

/// Gathers every rank's result of `make`, by rank, on every rank. If `make` throws on some ranks, every rank throws the
/// Error of the first such rank, with its `name`.
[[nodiscard]] std::vector<std::string> exchange(const Gather& gather, const std::string& name,
                                                const std::function<std::string()>& make);

}  // namespace fabricbench::sockets
