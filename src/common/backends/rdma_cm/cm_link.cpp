#include "common/backends/rdma_cm/cm_link.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/backends/rdma_cm/check.h"
#include "common/backends/verbs/explain.h"
#include "common/core/error.h"
#include "common/core/pattern.h"

namespace fabricbench::rdma_cm {
namespace {

constexpr std::uint8_t kMostRetries = 7;
constexpr std::size_t kRouteHeader = sizeof(ibv_grh);  // before the data of a received datagram
constexpr int kConnectionShift = 32;

/// Bytes for a received message with its header; headers are aligned.
std::size_t slot_bytes(Bytes size) {
  constexpr std::size_t kAlignment = 8;
  return kRouteHeader + (size + kAlignment - 1) / kAlignment * kAlignment;
}

rdma_conn_param connection_parameters() {
  rdma_conn_param parameters{};
  parameters.retry_count = kMostRetries;
  parameters.rnr_retry_count = kMostRetries;
  return parameters;
}

verbs::MemoryRegion register_memory(ibv_pd* domain, std::vector<std::byte>& memory) {
  constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE;  // without this, ibv_reg_mr, a macro, mixes enumerations
  verbs::MemoryRegion region(ibv_reg_mr(domain, memory.data(), memory.size(), kAccess));
  if (!region) throw Error(ExitStatus::kMissing, verbs::explain_registration(errno, memory.size()));
  return region;
}

}  // namespace

CmLink::CmLink(const LinkSettings& settings)
    : settings_(settings), anchor_(channel_.bind(settings.gid, settings.device, settings.transport)) {
  make_shared_parts();
}

void CmLink::make_shared_parts() {
  domain_.reset(ibv_alloc_pd(anchor_->verbs));
  verbs::check(domain_ != nullptr, "ibv_alloc_pd");
  completions_.reset(ibv_create_cq(anchor_->verbs, static_cast<int>(2 * settings_.messages), nullptr, nullptr, 0));
  verbs::check(completions_ != nullptr, "ibv_create_cq");
  sending_.resize(std::max<std::size_t>(settings_.messages * settings_.size, 1));
  receiving_.resize(settings_.messages * slot_bytes(settings_.size));
  send_region_ = register_memory(domain_.get(), sending_);
  receive_region_ = register_memory(domain_.get(), receiving_);
  poison_receives();
}

std::uint16_t CmLink::listen() { return listen_at(anchor_.get()); }

void CmLink::set_peer(const verbs::Gid& gid, std::uint16_t port) {
  peer_ = SocketAddress(gid, port, settings_.transport);
}

void CmLink::resolve_address() {
  connection_ = channel_.make_identifier(settings_.transport);
  SocketAddress own(settings_.gid, 0, settings_.transport);
  check(rdma_resolve_addr(connection_.get(), own.generic(), peer_.generic(), resolving_ms(settings_.limit)) == 0,
        "rdma_resolve_addr");
}

void CmLink::resolve_route() {
  check(rdma_resolve_route(connection_.get(), resolving_ms(settings_.limit)) == 0, "rdma_resolve_route");
}

void CmLink::connect() {
  make_queue_pair();
  rdma_conn_param parameters = connection_parameters();
  check(rdma_connect(connection_.get(), &parameters) == 0, "rdma_connect");
}

void CmLink::accept() {
  connection_ = std::move(requested_);
  make_queue_pair();
  rdma_conn_param parameters = connection_parameters();
  parameters.qp_num = connection_->qp->qp_num;  // identifies the sender of datagrams
  check(rdma_accept(connection_.get(), &parameters) == 0, "rdma_accept");
}

void CmLink::disconnect() { check(rdma_disconnect(connection_.get()) == 0, "rdma_disconnect"); }

void CmLink::make_queue_pair() {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = completions_.get();
  attributes.recv_cq = completions_.get();
  attributes.qp_type = datagrams() ? IBV_QPT_UD : IBV_QPT_RC;
  attributes.cap = {settings_.messages, settings_.messages, 1, 1, 0};
  check(rdma_create_qp(connection_.get(), domain_.get(), &attributes) == 0, "rdma_create_qp");
  ++made_;
  for (std::uint32_t slot = 0; slot < settings_.messages; ++slot) post_receive(slot);
}

std::uint64_t CmLink::identifier_of(std::uint32_t slot) const {
  return std::uint64_t{made_} << kConnectionShift | slot;
}

std::byte* CmLink::receive_slot(std::uint32_t slot) { return receiving_.data() + slot * slot_bytes(settings_.size); }

void CmLink::post_receive(std::uint32_t slot) {
  const std::size_t bytes = settings_.size + (datagrams() ? kRouteHeader : 0);
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(receive_slot(slot)), static_cast<std::uint32_t>(bytes),
                receive_region_->lkey};
  ibv_recv_wr request{};
  request.wr_id = identifier_of(slot);
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  verbs::check_returned(ibv_post_recv(connection_->qp, &request, &refused), "ibv_post_recv");
}

