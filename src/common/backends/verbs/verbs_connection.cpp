#include "common/backends/verbs/verbs_connection.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "common/backends/verbs/explain.h"
#include "common/backends/verbs/provider_transport.h"
#include "common/core/error.h"
#include "common/core/memory.h"
#include "common/core/units.h"

namespace fabricbench::verbs {
namespace {

constexpr int kPartsOfAReceive = 2;  // a datagram's header, and the data
constexpr std::uint64_t kReceive = std::uint64_t{1} << 63;

ibv_qp_type type_of(Transport transport) {
  if (transport == Transport::kUd) return IBV_QPT_UD;
  return transport == Transport::kUc ? IBV_QPT_UC : IBV_QPT_RC;
}

}  // namespace

inline int VerbsConnection::queue_pair_in(std::uint64_t identifier) {
  return static_cast<int>((identifier & ~kReceive) >> kQueuePairShift);
}

VerbsConnection::VerbsConnection(const OpenDevice& device, const ConnectionSettings& settings,
                                 ProviderTransport* provider)
    : device_(device),
      settings_(settings),
      provider_(provider),
      polled_at_once_(settings.one_at_a_time ? 1 : kMostPolled) {
  domain_.reset(ibv_alloc_pd(device.context.get()));
  check(domain_ != nullptr, "ibv_alloc_pd");
  make_completion_queue(settings);
  if (settings.shared_receives) make_shared_receives(settings);
  std::minstd_rand random(std::random_device{}());
  for (int i = 0; i < settings.queue_pairs; ++i) {
    make_queue_pair(settings);
    ready_.emplace_back();
    next_ready_.push_back(nullptr);
    sequence_numbers_.push_back(static_cast<std::uint32_t>(random()) & 0xffffff);
  }
  std::vector<std::uint32_t> numbers;
  for (const QueuePair& each : queue_pairs_) numbers.push_back(each->qp_num);
  know_numbers(numbers);
  header_region_ = register_memory(datagram_header_.data(), datagram_header_.size());
  counters_before_ = read_counters(device.port.device, device.port.port);
}

void VerbsConnection::know_numbers(std::span<const std::uint32_t> numbers) {
  by_number_.clear();
  for (const std::uint32_t number : numbers) by_number_.emplace_back(number, static_cast<int>(by_number_.size()));
  std::sort(by_number_.begin(), by_number_.end());
}

void VerbsConnection::make_completion_queue(const ConnectionSettings& settings) {
  if (settings.events) {
    channel_.reset(ibv_create_comp_channel(device_.context.get()));
    check(channel_ != nullptr, "ibv_create_comp_channel");
  }
  const int receive_queues = settings.shared_receives ? 1 : settings.queue_pairs;
  const int entries = settings.depth * settings.queue_pairs + settings.receive_depth * receive_queues;
  if (device_.port.most_completions > 0 && entries > device_.port.most_completions) {
    throw UsageError(
        fmt::format("{} completions may be outstanding with these numbers of queue pairs (-q), requests (-t) and "
                    "receives (-r), and {} has room for {}; lower one of them",
                    entries, device_.port.device, device_.port.most_completions));
  }
  completions_.reset(ibv_create_cq(device_.context.get(), entries, nullptr, channel_.get(), 0));
  check(completions_ != nullptr, "ibv_create_cq");
}

void VerbsConnection::make_shared_receives(const ConnectionSettings& settings) {
  check_shared_receives(device_.port, settings.receive_depth);
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = static_cast<std::uint32_t>(std::max(settings.receive_depth, 1));
  attributes.attr.max_sge = kPartsOfAReceive;
  shared_receives_.reset(ibv_create_srq(domain_.get(), &attributes));
  check(shared_receives_ != nullptr, "ibv_create_srq");
}

void VerbsConnection::make_queue_pair(const ConnectionSettings& settings) {
  QueuePair made = queue_pairs_.empty() ? find_queue_pair(settings) : try_queue_pair(settings, inline_bytes_);
  if (made) {
    queue_pairs_.push_back(std::move(made));
    return;
  }
  if (!shared_receives_ || provider_ != nullptr) fail("ibv_create_qp", errno);
  throw Error(ExitStatus::kMissing,
              fmt::format("{}; not every device has {} queue pairs that share their receives: leave out --use-srq",
                          explain_call("ibv_create_qp", errno), fabricbench::name(settings.transport)));
}

QueuePair VerbsConnection::try_queue_pair(const ConnectionSettings& settings, Bytes inlined) const {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = completions_.get();
  attributes.recv_cq = completions_.get();
  attributes.qp_type = type_of(settings.transport);
  attributes.cap.max_send_wr = static_cast<std::uint32_t>(settings.depth);
  attributes.srq = shared_receives_.get();
  attributes.cap.max_recv_wr = shared_receives_ ? 0 : static_cast<std::uint32_t>(std::max(settings.receive_depth, 1));
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = shared_receives_ ? 0 : kPartsOfAReceive;
  attributes.cap.max_inline_data = static_cast<std::uint32_t>(inlined);
  if (provider_ != nullptr) return provider_->create(domain_.get(), attributes);
  return QueuePair(ibv_create_qp(domain_.get(), &attributes));
}

/// With the inline size that is wanted, or the largest below that the device grants: there are limits such as 96 and
/// 101.
QueuePair VerbsConnection::find_queue_pair(const ConnectionSettings& settings) {
  inline_bytes_ = settings.inline_bytes;
  QueuePair best = try_queue_pair(settings, inline_bytes_);
  if (best || inline_bytes_ == 0 || errno == ENOSYS) return best;
  best = try_queue_pair(settings, 0);
  if (!best) return best;
  Bytes refused = std::exchange(inline_bytes_, 0);
  while (refused - inline_bytes_ > 1) {
    const Bytes middle = std::midpoint(inline_bytes_, refused);
    if (QueuePair made = try_queue_pair(settings, middle); made) {
      best = std::move(made);
      inline_bytes_ = middle;
    } else {
      refused = middle;
    }
  }
  return best;
}

std::optional<bool> VerbsConnection::keeps_order() const {
  if (!device_.port.tells_order) return std::nullopt;
  return ibv_query_qp_data_in_order(queue_pairs_.front().get(), IBV_WR_RDMA_WRITE, 0) == 1;
}

ConnectInfo VerbsConnection::connect_info(const std::string& host) const {
  ConnectInfo own{host, device_.port, {}, sequence_numbers_};
  for (const QueuePair& queue_pair : queue_pairs_) own.queue_pairs.push_back(queue_pair->qp_num);
  return own;
}

std::string VerbsConnection::listen(Connector& connector, const NegotiatedSettings& negotiated) {
  return connector.listen(negotiated);
}

void VerbsConnection::connect(Connector& connector, const NegotiatedSettings& negotiated,
                              const std::string& listen_info) {
  peer_ = negotiated.peer;
  connected_ = connector.connect(negotiated, own_queue_pairs(), listen_info);
}

void VerbsConnection::be_connected(ConnectInfo peer, Connected connected) {
  peer_ = std::move(peer);
  connected_ = std::move(connected);
}

Bytes VerbsConnection::largest_message() const {
  if (settings_.transport == Transport::kUd) return static_cast<Bytes>(connected_.mtu);
  return device_.port.largest_message;
}

/// Not every device has operations for all rights, and some refuse memory with others: EFA, whose UD only sends.
int VerbsConnection::remote_access() const {
  if (settings_.transport == Transport::kUd) return 0;
  const std::optional<int> of_provider = provider_ != nullptr ? provider_->remote_access() : std::nullopt;
  const int atomics = device_.port.atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0;
  return of_provider.value_or(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | atomics);
}

Registration VerbsConnection::register_block(BufferSource& source, std::byte* data, std::size_t bytes) const {
  const int access = IBV_ACCESS_LOCAL_WRITE | remote_access();
  RegistrationSettings how;
  how.domain = domain_.get();
  how.access = settings_.relaxed_order ? access | IBV_ACCESS_RELAXED_ORDERING : access;
  how.data_direct = !source.on_host() && settings_.data_direct;
  return verbs::register_memory(how, source, data, bytes);
}

MemoryRegion VerbsConnection::register_memory(std::byte* data, std::size_t bytes) const {
  HostBuffers own;
  return register_block(own, data, bytes).region;
}

std::string VerbsConnection::trouble() const {
  return grown(counters_before_, read_counters(device_.port.device, device_.port.port));
}

inline void VerbsConnection::hand_over(int queue_pair, ibv_send_wr& first) {
  ibv_send_wr* refused = nullptr;
  check_returned(ibv_post_send(queue_pairs_[static_cast<std::size_t>(queue_pair)].get(), &first, &refused),
                 "ibv_post_send");
}

void VerbsConnection::post(int queue_pair, std::span<const Request> requests) {
  fill(posted_, queue_pair, requests);
  hand_over(queue_pair, posted_.requests.front());
}

void VerbsConnection::make_ready(int queue_pair, std::span<const Request> requests, int each) {
  auto& [lists, made] = ready_[static_cast<std::size_t>(queue_pair)];
  fill(made, queue_pair, requests);
  const auto length = static_cast<std::size_t>(each);
  lists.resize(requests.size() / length);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    ibv_send_wr& last = made.requests[(i + 1) * length - 1];
    last.next = nullptr;
    lists[i] = {&last + 1, &lists[(i + 1) % lists.size()]};
  }
  next_ready_[static_cast<std::size_t>(queue_pair)] = lists.data();
}

