#include <endian.h>

#include <utility>

#include <fmt/format.h>

#include "common/backends/verbs/explain.h"
#include "common/backends/verbs/provider_transport.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/core/error.h"
#include "common/record/packing.h"

namespace fabricbench::verbs {
namespace {

/// Begins a request, to which its data and destination are added.
void begin(ibv_qp_ex* making, const Request& request) {
  const auto [address, key] = request.remote;
  switch (opcode_of(request)) {
    case IBV_WR_RDMA_WRITE: return ibv_wr_rdma_write(making, key, address);
    case IBV_WR_RDMA_WRITE_WITH_IMM: return ibv_wr_rdma_write_imm(making, key, address, htobe32(*request.immediate));
    case IBV_WR_RDMA_READ: return ibv_wr_rdma_read(making, key, address);
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return ibv_wr_atomic_fetch_add(making, key, address, 1);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return ibv_wr_atomic_cmp_swp(making, key, address, request.compare, request.compare + 1);
    case IBV_WR_SEND_WITH_IMM: return ibv_wr_send_imm(making, htobe32(*request.immediate));
    default: return ibv_wr_send(making);
  }
}

/// A connection of a type that only one provider has. Its requests are posted by ibv_wr_*, because the structures of
/// ibv_post_send have no place for a destination beside a remote address.
class ProviderConnection final : public VerbsConnection {
 public:
  ProviderConnection(const OpenDevice& device, const ConnectionSettings& settings,
                     std::unique_ptr<ProviderTransport> transport)
      : VerbsConnection(device, settings, transport.get()),
        transport_(std::move(transport)),
        in_order_(transport_->completes_in_order()) {
    for (const QueuePair& each : own_queue_pairs().all) queues_.push_back({.queue_pair = ibv_qp_to_qp_ex(each.get())});
  }

  [[nodiscard]] std::string listen(Connector& /*connector*/, const NegotiatedSettings& negotiated) override {
    const std::vector<std::uint32_t> numbers = transport_->open_to_peer(negotiated, own_queue_pairs());
    know_numbers(numbers);
    return record::pack(numbers);
  }
  void connect(Connector& /*connector*/, const NegotiatedSettings& negotiated,
               const std::string& listen_info) override {
    ConnectInfo peer = negotiated.peer;
    peer.queue_pairs = record::unpack<std::vector<std::uint32_t>>(listen_info);
    Connected connected;
    connected.mtu = transport_->connect(negotiated, own_queue_pairs(), peer.queue_pairs);
    be_connected(std::move(peer), std::move(connected));
  }
  [[nodiscard]] std::optional<bool> keeps_order() const override { return transport_->keeps_order(); }
  [[nodiscard]] Bytes largest_message() const override {
    return transport_->largest_message().value_or(VerbsConnection::largest_message());
  }

  void post(int queue_pair, std::span<const Request> requests) override {
    ibv_wr_start(queues_[static_cast<std::size_t>(queue_pair)].queue_pair);
    for (const Request& request : requests) make(queue_pair, request, request.number, request.signaled);
    hand_over(queue_pair, requests.size(), requests.back().number);
  }
  void make_ready(int queue_pair, std::span<const Request> requests, int each) override {
    SendQueue& queue = queues_[static_cast<std::size_t>(queue_pair)];
    queue.ready.assign(requests.begin(), requests.end());
    queue.each = static_cast<std::size_t>(each);
    queue.next = 0;
  }
  void post_ready(int queue_pair, int count, std::uint64_t number, bool signaled) override {
    SendQueue& queue = queues_[static_cast<std::size_t>(queue_pair)];
    const Request* const end = queue.ready.data() + queue.next + queue.each;
    queue.next = queue.next + queue.each < queue.ready.size() ? queue.next + queue.each : 0;
    ibv_wr_start(queue.queue_pair);
    for (int left = count - 1; left > 0; --left) {
      make(queue_pair, end[-1 - left], number - static_cast<std::uint64_t>(left), false);
    }
    make(queue_pair, end[-1], number, signaled);
    hand_over(queue_pair, static_cast<std::uint64_t>(count), number);
  }
  [[nodiscard]] std::span<const Completion> poll() override {
    const std::span<Completion> found = take_completions();
    if (in_order_) return found;
    for (Completion& completion : found) {
      if (!completion.received) completion.number = count_completed(completion.queue_pair);
    }
    return found;
  }
  [[nodiscard]] std::uint64_t completed() override {
    std::uint64_t newest = 0;
    for (const Completion& completion : poll()) newest = completion.number;
    return newest;
  }

