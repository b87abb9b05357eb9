#include "fake_verbs_queue_pairs.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>

namespace fabricbench::test {
namespace {

/// Threads may use different queue pairs at the same time, as with libibverbs.
std::mutex& mutex() {
  static std::mutex of_all;
  return of_all;
}

FakeQueuePair* queue_pair(std::uint32_t number) {
  for (FakeQueuePair& one : fake_verbs_queues().queue_pairs) {
    if (one.handle.qp_num == number) return &one;
  }
  return nullptr;
}

std::deque<FakeReceive>& receives_of(FakeQueuePair& own) {
  return own.shared != nullptr ? fake_verbs_queues().shared_receives[own.shared].receives : own.receives;
}

// verbs has addresses as numbers.
void* place(std::uint64_t address) { return reinterpret_cast<void*>(address); }  // NOLINT(performance-no-int-to-ptr)

void complete(ibv_cq* queue, const ibv_wc& completion) {
  fake_verbs_queues().completions.push_back({queue, completion});
}

ibv_wc completion_of(const FakeQueuePair& own, std::uint64_t id, ibv_wc_status status) {
  ibv_wc made{};
  made.wr_id = id;
  made.status = status;
  made.qp_num = own.handle.qp_num;
  return made;
}

FakeQueuePair* receiver_of(const FakeQueuePair& own, const FakeQueuePair::Message& message) {
  return queue_pair(message.destination != 0 ? message.destination : own.peer);
}

bool takes_receive(ibv_wr_opcode operation) {
  return operation == IBV_WR_SEND || operation == IBV_WR_SEND_WITH_IMM || operation == IBV_WR_RDMA_WRITE_WITH_IMM;
}

void copy(const FakeQueuePair::Message& message, void* into, const void* from) {
  if (message.part.length == 0) return;
  std::memcpy(into, from, message.part.length);
  if (message.corrupted) static_cast<unsigned char*>(into)[message.part.length - 1] ^= 1;
}

void receive(FakeQueuePair& peer, const FakeQueuePair::Message& message, const void* data) {
  std::deque<FakeReceive>& receives = receives_of(peer);
  if (receives.empty()) return;  // lost, as a datagram without a receive is
  const ibv_wr_opcode operation = message.request.opcode;
  if (operation != IBV_WR_RDMA_WRITE_WITH_IMM) copy(message, place(receives.front().part.addr), data);
  ibv_wc came = completion_of(peer, receives.front().request.wr_id, IBV_WC_SUCCESS);
  came.byte_len = message.part.length;
  if (operation != IBV_WR_SEND) {
    came.wc_flags = IBV_WC_WITH_IMM;
    came.imm_data = message.request.imm_data;
  }
  complete(peer.handle.recv_cq, came);
  receives.pop_front();
}

void carry_out_atomic(const FakeQueuePair::Message& message) {
  const auto& atomic = message.request.wr.atomic;
  std::uint64_t value = 0;
  std::memcpy(&value, place(atomic.remote_addr), sizeof value);
  std::memcpy(place(message.part.addr), &value, sizeof value);
  if (message.request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    value += atomic.compare_add;
  } else if (value == atomic.compare_add) {
    value = atomic.swap;
  }
  std::memcpy(place(atomic.remote_addr), &value, sizeof value);
}

void deliver(const FakeQueuePair& own, const FakeQueuePair::Message& message) {
  const void* const data = message.is_inline ? message.inlined.data() : place(message.part.addr);
  const ibv_wr_opcode operation = message.request.opcode;
  void* const there = place(message.request.wr.rdma.remote_addr);
  if (operation == IBV_WR_RDMA_READ) copy(message, place(message.part.addr), there);
  if (operation == IBV_WR_RDMA_WRITE || operation == IBV_WR_RDMA_WRITE_WITH_IMM) copy(message, there, data);
  if (operation == IBV_WR_ATOMIC_FETCH_AND_ADD || operation == IBV_WR_ATOMIC_CMP_AND_SWP) carry_out_atomic(message);
  if (takes_receive(operation)) receive(*receiver_of(own, message), message, data);
}

bool lacks_receive(const FakeQueuePair& own, const FakeQueuePair::Message& message) {
  FakeQueuePair* const receiver = receiver_of(own, message);
  return receiver != nullptr && takes_receive(message.request.opcode) && receives_of(*receiver).empty();
}

/// Where messages name their destination, they are reliable too: SRD and DC.
ibv_wc_status status_of(const FakeQueuePair& own, const FakeQueuePair::Message& message, std::uint64_t number) {
  if (own.handle.state == IBV_QPS_ERR) return IBV_WC_WR_FLUSH_ERR;
  if (message.destination == 0) return own.ends_with(number);
  const FakeQueuePair* const receiver = receiver_of(own, message);
  if (receiver == nullptr || receiver->key != message.key) return IBV_WC_REM_INV_RD_REQ_ERR;
  return lacks_receive(own, message) ? IBV_WC_RNR_RETRY_EXC_ERR : own.ends_with(number);
}

/// After an error everything else is flushed, as the specification of InfiniBand wants.
void carry_out(FakeQueuePair& own, std::size_t which) {
  FakeQueuePair::Message message = own.waiting[which];
  own.waiting.erase(own.waiting.begin() + static_cast<std::ptrdiff_t>(which));
  const std::uint64_t number = own.carried_out++;
  message.corrupted = own.is_corrupted(number);
  const ibv_wc_status status = status_of(own, message, number);
  if (status != IBV_WC_SUCCESS) {
    own.handle.state = IBV_QPS_ERR;
  } else if (own.is_overtaken(number)) {
    own.overtaken.push_back(message);
  } else {
    if (!own.is_lost(number)) deliver(own, message);
    for (const FakeQueuePair::Message& late : own.overtaken) deliver(own, late);
    own.overtaken.clear();
  }
  if (status == IBV_WC_SUCCESS && (message.request.send_flags & IBV_SEND_SIGNALED) == 0) return;
  complete(own.handle.send_cq, completion_of(own, message.request.wr_id, status));
}

/// The one that is carried out next, if any may be. Out of order, a fixed rule jumps about.
std::optional<std::size_t> next_of(const FakeQueuePair& own) {
  if (own.waiting.empty()) return std::nullopt;
  const std::size_t which = own.in_order ? 0 : (7 * own.carried_out + 3) % own.waiting.size();
  const FakeQueuePair::Message& next = own.waiting[which];
  if (next.not_before > fake_verbs_queues().polls) return std::nullopt;
  return own.retries_unready && lacks_receive(own, next) ? std::nullopt : std::optional(which);
}

/// An idle queue pair saves nothing up.
void advance(FakeQueuePair& own) {
  own.allowance = own.waiting.empty() ? 0 : own.allowance + own.messages_per_poll;
  for (std::optional<std::size_t> next = next_of(own); own.allowance >= 1 && next; next = next_of(own)) {
    own.allowance -= 1;
    carry_out(own, *next);
  }
}

int post_send(ibv_qp* handle, ibv_send_wr* first, ibv_send_wr** refused) {
  const std::lock_guard lock(mutex());
  FakeQueuePair& own = owner_of(handle);
  for (ibv_send_wr* next = first; next != nullptr; next = next->next) {
    if (handle->state != IBV_QPS_RTS && handle->state != IBV_QPS_ERR) {
      *refused = next;
      return EINVAL;
    }
    const ibv_sge part = next->num_sge > 0 ? next->sg_list[0] : ibv_sge{};
    own.waiting.push_back({.request = *next, .part = part, .not_before = fake_verbs_queues().polls + 1 + own.delay});
    ++own.posted;
  }
  return 0;
}

void add_receives(std::deque<FakeReceive>& queue, const ibv_recv_wr* first) {
  for (const ibv_recv_wr* next = first; next != nullptr; next = next->next) {
    queue.push_back({*next, next->num_sge > 0 ? next->sg_list[next->num_sge - 1] : ibv_sge{}});
  }
}

int post_recv(ibv_qp* handle, ibv_recv_wr* first, ibv_recv_wr** /*refused*/) {
  const std::lock_guard lock(mutex());
  add_receives(owner_of(handle).receives, first);
  return 0;
}

int post_srq_recv(ibv_srq* queue, ibv_recv_wr* first, ibv_recv_wr** /*refused*/) {
  const std::lock_guard lock(mutex());
  FakeSharedReceives& shared = fake_verbs_queues().shared_receives[queue];
  add_receives(shared.receives, first);
  return shared.receives.size() > shared.room ? ENOMEM : 0;
}

int poll_cq(ibv_cq* queue, int most, ibv_wc* taken) {
  const std::lock_guard lock(mutex());
  FakeVerbsQueues& all = fake_verbs_queues();
  ++all.polls;
  for (FakeQueuePair& one : all.queue_pairs) {
    if (one.handle.send_cq == queue) advance(one);
  }
  int count = 0;
  for (auto next = all.completions.begin(); next != all.completions.end() && count < most;) {
    if (next->queue != queue) {
      ++next;
      continue;
    }
    taken[count++] = next->completion;
    next = all.completions.erase(next);
  }
  return count;
}

}  // namespace

FakeVerbsQueues& fake_verbs_queues() {
  static FakeVerbsQueues queues;
  return queues;
}

FakeQueuePair& owner_of(const ibv_qp* handle) {
  auto& all = fake_verbs_queues().queue_pairs;
  return *std::find_if(all.begin(), all.end(), [handle](const FakeQueuePair& one) { return &one.handle == handle; });
}

FakeQueuePair& add_queue_pair(ibv_pd* domain, ibv_cq* sends, ibv_cq* receives, ibv_qp_type type) {
  auto& all = fake_verbs_queues().queue_pairs;
  FakeQueuePair& made = all.emplace_back();
  made.handle.context = domain->context;
  made.handle.pd = domain;
  made.handle.send_cq = sends;
  made.handle.recv_cq = receives;
  made.handle.qp_type = type;
  made.handle.qp_num = static_cast<std::uint32_t>(all.size());
  return made;
}

void add_data_path(ibv_context& context) {
  context.ops.post_send = post_send;
  context.ops.post_recv = post_recv;
  context.ops.post_srq_recv = post_srq_recv;
  context.ops.poll_cq = poll_cq;
}

}  // namespace fabricbench::test

