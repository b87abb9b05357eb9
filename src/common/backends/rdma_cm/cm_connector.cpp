#include "common/backends/rdma_cm/cm_connector.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/backends/rdma_cm/channel.h"
#include "common/backends/verbs/explain.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/random.h"
#include "common/record/packing.h"

namespace fabricbench::rdma_cm {
namespace {

struct HandshakeSettings {
  Seconds limit = 5;  ///< of a step
  std::string peer;   ///< such as `rank 1 on node-07 (10.0.0.7)`
  std::function<Seconds()> clock;
};

/// Carries out the steps of a queue pair's handshake. All methods throw Error with the step, the peer and likely
/// causes: timeout if no event came in time, or if rdma_cm reported that none will, else the status of the call that
/// failed.
class HandshakeSteps {
 public:
  /// Does not own the handshake.
  HandshakeSteps(QueuePairHandshake& handshake, HandshakeSettings settings)
      : handshake_(handshake), settings_(std::move(settings)) {}

  /// Waits for an event, for at most `limit`.
  void await(EventKind wanted, ConnectStep step, Seconds limit) const {
    const Seconds began = settings_.clock();
    for (Seconds left = limit; left > 0; left = limit - (settings_.clock() - began)) {
      std::optional<Event> event;
      attempt(step, [&] { event = handshake_.next_event(left); });
      if (!event || event->kind == EventKind::kOther) continue;
      if (event->kind == wanted) return;
      fail(ExitStatus::kTimeout, step, explain(*event));
    }
    fail(ExitStatus::kTimeout, step, explain_silence(step, limit));
  }
  void await(EventKind wanted, ConnectStep step) const { await(wanted, step, settings_.limit); }
  /// Calls `act`, which throws Error without the peer's name.
  void attempt(ConnectStep step, const std::function<void()>& act) const {
    try {
      act();
    } catch (const Error& error) {
      fail(error.status(), step, error.what());
    }
  }
  void take(ConnectStep step, EventKind answer, const std::function<void()>& start) const {
    attempt(step, start);
    await(answer, step);
  }

 private:
  [[noreturn]] void fail(ExitStatus status, ConnectStep step, const std::string& why) const {
    throw Error(status, in_step(step, settings_.peer, why));
  }

  QueuePairHandshake& handshake_;
  HandshakeSettings settings_;
};

void call(QueuePairHandshake& handshake, const HandshakeSteps& steps, bool datagrams) {
  const EventKind answer = datagrams ? EventKind::kEstablished : EventKind::kConnectResponse;
  steps.take(ConnectStep::kResolveAddress, EventKind::kAddressResolved, [&] { handshake.resolve_address(); });
  steps.take(ConnectStep::kResolveRoute, EventKind::kRouteResolved, [&] { handshake.resolve_route(); });
  steps.take(ConnectStep::kConnect, answer, [&] { handshake.connect(); });
  steps.attempt(ConnectStep::kConnect, [&] { handshake.establish(); });
}

/// The calling side resolves first, with a time limit for each of the two steps.
void answer(QueuePairHandshake& handshake, const HandshakeSteps& steps, bool datagrams, Seconds limit) {
  steps.await(EventKind::kConnectRequest, ConnectStep::kConnect, 3 * limit);
  steps.attempt(ConnectStep::kConnect, [&] { handshake.accept(); });
  if (!datagrams) steps.await(EventKind::kEstablished, ConnectStep::kConnect);
}

QueuePairSettings settings_of(const verbs::NegotiatedSettings& negotiated) {
  const auto peer = [&negotiated](int queue_pair) {
    return fmt::format("{} port {} of host {}, queue pair {:#x} ({})", negotiated.peer.port.device,
                       negotiated.peer.port.port, negotiated.peer.host,
                       negotiated.peer.queue_pairs.at(static_cast<std::size_t>(queue_pair)),
                       verbs::describe(negotiated.peer_gid()));
  };
  return {negotiated.transport,
          static_cast<int>(negotiated.own.queue_pairs.size()),
          negotiated.first,
          negotiated.limit,
          peer,
          now};
}

/// Connects queue pairs of a device that was opened without librdmacm: it determines their attributes, which are set
/// here. So an connection does not depend on how it was connected.
class CmQueuePairs final : public QueuePairHandshake {
 public:
  /// Binds to the address of the own GID. Throws Error (missing).
  explicit CmQueuePairs(const verbs::NegotiatedSettings& negotiated)
      : negotiated_(negotiated),
        anchor_(channel_.bind(negotiated.own_gid(), negotiated.own.port.device, negotiated.transport)) {
    set_traffic_class(anchor_.get());
  }

