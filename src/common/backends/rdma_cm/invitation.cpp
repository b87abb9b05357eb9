#include "common/backends/rdma_cm/invitation.h"

#include <endian.h>

#include <cstring>
#include <sstream>

#include <fmt/format.h>

namespace fabricbench::rdma_cm {

std::string to_text(const Invitation& invitation) { return fmt::format("{} {}", invitation.port, invitation.secret); }

Invitation parse_invitation(const std::string& text) {
  Invitation invitation;
  std::istringstream(text) >> invitation.port >> invitation.secret;
  return invitation;
}

Ticket make_ticket(std::uint64_t secret, std::uint32_t number) {
  const std::uint64_t first = htobe64(secret);
  const std::uint32_t second = htobe32(number);
  Ticket ticket{};
  std::memcpy(ticket.data(), &first, sizeof first);
  std::memcpy(ticket.data() + sizeof first, &second, sizeof second);
  return ticket;
}

std::optional<std::uint32_t> number_in(const rdma_cm_event& request, Transport transport, std::uint64_t secret) {
  const bool datagrams = transport == Transport::kUd;
  const void* const data = datagrams ? request.param.ud.private_data : request.param.conn.private_data;
  const std::size_t bytes = datagrams ? request.param.ud.private_data_len : request.param.conn.private_data_len;
  std::uint32_t number = 0;
  if (data == nullptr || bytes < sizeof(Ticket)) return std::nullopt;
  std::memcpy(&number, static_cast<const std::byte*>(data) + sizeof secret, sizeof number);
  number = be32toh(number);
  const Ticket wanted = make_ticket(secret, number);
  return std::memcmp(data, wanted.data(), wanted.size()) == 0 ? std::optional(number) : std::nullopt;
}

}  // namespace fabricbench::rdma_cm