void CmLink::poison_receives() {
  std::fill(receiving_.begin(), receiving_.end(), static_cast<std::byte>(pattern::kPoisonByte));
}

void CmLink::close() noexcept {
  address_handle_.reset();
  requested_.reset();
  if (connection_) poison_receives();
  connection_.reset();
  remote_queue_pair_ = 0;
}

std::optional<Event> CmLink::next_event(Seconds longest) {
  const PendingEvent event = channel_.wait(longest);
  if (!event) return std::nullopt;
  const bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
  if (!request && event->id != connection_.get()) return Event{};  // of an old connection
  learn_from(*event);
  return Event{kind_of(event->event), event->status};
}

void CmLink::learn_from(const rdma_cm_event& event) {
  if (event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
    requested_.reset(event.id);
  } else if (event.event == RDMA_CM_EVENT_ESTABLISHED && datagrams()) {
    ibv_ah_attr attributes = event.param.ud.ah_attr;
    address_handle_.reset(ibv_create_ah(domain_.get(), &attributes));
    verbs::check(address_handle_ != nullptr, "ibv_create_ah");
    remote_queue_pair_ = event.param.ud.qp_num;
    remote_key_ = event.param.ud.qkey;
  }
}

std::span<std::byte> CmLink::message(std::uint32_t number) {
  return std::span(sending_).subspan(number * settings_.size, settings_.size);
}

void CmLink::send(std::uint32_t number) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(message(number).data()), static_cast<std::uint32_t>(settings_.size),
                send_region_->lkey};
  ibv_send_wr request{};
  request.wr_id = identifier_of(number);
  request.sg_list = &piece;
  request.num_sge = settings_.size > 0 ? 1 : 0;
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.imm_data = htonl(number);
  request.send_flags = IBV_SEND_SIGNALED;
  if (datagrams()) request.wr.ud = {address_handle_.get(), remote_queue_pair_, remote_key_};
  ibv_send_wr* refused = nullptr;
  verbs::check_returned(ibv_post_send(connection_->qp, &request, &refused), "ibv_post_send");
}

Completions CmLink::poll() {
  std::array<ibv_wc, 16> found{};
  const int count = ibv_poll_cq(completions_.get(), static_cast<int>(found.size()), found.data());
  if (count < 0) verbs::fail("ibv_poll_cq", errno);
  Completions completions;
  for (int i = 0; i < count; ++i) take(found.at(static_cast<std::size_t>(i)), completions);
  return completions;
}

/// Ignores completions of old connections.
void CmLink::take(const ibv_wc& completion, Completions& completions) {
  if (completion.wr_id >> kConnectionShift != made_) return;
  if (completion.status != IBV_WC_SUCCESS) {
    throw Error(verbs::exit_status_of(completion.status), verbs::explain_status(completion.status));
  }
  if ((completion.opcode & IBV_WC_RECV) == 0) {
    ++completions.sent;
    return;
  }
  const auto slot = static_cast<std::uint32_t>(completion.wr_id);
  if (datagrams() && !address_handle_) learn_sender(completion, slot);
  const std::size_t header = datagrams() ? kRouteHeader : 0;
  completions.arrivals.push_back(
      {ntohl(completion.imm_data), {receive_slot(slot) + header, completion.byte_len - header}});
}

/// Learns from a datagram where to send answers.
void CmLink::learn_sender(const ibv_wc& completion, std::uint32_t slot) {
  ibv_wc copy = completion;
  auto* header = reinterpret_cast<ibv_grh*>(receive_slot(slot));
  address_handle_.reset(ibv_create_ah_from_wc(domain_.get(), &copy, header, connection_->port_num));
  verbs::check(address_handle_ != nullptr, "ibv_create_ah_from_wc");
  remote_queue_pair_ = completion.src_qp;
}

}  // namespace fabricbench::rdma_cm
