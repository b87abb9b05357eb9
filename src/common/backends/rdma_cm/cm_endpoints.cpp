#include "common/backends/rdma_cm/cm_endpoints.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/backends/verbs/explain.h"
#include "common/core/error.h"
#include "common/core/pattern.h"
#include "common/core/random.h"

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

/// In both directions of all connections.
std::uint64_t completions_needed(const EndpointSettings& settings) {
  return std::uint64_t{2} * settings.messages * settings.parallel;
}

void check_room(ibv_context* device, const EndpointSettings& settings) {
  ibv_device_attr limits{};
  verbs::check_returned(ibv_query_device(device, &limits), "ibv_query_device");
  const auto queue_pairs = static_cast<std::uint64_t>(std::max(limits.max_qp, 0));
  const auto completions = static_cast<std::uint64_t>(std::max(limits.max_cqe, 0));
  if (settings.parallel <= queue_pairs && completions_needed(settings) <= completions) return;
  throw UsageError(fmt::format(
      "{} connections at the same time with {} messages each way need {} queue pairs and {} completions, and {} has {} "
      "and {}; lower --parallel or -C",
      settings.parallel, settings.messages, settings.parallel, completions_needed(settings), settings.device,
      queue_pairs, completions));
}

/// What all endpoints of a side share. Made once, since connections come and go.
struct EndpointParts {
  /// Binds to the address, with a port chosen by the system. Throws Error (missing; usage if the device has too few
  /// queue pairs or completions).
  explicit EndpointParts(const EndpointSettings& given)
      : settings(given), anchor(channel.bind(given.gid, given.device, given.transport)) {
    check_room(anchor->verbs, settings);
    domain.reset(ibv_alloc_pd(anchor->verbs));
    verbs::check(domain != nullptr, "ibv_alloc_pd");
    completions.reset(
        ibv_create_cq(anchor->verbs, static_cast<int>(completions_needed(settings)), nullptr, nullptr, 0));
    verbs::check(completions != nullptr, "ibv_create_cq");
    const std::size_t messages = settings.parallel * settings.messages;
    sending.resize(std::max<std::size_t>(messages * settings.size, 1));
    receiving.resize(messages * slot_bytes(settings.size));
    send_region = register_memory(domain.get(), sending);
    receive_region = register_memory(domain.get(), receiving);
  }

  EndpointSettings settings;
  Channel channel;
  Identifier anchor;  // bound for this object's lifetime: it keeps the device open, and listens
  verbs::ProtectionDomain domain;
  verbs::CompletionQueue completions;
  std::vector<std::byte> sending;
  std::vector<std::byte> receiving;
  verbs::MemoryRegion send_region;
  verbs::MemoryRegion receive_region;
  SocketAddress peer;
  std::uint64_t secret = 0;  // of the accepting side
};

/// The number of the connection whose request has ended.
std::uint32_t number_of(const ibv_wc& completion) {
  return static_cast<std::uint32_t>(completion.wr_id >> kConnectionShift);
}

/// An endpoint over librdmacm. Events of its identifier have it as their context.
class CmEndpoint final : public Endpoint {
 public:
  /// Does not own the parts. `place`: the number of this endpoint among all, which decides its memory.
  CmEndpoint(EndpointParts& parts, std::size_t place) : parts_(parts), place_(place) { poison_receives(); }
  ~CmEndpoint() override { close(); }

  /// The number of the next connection.
  void begin(std::uint32_t connection) { number_ = connection; }
  /// Takes a connection request for this endpoint; `accept` answers it.
  void take_request(Identifier request) {
    identifier_ = std::move(request);
    identifier_->context = this;
  }
  /// Learns from an event of this endpoint where to send datagrams.
  void learn_from(const rdma_cm_event& event) {
    if (event.event != RDMA_CM_EVENT_ESTABLISHED || !parts_.settings.datagrams()) return;
    ibv_ah_attr attributes = event.param.ud.ah_attr;
    address_handle_.reset(ibv_create_ah(parts_.domain.get(), &attributes));
    verbs::check(address_handle_ != nullptr, "ibv_create_ah");
    remote_queue_pair_ = event.param.ud.qp_num;
    remote_key_ = event.param.ud.qkey;
  }
  /// `completion`: of a request with this endpoint's number, see number_of().
  [[nodiscard]] Completion read(const ibv_wc& completion) {
    Completion result{.endpoint = place_, .arrival = {}, .problem = {}};
    if (completion.status != IBV_WC_SUCCESS) {
      result.problem = {verbs::exit_status_of(completion.status), verbs::explain_status(completion.status)};
    } else if ((completion.opcode & IBV_WC_RECV) != 0) {
      try {
        result.arrival = arrival_of(completion);
      } catch (const Error& error) {
        result.problem = {error.status(), error.what()};
      }
    }
    return result;
  }
  void close() noexcept {
    address_handle_.reset();
    if (identifier_) poison_receives();
    identifier_.reset();
    remote_queue_pair_ = 0;
  }