  /// Starts to accept connection requests.
  [[nodiscard]] ListenInfo listen() {
    own_secret_ = draw_secret();
    return {listen_at(anchor_.get()), own_secret_};
  }
  /// The queue pairs to connect, and where the other rank listens.
  void take(const verbs::OwnQueuePairs& own, const ListenInfo& peer) {
    domain_ = own.domain;
    queue_pairs_ = own.all;
    ready_.assign(own.all.size(), false);
    peer_ = SocketAddress(negotiated_.peer_gid(), peer.port, negotiated_.transport);
    peer_secret_ = peer.secret;
    connected_.mtu = negotiated_.agreed.mtu;
  }
  /// The result. No further requests are taken.
  /// A datagram's peer may ask again, if the answer was lost.
  [[nodiscard]] verbs::Connected connected() {
    if (!datagrams()) anchor_.reset();
    return std::move(connected_);
  }

  void begin(int queue_pair) override {
    which_ = static_cast<std::size_t>(queue_pair);
    is_done_ = false;
  }
  void resolve_address() override {
    connection_ = channel_.make_identifier(negotiated_.transport);
    set_traffic_class(connection_.get());
    SocketAddress own(negotiated_.own_gid(), 0, negotiated_.transport);
    check(rdma_resolve_addr(connection_.get(), own.generic(), peer_.generic(), resolving_ms(negotiated_.limit)) == 0,
          "rdma_resolve_addr");
  }
  void resolve_route() override {
    check(rdma_resolve_route(connection_.get(), resolving_ms(negotiated_.limit)) == 0, "rdma_resolve_route");
  }
  void connect() override {
    rdma_conn_param asked = parameters();
    private_data_ = make_private_data(peer_secret_, asked.qp_num);
    asked.private_data = private_data_.data();
    asked.private_data_len = sizeof private_data_;
    check(rdma_connect(connection_.get(), &asked) == 0, "rdma_connect");
  }
  void establish() override {
    make_ready();
    if (!datagrams()) check(rdma_establish(connection_.get()) == 0, "rdma_establish");
    keep_connection();
  }
  void accept() override {
    make_ready();
    rdma_conn_param given = parameters();
    check(rdma_accept(connection_.get(), &given) == 0, "rdma_accept");
    keep_connection();
  }
  [[nodiscard]] std::optional<Event> next_event(Seconds longest) override {
    if (take_request()) return Event{EventKind::kConnectRequest, 0};
    Identifier turned_away;  // destroyed after the event is acknowledged, because destruction waits for that
    const PendingEvent event = channel_.wait(longest);
    if (!event) return std::nullopt;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      turned_away = std::exchange(request_, Identifier(event->id));
      requesting_ = number_in(*event, negotiated_.transport, own_secret_).value_or(0);
      return Event{};  // the next call handles it
    }
    const bool is_last = !connections_.empty() && event->id == connections_.back().get();
    if (event->id != connection_.get() && !is_last) return Event{};
    learn_from(*event);
    return Event{kind_of(event->event), event->status};
  }