 private:
  /// A queue pair's requests.
  struct SendQueue {
    ibv_qp_ex* queue_pair = nullptr;
    std::vector<Request> ready{};  ///< in lists of `each`
    std::size_t each = 1;
    std::size_t next = 0;         ///< first request of the list whose turn it is
    std::uint64_t newest = 0;     ///< number of the last one posted
    std::uint64_t under_way = 0;  ///< posted, and not seen to complete
  };

  /// The data of a request without any still have to be given: providers complete a request with them.
  void make(int queue_pair, const Request& request, std::uint64_t number, bool signaled) {
    ibv_qp_ex* const making = queues_[static_cast<std::size_t>(queue_pair)].queue_pair;
    making->wr_id = identifier(queue_pair, number);
    making->wr_flags = signaled || !in_order_ ? IBV_SEND_SIGNALED : 0;
    begin(making, request);
    transport_->set_destination(static_cast<std::size_t>(queue_pair), *making);
    const LocalPart& local = request.local;
    if (request.is_inline) {
      ibv_wr_set_inline_data(making, local.data, local.bytes);
    } else {
      ibv_wr_set_sge(making, local.key, reinterpret_cast<std::uint64_t>(local.data), local.bytes);
    }
  }
  void hand_over(int queue_pair, std::uint64_t count, std::uint64_t newest) {
    SendQueue& queue = queues_[static_cast<std::size_t>(queue_pair)];
    check_returned(ibv_wr_complete(queue.queue_pair), "ibv_wr_complete");
    queue.newest = newest;
    queue.under_way += count;
  }
  /// Where requests complete in any order, the number that so many have reached. Whoever counts completions needs no
  /// more.
  [[nodiscard]] std::uint64_t count_completed(int queue_pair) {
    SendQueue& queue = queues_[static_cast<std::size_t>(queue_pair)];
    --queue.under_way;
    return queue.newest - queue.under_way;
  }

  std::unique_ptr<ProviderTransport> transport_;
  bool in_order_;
  std::vector<SendQueue> queues_;  // by queue pair
};

}  // namespace

ibv_qp_init_attr_ex extended(ibv_pd* domain, const ibv_qp_init_attr& wanted, Verb verb) {
  ibv_qp_init_attr_ex attributes{};
  attributes.send_cq = wanted.send_cq;
  attributes.recv_cq = wanted.recv_cq;
  attributes.srq = wanted.srq;
  attributes.cap = wanted.cap;
  attributes.qp_type = IBV_QPT_DRIVER;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attributes.pd = domain;
  attributes.send_ops_flags = operations_of(verb);
  return attributes;
}

std::unique_ptr<VerbsConnection> open_connection(const OpenDevice& device, const ConnectionSettings& settings) {
  const Transport transport = settings.transport;
  if (transport == Transport::kSrd) {
    return std::make_unique<ProviderConnection>(device, settings, open_srd(device, settings.verb));
  }
  if (transport == Transport::kDc) {
    return std::make_unique<ProviderConnection>(device, settings, open_dc(device, settings.verb));
  }
  if (is_efa(device.port) && transport != Transport::kUd) {
    throw Error(
        ExitStatus::kMissing,
        fmt::format("verbs: {} is an EFA device, which has no {} queue pairs; use -c SRD, with which rdma_send, "
                    "rdma_write and rdma_read programs run on it",
                    device.port.device, name(transport)));
  }
  return std::make_unique<VerbsConnection>(device, settings);
}

ProviderLibrary::ProviderLibrary(std::string name, Need need)
    : name_(std::move(name)), need_(std::move(need)), library_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_) return;
  throw Error(ExitStatus::kMissing,
              fmt::format("{}: {} cannot be loaded ({}); {}", need_.option, name_, dlerror(), need_.advice));
}

void* ProviderLibrary::address_of(const char* function) const {
  void* const found = dlsym(library_.get(), function);
  if (found != nullptr) return found;
  throw Error(ExitStatus::kMissing, fmt::format("{}: {} has no {}; {}", need_.option, name_, function, need_.advice));
}

}  // namespace fabricbench::verbs
