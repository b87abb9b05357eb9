#include "common/backends/rdma_cm/cm_links.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/backends/rdma_cm/check.h"
#include "common/backends/verbs/explain.h"
#include "common/core/secret.h"

namespace fabricbench::rdma_cm {

CmLinks::CmLinks(const LinkSettings& settings) : parts_(settings) {
  for (std::size_t place = 0; place < settings.parallel; ++place) links_.emplace_back(parts_, place);
}

Invitation CmLinks::listen() {
  constexpr std::size_t kLeast = 16;
  parts_.secret = draw_secret();
  return {listen_at(parts_.anchor.get(), std::max(kLeast, parts_.settings.parallel)), parts_.secret};
}

void CmLinks::set_peer(const verbs::Gid& gid, const Invitation& invitation) {
  parts_.peer = SocketAddress(gid, invitation.port, parts_.settings.transport);
  parts_.secret = invitation.secret;
}

void CmLinks::begin(std::uint64_t first, std::size_t count) {
  first_ = static_cast<std::uint32_t>(first);
  count_ = count;
  for (std::size_t link = 0; link < count; ++link) links_[link].begin(first_ + static_cast<std::uint32_t>(link));
}

std::optional<LinkEvent> CmLinks::next_event(Seconds longest) {
  Identifier turned_away;  // destroyed after the event is acknowledged, because destruction waits for that
  const PendingEvent event = parts_.channel.wait(longest);
  if (!event) return std::nullopt;
  auto* link = static_cast<CmLink*>(event->id->context);
  if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
    Identifier request(event->id);
    link = requested(*event);
    if (link == nullptr) {
      (void)rdma_reject(request.get(), nullptr, 0);
      turned_away = std::move(request);
    } else {
      link->take_request(std::move(request));
    }
  }
  if (link == nullptr || !link->has(event->id)) return LinkEvent{};  // of nobody, or of an old connection
  link->learn_from(*event);
  return LinkEvent{link->place(), {kind_of(event->event), event->status}};
}

/// The link that a connection request is for. Anybody may connect to a port: null if the request is not the other
/// side's next one.
CmLink* CmLinks::requested(const rdma_cm_event& request) {
  const std::optional<std::uint32_t> number = number_in(request, parts_.settings.transport, parts_.secret);
  CmLink* const link = number ? with_number(*number) : nullptr;
  return link != nullptr && !link->is_open() ? link : nullptr;
}

CmLink* CmLinks::with_number(std::uint32_t connection) {
  const std::uint32_t place = connection - first_;
  return place < count_ ? &links_[place] : nullptr;
}

/// Ignores completions of old connections.
std::vector<Completion> CmLinks::poll() {
  std::array<ibv_wc, 16> found{};
  const int count = ibv_poll_cq(parts_.completions.get(), static_cast<int>(found.size()), found.data());
  if (count < 0) verbs::fail_poll(count);
  std::vector<Completion> completions;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    CmLink* const link = with_number(number_of(found.at(i)));
    if (link != nullptr && link->is_open()) completions.push_back(link->read(found.at(i)));
  }
  return completions;
}

void CmLinks::close() noexcept {
  for (CmLink& link : links_) link.close();
}

}  // namespace fabricbench::rdma_cm