/// The last ones of the list, so that only the very last one changes.
void VerbsConnection::post_ready(int queue_pair, int count, std::uint64_t number, bool signaled) {
  const ReadyList*& next = next_ready_[static_cast<std::size_t>(queue_pair)];
  ibv_send_wr* const end = next->end;
  next = next->following;
  ibv_send_wr& last = end[-1];
  last.wr_id = identifier(queue_pair, number);
  last.send_flags = signaled ? last.send_flags | IBV_SEND_SIGNALED : last.send_flags & ~unsigned{IBV_SEND_SIGNALED};
  hand_over(queue_pair, *(end - count));
}

void VerbsConnection::fill(SendList& list, int queue_pair, std::span<const Request> requests) {
  list.requests.resize(requests.size());
  list.parts.resize(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    ibv_send_wr& made = list.requests[i];
    set_work_request(request, list.parts[i], made);
    made.wr_id = identifier(queue_pair, request.number);
    made.next = i + 1 < requests.size() ? &list.requests[i + 1] : nullptr;
    if (connected_.to_peer) {
      made.wr.ud.ah = connected_.to_peer.get();
      made.wr.ud.remote_qpn = peer_.queue_pairs[static_cast<std::size_t>(queue_pair)];
      made.wr.ud.remote_qkey = connected_.peer_key;
    } else {
      set_target(request, made);
    }
  }
}

