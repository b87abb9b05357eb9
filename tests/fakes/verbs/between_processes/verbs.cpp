// Functions of libibverbs, in the place of the library's own (LD_PRELOAD), with one device through which the processes
// of a job on this host reach each other. What it lists and says of itself, and memory, are those of the folder above.
//
// Nothing is allocated while the state is held: what an allocation waits for, the other processes would wait for too.
//
// Reliable connections and datagrams, shared receive queues, events; no ibv_wr_*, and no rdma_cm, which asks the
// kernel.

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "../fake_verbs_devices.h"
#include "messages.h"

namespace fabricbench::test {
namespace {

/// By number; null: not of this process.
std::array<OwnQueuePair*, kMostQueues + 1> g_own{};

OwnQueuePair& owner_of(const ibv_qp* handle) { return *g_own.at(handle->qp_num); }

SentMessage message_of(const OwnQueuePair& own, const ibv_send_wr& request) {
  SentMessage made{};
  made.request = request;
  if (request.num_sge > 0) made.part = request.sg_list[0];
  made.destination = own.handle.qp_type == IBV_QPT_UD ? request.wr.ud.remote_qpn : own.peer;
  made.is_inline = (request.send_flags & IBV_SEND_INLINE) != 0;
  if (made.is_inline) {
    const void* const data = reinterpret_cast<void*>(made.part.addr);  // NOLINT(performance-no-int-to-ptr)
    std::memcpy(made.inlined.data(), data, std::min<std::size_t>(made.part.length, made.inlined.size()));
  }
  return made;
}

int post_send(ibv_qp* handle, ibv_send_wr* first, ibv_send_wr** refused) {
  const Shared shared;
  OwnQueuePair& own = owner_of(handle);
  const bool is_ready = handle->state == IBV_QPS_RTS || handle->state == IBV_QPS_ERR;
  for (ibv_send_wr* next = first; next != nullptr; next = next->next) {
    *refused = next;
    if (!is_ready) return EINVAL;
    if (own.waiting.full()) return ENOMEM;
    own.waiting.push(message_of(own, *next));
    advance(shared, own);
  }
  return 0;
}

int add_receives(std::uint32_t number, const ibv_recv_wr* first, ibv_recv_wr** refused) {
  const Shared shared;
  auto& receives = shared.queue_pair(number)->receives;
  for (const ibv_recv_wr* next = first; next != nullptr; next = next->next) {
    *refused = const_cast<ibv_recv_wr*>(next);
    if (receives.full()) return ENOMEM;
    SharedReceive made{next->wr_id, next->num_sge, {}};
    std::copy_n(next->sg_list, next->num_sge, made.part.begin());
    receives.push(made);
  }
  return 0;
}

int post_recv(ibv_qp* handle, ibv_recv_wr* first, ibv_recv_wr** refused) {
  return add_receives(handle->qp_num, first, refused);
}

int post_srq_recv(ibv_srq* queue, ibv_recv_wr* first, ibv_recv_wr** refused) {
  return add_receives(queue->handle, first, refused);
}

int take(ibv_cq* queue, int most, ibv_wc* taken) {
  const Shared shared;
  for (OwnQueuePair* const one : g_own) {
    if (one != nullptr && one->handle.send_cq == queue) advance(shared, *one);
  }
  auto& completions = shared.completions(queue->handle).completions;
  int count = 0;
  for (; count < most && !completions.empty(); completions.pop()) taken[count++] = completions.front();
  return count;
}

/// Where there is nothing, the other side may need the processor.
int poll_cq(ibv_cq* queue, int most, ibv_wc* taken) {
  const int count = take(queue, most, taken);
  if (count == 0) sched_yield();
  return count;
}

int request_event(ibv_cq* queue, int /*solicited_only*/) {
  const Shared shared;
  shared.completions(queue->handle).armed = true;
  return 0;
}

ibv_port_attr port_of_device() {
  ibv_port_attr port{};
  port.state = IBV_PORT_ACTIVE;
  port.phys_state = 5;  // LinkUp
  port.link_layer = IBV_LINK_LAYER_INFINIBAND;
  port.max_mtu = port.active_mtu = IBV_MTU_4096;
  port.max_msg_sz = std::uint32_t{1} << 30;
  port.lid = 1;
  port.active_speed = 32;  // 4x EDR
  port.active_width = 2;
  port.pkey_tbl_len = 1;
  port.gid_tbl_len = 1;
  return port;
}

[[gnu::constructor]] void make_device() {
  // Where the kernel lets only a process's parents into its memory, it has to say who else may.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  FakeVerbsDevice& made = fake_verbs().add("mlx5_0");
  made.ports = {port_of_device()};
  ibv_gid_entry gid{};
  gid.gid.raw[0] = 0xfe;
  gid.gid.raw[1] = 0x80;
  gid.gid.raw[15] = 1;
  gid.port_num = 1;
  made.gids = {gid};
  made.limits.max_qp_wr = kMostRequests;
  made.limits.max_cqe = kMostCompletions;
  made.limits.max_qp_rd_atom = made.limits.max_qp_init_rd_atom = 16;
  made.limits.atomic_cap = IBV_ATOMIC_HCA;
  made.limits.max_srq = 8;
  made.limits.max_srq_wr = kMostReceives;
  made.context.ops.post_send = post_send;
  made.context.ops.post_recv = post_recv;
  made.context.ops.post_srq_recv = post_srq_recv;
  made.context.ops.poll_cq = poll_cq;
  made.context.ops.req_notify_cq = request_event;
}

/// A new one's number; 0: there are too many.
std::uint32_t add_queue_pair(const Shared& shared, ibv_qp_type type, std::uint32_t completions) {
  if (shared->queue_pairs_made == kMostQueues) return 0;
  const std::uint32_t number = ++shared->queue_pairs_made;
  SharedQueuePair& made = *shared.queue_pair(number);
  made.process = getpid();
  made.type = type;
  made.completions = completions;
  made.receives_from = number;
  return number;
}

}  // namespace
}  // namespace fabricbench::test