 private:
  void learn_from(const rdma_cm_event& event) {
    if (!datagrams() || event.event != RDMA_CM_EVENT_ESTABLISHED) return;
    connected_.peer_key = event.param.ud.qkey;
    if (connected_.to_peer) return;  // one path serves all queue pairs
    ibv_ah_attr way = event.param.ud.ah_attr;
    connected_.to_peer.reset(ibv_create_ah(domain_, &way));
    verbs::check(connected_.to_peer != nullptr, "ibv_create_ah");
  }
  /// Whether the peer has asked for a connection to this queue pair. A request that comes while this side still
  /// connects, or before it knows that the previous connection is established, is kept for later. Requests from anybody
  /// else are rejected: anybody may connect to a port.
  [[nodiscard]] bool take_request() {
    if (!request_ || connection_ || is_done_) return false;
    connection_ = std::move(request_);
    if (requesting_ == negotiated_.peer.queue_pairs.at(which_)) return true;
    (void)rdma_reject(connection_.get(), nullptr, 0);
    connection_.reset();
    return false;
  }
  void make_ready() {
    if (ready_[which_]) return;
    int mask = 0;
    const ibv_qp_attr initial = attributes_for(IBV_QPS_INIT, mask);
    verbs::make_initial(queue_pair(), {.transport = negotiated_.transport,
                                       .port = initial.port_num,
                                       .partition = initial.pkey_index,
                                       .queue_key = initial.qkey,
                                       .atomics = negotiated_.own.port.atomics});
    if (datagrams()) {
      verbs::make_ready_for_datagrams(queue_pair(), negotiated_.own.sequence_numbers.at(which_));
    } else {
      make_ready_to_receive(queue_pair());
      make_ready_to_send(queue_pair());
    }
    ready_[which_] = true;
  }
  /// An address may stand for several GIDs, of RoCE v1 and v2, and the kernel chooses among them.
  void make_ready_to_receive(ibv_qp* queue_pair) {
    int mask = 0;
    ibv_qp_attr attributes = attributes_for(IBV_QPS_RTR, mask);
    const int agreed = negotiated_.own_gid().index;
    if (attributes.ah_attr.is_global != 0 && attributes.ah_attr.grh.sgid_index != agreed) {
      throw Error(
          ExitStatus::kMissing,
          fmt::format("rdma_cm took GID index {} for the address of index {}; name the former with -x, or set "
                      "the RoCE mode of the port for rdma_cm (default_roce_mode below /sys/kernel/config/rdma_cm)",
                      attributes.ah_attr.grh.sgid_index, agreed));
    }
    attributes.path_mtu = std::min(attributes.path_mtu, verbs::mtu_code(negotiated_.agreed.mtu));
    connected_.mtu = verbs::bytes_of(attributes.path_mtu);
    verbs::set_limits_to_receive(attributes, mask, negotiated_.transport, negotiated_.agreed.outstanding);
    verbs::modify(queue_pair, attributes, mask, "RTR");
  }
  void make_ready_to_send(ibv_qp* queue_pair) {
    int mask = 0;
    ibv_qp_attr attributes = attributes_for(IBV_QPS_RTS, mask);
    verbs::set_limits_to_send(attributes, mask, negotiated_.transport, negotiated_.agreed.outstanding,
                              negotiated_.retransmission);
    verbs::modify(queue_pair, attributes, mask, "RTS");
  }
  void keep_connection() {
    connections_.push_back(std::move(connection_));
    is_done_ = true;
  }
  [[nodiscard]] ibv_qp_attr attributes_for(ibv_qp_state state, int& mask) const {
    ibv_qp_attr attributes{};
    attributes.qp_state = state;
    check(rdma_init_qp_attr(connection_.get(), &attributes, &mask) == 0, "rdma_init_qp_attr");
    return attributes;
  }
  /// Without a value, the host's default for rdma_cm holds.
  void set_traffic_class(rdma_cm_id* identifier) const {
    if (negotiated_.traffic_class == 0) return;
    auto traffic_class = static_cast<std::uint8_t>(negotiated_.traffic_class);
    check(rdma_set_option(identifier, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &traffic_class, sizeof traffic_class) == 0,
          "rdma_set_option (traffic class)");
  }
  [[nodiscard]] rdma_conn_param parameters() const {
    constexpr std::uint8_t kRetries = 7;  // the maximum
    rdma_conn_param parameters{};
    parameters.responder_resources = static_cast<std::uint8_t>(negotiated_.agreed.outstanding);
    parameters.initiator_depth = static_cast<std::uint8_t>(negotiated_.agreed.outstanding);
    parameters.retry_count = kRetries;
    parameters.rnr_retry_count = kRetries;
    parameters.srq = queue_pair()->srq != nullptr ? 1 : 0;
    parameters.qp_num = queue_pair()->qp_num;
    return parameters;
  }
  [[nodiscard]] ibv_qp* queue_pair() const { return queue_pairs_[which_].get(); }
  [[nodiscard]] bool datagrams() const { return negotiated_.transport == Transport::kUd; }

