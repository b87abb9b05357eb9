#include "common/backends/verbs/loopback.h"

#include "common/backends/verbs/direct_connector.h"

namespace fabricbench::verbs {

Loopback::Loopback(const OpenDevice& device, const Meeting& meeting, bool data_direct)
    : connection_(device, ConnectionSettings{.data_direct = data_direct}),
      read_(std::make_unique<std::array<std::byte, 8>>()),
      read_region_(connection_.register_memory(read_->data(), read_->size())) {
  Meeting own = meeting;
  own.transport = Transport::kRc;
  own.own = connection_.introduction(meeting.own.host);
  own.peer = own.own;
  const int gid = meeting.own_gid().index;
  own.agreed.gids = {gid, gid, meeting.agreed.gids.description};
  DirectConnector connector;
  connection_.connect(connector, own, connector.invite(own));
}

LocalPart Loopback::into() { return {read_->data(), static_cast<std::uint32_t>(read_->size()), read_region_->lkey}; }

std::uint32_t Loopback::make_known(BufferSource& source, std::span<std::byte> memory) {
  known_ = connection_.register_block(source, memory.data(), memory.size()).region;
  return known_->rkey;
}

}  // namespace fabricbench::verbs