  [[nodiscard]] std::size_t place() const { return place_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] bool has(const rdma_cm_id* identifier) const { return identifier_.get() == identifier; }
  /// Whether there is a connection, or one is being made.
  [[nodiscard]] bool is_open() const { return identifier_ != nullptr; }

  void resolve_address() override {
    const EndpointSettings& settings = parts_.settings;
    identifier_ = parts_.channel.make_identifier(settings.transport);
    identifier_->context = this;
    SocketAddress own(settings.gid, 0, settings.transport);
    check(rdma_resolve_addr(identifier_.get(), own.generic(), parts_.peer.generic(), resolving_ms(settings.limit)) == 0,
          "rdma_resolve_addr");
  }
  void resolve_route() override {
    check(rdma_resolve_route(identifier_.get(), resolving_ms(parts_.settings.limit)) == 0, "rdma_resolve_route");
  }
  void connect() override {
    make_queue_pair();
    rdma_conn_param parameters = connection_parameters();
    private_data_ = make_private_data(parts_.secret, number_);
    parameters.private_data = private_data_.data();
    parameters.private_data_len = sizeof private_data_;
    check(rdma_connect(identifier_.get(), &parameters) == 0, "rdma_connect");
  }
  void accept() override {
    make_queue_pair();
    rdma_conn_param parameters = connection_parameters();
    parameters.qp_num = identifier_->qp->qp_num;  // identifies the sender of datagrams
    check(rdma_accept(identifier_.get(), &parameters) == 0, "rdma_accept");
  }
  void disconnect() override { check(rdma_disconnect(identifier_.get()) == 0, "rdma_disconnect"); }
  [[nodiscard]] std::span<std::byte> message(std::uint32_t number) override {
    const Bytes size = parts_.settings.size;
    return std::span(parts_.sending).subspan((place_ * parts_.settings.messages + number) * size, size);
  }
  void send(std::uint32_t number) override {
    const Bytes size = parts_.settings.size;
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(message(number).data()), static_cast<std::uint32_t>(size),
                  parts_.send_region->lkey};
    ibv_send_wr request{};
    request.wr_id = request_number(number);
    request.sg_list = &piece;
    request.num_sge = size > 0 ? 1 : 0;
    request.opcode = IBV_WR_SEND_WITH_IMM;
    request.imm_data = htonl(number);
    request.send_flags = IBV_SEND_SIGNALED;
    if (parts_.settings.datagrams()) request.wr.ud = {address_handle_.get(), remote_queue_pair_, remote_key_};
    ibv_send_wr* refused = nullptr;
    verbs::check_returned(ibv_post_send(identifier_->qp, &request, &refused), "ibv_post_send");
  }

 private:
  void make_queue_pair() {
    const std::uint32_t messages = parts_.settings.messages;
    ibv_qp_init_attr attributes{};
    attributes.send_cq = parts_.completions.get();
    attributes.recv_cq = parts_.completions.get();
    attributes.qp_type = parts_.settings.datagrams() ? IBV_QPT_UD : IBV_QPT_RC;
    attributes.cap = {messages, messages, 1, 1, 0};
    check(rdma_create_qp(identifier_.get(), parts_.domain.get(), &attributes) == 0, "rdma_create_qp");
    for (std::uint32_t slot = 0; slot < messages; ++slot) post_receive(slot);
  }
  void post_receive(std::uint32_t slot) {
    const std::size_t bytes = parts_.settings.size + (parts_.settings.datagrams() ? kRouteHeader : 0);
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(receive_slot(slot)), static_cast<std::uint32_t>(bytes),
                  parts_.receive_region->lkey};
    ibv_recv_wr request{};
    request.wr_id = request_number(slot);
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* refused = nullptr;
    verbs::check_returned(ibv_post_recv(identifier_->qp, &request, &refused), "ibv_post_recv");
  }
  void poison_receives() {
    const std::size_t bytes = parts_.settings.messages * slot_bytes(parts_.settings.size);
    std::fill_n(receive_slot(0), bytes, static_cast<std::byte>(pattern::kPoisonByte));
  }
  /// Learns from a datagram where to send answers.
  void learn_sender(const ibv_wc& completion, std::uint32_t slot) {
    ibv_wc copy = completion;
    auto* header = reinterpret_cast<ibv_grh*>(receive_slot(slot));
    address_handle_.reset(ibv_create_ah_from_wc(parts_.domain.get(), &copy, header, identifier_->port_num));
    verbs::check(address_handle_ != nullptr, "ibv_create_ah_from_wc");
    remote_queue_pair_ = completion.src_qp;
  }
  [[nodiscard]] std::byte* receive_slot(std::uint32_t slot) {
    return parts_.receiving.data() + (place_ * parts_.settings.messages + slot) * slot_bytes(parts_.settings.size);
  }
  [[nodiscard]] std::uint64_t request_number(std::uint32_t slot) const {
    return std::uint64_t{number_} << kConnectionShift | slot;
  }
  [[nodiscard]] Arrival arrival_of(const ibv_wc& completion) {
    const auto slot = static_cast<std::uint32_t>(completion.wr_id);
    const bool datagrams = parts_.settings.datagrams();
    if (datagrams && !address_handle_) learn_sender(completion, slot);
    const std::size_t header = datagrams ? kRouteHeader : 0;
    return {ntohl(completion.imm_data), {receive_slot(slot) + header, completion.byte_len - header}};
  }

  EndpointParts& parts_;
  std::size_t place_;
  std::uint32_t number_ = 0;
  PrivateData private_data_{};  // sent in a connection request
  Identifier identifier_;
  verbs::AddressHandle address_handle_;
  std::uint32_t remote_queue_pair_ = 0;  // datagrams only, like the key
  std::uint32_t remote_key_ = RDMA_UDP_QKEY;
};