  verbs::NegotiatedSettings negotiated_;
  Channel channel_;
  Identifier anchor_;  // bound and listening
  SocketAddress peer_;
  std::uint64_t own_secret_ = 0;
  std::uint64_t peer_secret_ = 0;
  ibv_pd* domain_ = nullptr;
  std::span<const verbs::QueuePair> queue_pairs_;
  std::size_t which_ = 0;
  bool is_done_ = false;          // on this side
  PrivateData private_data_{};    // sent in a connection request
  Identifier request_;            // the last one not handled yet
  std::uint32_t requesting_ = 0;  // the queue pair that it claims to come from
  Identifier connection_;
  std::vector<Identifier> connections_;  // established ones: they end with their identifiers
  std::vector<bool> ready_;
  verbs::Connected connected_;
};

class CmConnector final : public verbs::Connector {
 public:
  [[nodiscard]] std::vector<verbs::Gid> usable_gids(const verbs::PortFacts& port,
                                                    const std::optional<std::int64_t>& asked) const override {
    return addressable(port, asked);
  }
  [[nodiscard]] std::string listen(const verbs::NegotiatedSettings& negotiated) override {
    queue_pairs_ = std::make_unique<CmQueuePairs>(negotiated);
    const bool is_called = !negotiated.first || negotiated.transport == Transport::kUd;
    return record::pack(is_called ? queue_pairs_->listen() : ListenInfo{});
  }
  /// Throws only failure and timeout, because the other rank is waiting.
  [[nodiscard]] verbs::Connected connect(const verbs::NegotiatedSettings& negotiated, const verbs::OwnQueuePairs& own,
                                         const std::string& listen_info) override {
    queue_pairs_->take(own, record::unpack<ListenInfo>(listen_info));
    try {
      connect_queue_pairs(*queue_pairs_, settings_of(negotiated));
    } catch (const Error& error) {
      throw Error(error.status() == ExitStatus::kTimeout ? ExitStatus::kTimeout : ExitStatus::kFailure,
                  fmt::format("rdma_cm: {}; {}", error.what(),
                              verbs::own_port_text(own.device.port, verbs::current_state(own.device))));
    }
    return queue_pairs_->connected();
  }
  [[nodiscard]] std::string description() const override { return "connected by rdma_cm"; }

 private:
  std::unique_ptr<CmQueuePairs> queue_pairs_;  // destroyed last: the connections end with it
};

}  // namespace

void connect_queue_pairs(QueuePairHandshake& handshake, const QueuePairSettings& settings) {
  const bool datagrams = settings.transport == Transport::kUd;
  const int directions = datagrams ? 2 : 1;
  for (int direction = 0; direction < directions; ++direction) {
    const bool calls = settings.first == (direction == 0);
    for (int i = 0; i < settings.queue_pairs; ++i) {
      const HandshakeSteps steps(handshake, {settings.limit, settings.peer(i), settings.clock});
      handshake.begin(i);
      if (calls) {
        call(handshake, steps, datagrams);
      } else {
        answer(handshake, steps, datagrams, settings.limit);
      }
    }
  }
}

std::unique_ptr<verbs::Connector> make_cm_connector() { return std::make_unique<CmConnector>(); }

}  // namespace fabricbench::rdma_cm