/// Receives a datagram's header in a separate part, before the data.
void VerbsConnection::post_receives(int queue, const LocalPart& into, int count, std::size_t distance) {
  const ibv_sge header{reinterpret_cast<std::uint64_t>(datagram_header_.data()),
                       static_cast<std::uint32_t>(datagram_header_.size()), header_region_->lkey};
  const int first = settings_.transport == Transport::kUd ? 0 : 1;  // part
  const int used = (into.bytes > 0 ? kPartsOfAReceive : kPartsOfAReceive - 1) - first;
  const auto wanted = static_cast<std::size_t>(count);
  if (receives_.size() < wanted) {
    receives_.resize(wanted);
    receive_parts_.resize(wanted);
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    auto& parts = receive_parts_[i];
    parts = {header, {reinterpret_cast<std::uint64_t>(into.data + i * distance), into.bytes, into.key}};
    receives_[i] = {kReceive | identifier(queue, 0), i + 1 < wanted ? &receives_[i + 1] : nullptr, parts.data() + first,
                    used};
  }
  ibv_recv_wr* refused = nullptr;
  if (shared_receives_) {
    check_returned(ibv_post_srq_recv(shared_receives_.get(), receives_.data(), &refused), "ibv_post_srq_recv");
    return;
  }
  check_returned(ibv_post_recv(queue_pairs_[static_cast<std::size_t>(queue)].get(), receives_.data(), &refused),
                 "ibv_post_recv");
}

/// Finds the queue pair whose message consumed a receive of the shared queue.
int VerbsConnection::queue_pair_of(const ibv_wc& completion) const {
  if (!shared_receives_ || (completion.wr_id & kReceive) == 0) return queue_pair_in(completion.wr_id);
  const auto found = std::lower_bound(by_number_.begin(), by_number_.end(), std::pair{completion.qp_num, 0});
  if (found != by_number_.end() && found->first == completion.qp_num) return found->second;
  throw Error(ExitStatus::kFailure,
              fmt::format("verbs: a receive completed for queue pair {:#x}, which is not ours", completion.qp_num));
}