using fabricbench::test::g_own;
using fabricbench::test::OwnQueuePair;
using fabricbench::test::Shared;

extern "C" {

// In parentheses, as verbs.h has macros of some of these names.
ibv_pd*(ibv_alloc_pd)(ibv_context* context) { return new ibv_pd{context, 0}; }

int(ibv_dealloc_pd)(ibv_pd* domain) {
  delete domain;
  return 0;
}

/// Its file becomes ready to read when a completion comes to a queue that wants it.
ibv_comp_channel*(ibv_create_comp_channel)(ibv_context* context) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return nullptr;
  return new ibv_comp_channel{context, ends[0], ends[1]};
}

int(ibv_destroy_comp_channel)(ibv_comp_channel* channel) {
  ::close(channel->fd);
  ::close(channel->refcnt);  // the other end
  delete channel;
  return 0;
}

ibv_cq*(ibv_create_cq)(ibv_context* context, int entries, void* own, ibv_comp_channel* channel, int /*vector*/) {
  errno = EINVAL;
  if (entries > fabricbench::test::kMostCompletions) return nullptr;
  auto made = std::make_unique<ibv_cq>();
  const Shared shared;
  errno = ENOMEM;
  if (shared->completion_queues_made == fabricbench::test::kMostQueues) return nullptr;
  made->context = context;
  made->cq_context = own;
  made->cqe = entries;
  made->channel = channel;
  made->handle = ++shared->completion_queues_made;
  shared.completions(made->handle).process = getpid();
  shared.completions(made->handle).bell = channel != nullptr ? channel->refcnt : 0;
  return made.release();
}

int(ibv_destroy_cq)(ibv_cq* queue) {
  const Shared shared;
  shared.completions(queue->handle).process = 0;
  delete queue;
  return 0;
}

/// One queue has the channel, so that it is known whose event came.
int(ibv_get_cq_event)(ibv_comp_channel* channel, ibv_cq** queue, void** context) {
  char byte = 0;
  if (::read(channel->fd, &byte, 1) != 1) return -1;
  *queue = nullptr;
  *context = nullptr;
  return 0;
}

void(ibv_ack_cq_events)(ibv_cq* /*queue*/, unsigned /*events*/) {}

ibv_srq*(ibv_create_srq)(ibv_pd* domain, ibv_srq_init_attr* /*wanted*/) {
  auto made = std::make_unique<ibv_srq>();
  const Shared shared;
  const std::uint32_t number = fabricbench::test::add_queue_pair(shared, IBV_QPT_RC, 0);
  errno = ENOMEM;
  if (number == 0) return nullptr;
  made->context = domain->context;
  made->pd = domain;
  made->handle = number;
  return made.release();
}

int(ibv_destroy_srq)(ibv_srq* queue) {
  const Shared shared;
  shared.queue_pair(queue->handle)->process = 0;
  delete queue;
  return 0;
}

ibv_qp*(ibv_create_qp)(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  errno = EINVAL;
  if (wanted->cap.max_inline_data > fabricbench::test::kMostInline) return nullptr;
  auto made = std::make_unique<OwnQueuePair>();
  const Shared shared;
  const std::uint32_t number = fabricbench::test::add_queue_pair(shared, wanted->qp_type, wanted->recv_cq->handle);
  errno = ENOMEM;
  if (number == 0) return nullptr;
  made->handle.context = domain->context;
  made->handle.pd = domain;
  made->handle.send_cq = wanted->send_cq;
  made->handle.recv_cq = wanted->recv_cq;
  made->handle.srq = wanted->srq;
  made->handle.qp_type = wanted->qp_type;
  made->handle.qp_num = number;
  made->signals_all = wanted->sq_sig_all != 0;
  if (wanted->srq != nullptr) shared.queue_pair(number)->receives_from = wanted->srq->handle;
  g_own.at(number) = made.release();
  return &g_own.at(number)->handle;
}

int(ibv_modify_qp)(ibv_qp* handle, ibv_qp_attr* wanted, int mask) {
  const Shared shared;
  OwnQueuePair& own = fabricbench::test::owner_of(handle);
  if ((mask & IBV_QP_DEST_QPN) != 0) own.peer = wanted->dest_qp_num;
  if ((mask & IBV_QP_STATE) == 0) return 0;
  handle->state = wanted->qp_state;
  shared.queue_pair(handle->qp_num)->state = wanted->qp_state;
  if (handle->state == IBV_QPS_ERR) flush(shared, own);
  return 0;
}

int(ibv_destroy_qp)(ibv_qp* handle) {
  const Shared shared;
  shared.queue_pair(handle->qp_num)->process = 0;
  delete std::exchange(g_own.at(handle->qp_num), nullptr);
  return 0;
}

ibv_ah*(ibv_create_ah)(ibv_pd* domain, ibv_ah_attr* /*way*/) { return new ibv_ah{domain->context, domain, 0}; }

int(ibv_destroy_ah)(ibv_ah* method) {
  delete method;
  return 0;
}

}  // extern "C"