extern "C" {

ibv_pd*(ibv_alloc_pd)(ibv_context* context) { return new ibv_pd{context, 0}; }

int(ibv_dealloc_pd)(ibv_pd* domain) {
  delete domain;
  return 0;
}

ibv_cq*(ibv_create_cq)(ibv_context* context, int entries, void* /*own*/, ibv_comp_channel* /*channel*/,
                       int /*vector*/) {
  auto* const made = new ibv_cq{};
  made->context = context;
  made->cqe = entries;
  return made;
}

int(ibv_destroy_cq)(ibv_cq* queue) {
  delete queue;
  return 0;
}

ibv_qp*(ibv_create_qp)(ibv_pd* domain, ibv_qp_init_attr* attributes) {
  const std::lock_guard lock(fabricbench::test::mutex());
  errno = EINVAL;
  if (attributes->cap.max_inline_data > fabricbench::test::fake_verbs_queues().most_inline) return nullptr;
  return &fabricbench::test::add_queue_pair(domain, attributes->send_cq, attributes->recv_cq, attributes->qp_type)
              .handle;
}

int(ibv_query_qp_data_in_order)(ibv_qp* handle, ibv_wr_opcode /*operation*/, std::uint32_t /*flags*/) {
  return fabricbench::test::owner_of(handle).keeps_order ? 1 : 0;
}

int(ibv_modify_qp)(ibv_qp* handle, ibv_qp_attr* attributes, int mask) {
  const std::lock_guard lock(fabricbench::test::mutex());
  auto& own = fabricbench::test::owner_of(handle);
  own.changes.push_back({*attributes, mask});
  if ((mask & IBV_QP_STATE) != 0) handle->state = attributes->qp_state;
  if (handle->state == IBV_QPS_ERR) own.messages_per_poll = 1e9;  // all that waits is flushed at once
  if (handle->state == IBV_QPS_RTR && own.late_number != 0) handle->qp_num = own.late_number;
  if ((mask & IBV_QP_DEST_QPN) != 0) own.peer = attributes->dest_qp_num;
  if ((mask & IBV_QP_QKEY) != 0) own.key = attributes->qkey;
  if ((mask & IBV_QP_RNR_RETRY) != 0 && own.names_destinations) own.retries_unready = true;
  return 0;
}

ibv_srq*(ibv_create_srq)(ibv_pd* domain, ibv_srq_init_attr* wanted) {
  auto* const made = new ibv_srq{};
  made->context = domain->context;
  made->pd = domain;
  fabricbench::test::fake_verbs_queues().shared_receives[made].room = wanted->attr.max_wr;
  return made;
}

int(ibv_destroy_srq)(ibv_srq* queue) {
  fabricbench::test::fake_verbs_queues().shared_receives.erase(queue);
  delete queue;
  return 0;
}

/// Its record stays for the test.
int(ibv_destroy_qp)(ibv_qp* handle) {
  const std::lock_guard lock(fabricbench::test::mutex());
  handle->send_cq = nullptr;
  return 0;
}

}  // extern "C"