/// The endpoints of one side over librdmacm.
class OpenEndpoints final : public CmEndpoints {
 public:
  /// Throws Error as EndpointParts does.
  explicit OpenEndpoints(const EndpointSettings& settings) : parts_(settings) {
    for (std::size_t place = 0; place < settings.parallel; ++place) endpoints_.emplace_back(parts_, place);
  }

  /// Starts to accept connection requests, on the accepting side.
  [[nodiscard]] ListenInfo listen() override {
    constexpr std::size_t kLeast = 16;
    parts_.secret = draw_secret();
    return {listen_at(parts_.anchor.get(), std::max(kLeast, parts_.settings.parallel)), parts_.secret};
  }
  /// For the connecting side.
  void set_peer(const verbs::Gid& gid, const ListenInfo& listen_info) override {
    parts_.peer = SocketAddress(gid, listen_info.port, parts_.settings.transport);
    parts_.secret = listen_info.secret;
  }

  void begin(std::uint64_t first, std::size_t count) override {
    first_ = static_cast<std::uint32_t>(first);
    count_ = count;
    for (std::size_t endpoint = 0; endpoint < count; ++endpoint)
      endpoints_[endpoint].begin(first_ + static_cast<std::uint32_t>(endpoint));
  }
  [[nodiscard]] Endpoint& at(std::size_t endpoint) override { return endpoints_[endpoint]; }
  [[nodiscard]] std::optional<EndpointEvent> next_event(Seconds longest) override {
    Identifier turned_away;  // destroyed after the event is acknowledged, because destruction waits for that
    const PendingEvent event = parts_.channel.wait(longest);
    if (!event) return std::nullopt;
    auto* endpoint = static_cast<CmEndpoint*>(event->id->context);
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      Identifier request(event->id);
      endpoint = requested(*event);
      if (endpoint == nullptr) {
        (void)rdma_reject(request.get(), nullptr, 0);
        turned_away = std::move(request);
      } else {
        endpoint->take_request(std::move(request));
      }
    }
    if (endpoint == nullptr || !endpoint->has(event->id)) return EndpointEvent{};  // of nobody, or of an old connection
    endpoint->learn_from(*event);
    return EndpointEvent{endpoint->place(), {kind_of(event->event), event->status}};
  }
  /// Ignores completions of old connections.
  [[nodiscard]] std::vector<Completion> poll() override {
    std::array<ibv_wc, 16> found{};
    const int count = ibv_poll_cq(parts_.completions.get(), static_cast<int>(found.size()), found.data());
    if (count < 0) verbs::fail_poll(count);
    std::vector<Completion> completions;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      CmEndpoint* const endpoint = with_number(number_of(found.at(i)));
      if (endpoint != nullptr && endpoint->is_open()) completions.push_back(endpoint->read(found.at(i)));
    }
    return completions;
  }
  void close() noexcept override {
    for (CmEndpoint& endpoint : endpoints_) endpoint.close();
  }

 private:
  /// The endpoint that a connection request is for. Anybody may connect to a port: null if the request is not the other
  /// side's next one.
  [[nodiscard]] CmEndpoint* requested(const rdma_cm_event& request) {
    const std::optional<std::uint32_t> number = number_in(request, parts_.settings.transport, parts_.secret);
    CmEndpoint* const endpoint = number ? with_number(*number) : nullptr;
    return endpoint != nullptr && !endpoint->is_open() ? endpoint : nullptr;
  }
  [[nodiscard]] CmEndpoint* with_number(std::uint32_t connection) {
    const std::uint32_t place = connection - first_;
    return place < count_ ? &endpoints_[place] : nullptr;
  }

  EndpointParts parts_;
  std::deque<CmEndpoint> endpoints_;
  std::uint32_t first_ = 0;  // number of the first endpoint's connection
  std::size_t count_ = 0;    // endpoints in use
};

}  // namespace

std::unique_ptr<CmEndpoints> open_endpoints(const EndpointSettings& settings) {
  return std::make_unique<OpenEndpoints>(settings);
}

}  // namespace fabricbench::rdma_cm
