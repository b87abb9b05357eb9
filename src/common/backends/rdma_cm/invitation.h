#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/backends/rdma_cm/handles.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

/// Where a side listens, and the secret that connection requests must bring. It goes to the other rank over MPI.
struct Invitation {
  std::uint16_t port = 0;  ///< 0: it does not listen
  std::uint64_t secret = 0;
};

[[nodiscard]] std::string to_text(const Invitation& invitation);
/// `text`: from to_text().
[[nodiscard]] Invitation parse_invitation(const std::string& text);

/// What a connection request carries as its private data: the secret of the side that is asked, and a number that both
/// sides know the connection by, in network byte order.
using Ticket = std::array<std::byte, sizeof(std::uint64_t) + sizeof(std::uint32_t)>;

[[nodiscard]] Ticket make_ticket(std::uint64_t secret, std::uint32_t number);
/// The number; empty if the request has no ticket with this secret: it is a stranger's.
[[nodiscard]] std::optional<std::uint32_t> number_in(const rdma_cm_event& request, Transport transport,
                                                     std::uint64_t secret);

}  // namespace fabricbench::rdma_cm