/// Puts completions into polled_ and returns their number. Throws if one of them failed.
inline int VerbsConnection::poll_queue() {
  const int found = ibv_poll_cq(completions_.get(), polled_at_once_, polled_.data());
  if (found < 0) [[unlikely]]
    fail_poll(found);
  for (int i = 0; i < found; ++i) {
    const ibv_wc& completion = polled_[static_cast<std::size_t>(i)];
    if (completion.status != IBV_WC_SUCCESS) [[unlikely]]
      failed(completion);
  }
  return found;
}

std::uint64_t VerbsConnection::completed() {
  const int found = poll_queue();
  return found == 0 ? 0 : polled_[static_cast<std::size_t>(found - 1)].wr_id & kNumberMask;
}

std::span<const Completion> VerbsConnection::poll() { return take_completions(); }

std::span<Completion> VerbsConnection::take_completions() {
  const int found = poll_queue();
  for (int i = 0; i < found; ++i) {
    const ibv_wc& completion = polled_[static_cast<std::size_t>(i)];
    Completion& taken = taken_[static_cast<std::size_t>(i)];
    taken.received = (completion.wr_id & kReceive) != 0;
    if (!taken.received) {
      taken.queue_pair = queue_pair_in(completion.wr_id);
      taken.number = completion.wr_id & kNumberMask;
      continue;
    }
    taken.queue_pair = queue_pair_of(completion);
    taken.bytes = completion.byte_len;
    taken.immediate.reset();
    if ((completion.wc_flags & IBV_WC_WITH_IMM) != 0) taken.immediate = be32toh(completion.imm_data);
  }
  return {taken_.data(), static_cast<std::size_t>(found)};
}

/// The first call only requests an event; the caller must then poll once more for earlier completions.
void VerbsConnection::sleep(double at_most_s) {
  if (!channel_) return;
  if (!awaits_event_) {
    check_returned(ibv_req_notify_cq(completions_.get(), 0), "ibv_req_notify_cq");
    awaits_event_ = true;
    return;
  }
  pollfd waited{channel_->fd, POLLIN, 0};
  if (::poll(&waited, 1, static_cast<int>(at_most_s * 1000) + 1) <= 0) return;
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  check(ibv_get_cq_event(channel_.get(), &queue, &context) == 0, "ibv_get_cq_event");
  ibv_ack_cq_events(queue, 1);
  awaits_event_ = false;
}

std::string VerbsConnection::peer_text(int queue_pair) const {
  const auto which = static_cast<std::size_t>(queue_pair);
  const std::uint32_t number = which < peer_.queue_pairs.size() ? peer_.queue_pairs[which] : 0;
  return fmt::format("{} port {} of host {}, queue pair {:#x}{}", peer_.port.device, peer_.port.port, peer_.host,
                     number, peer_.rank < 0 ? "" : fmt::format(" of rank {}", peer_.rank));
}

std::string VerbsConnection::diagnosis() {
  const std::string counters = trouble();
  return fmt::format("the other end is {}; {}{}; check that host and the link to it", peer_text(0),
                     own_port_text(device_.port, current_state(device_)),
                     counters.empty() ? "" : fmt::format(", and counted {}", counters));
}

/// If the own port is down, that is the cause, whatever the completion's status says.
void VerbsConnection::failed(const ibv_wc& completion) const {
  if (abandoned_) throw Error(ExitStatus::kFailure, "verbs: gave up the operations in flight");
  const std::optional<ibv_port_state> state = stable_state(device_);
  const std::string counters = trouble();
  throw Error(
      state == IBV_PORT_ACTIVE ? exit_status_of(completion.status) : ExitStatus::kTimeout,
      fmt::format("verbs: a {} with {} ended with {} (vendor error {:#x}); {}{}",
                  (completion.wr_id & kReceive) != 0 ? "receive" : "request", peer_text(queue_pair_of(completion)),
                  explain_status(completion.status), completion.vendor_err, own_port_text(device_.port, state),
                  counters.empty() ? "" : fmt::format(", and counted {}", counters)));
}

void VerbsConnection::abandon() noexcept {
  abandoned_ = true;
  for (const QueuePair& queue_pair : queue_pairs_) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    (void)ibv_modify_qp(queue_pair.get(), &attributes, IBV_QP_STATE);
  }
}

}  // namespace fabricbench::verbs
