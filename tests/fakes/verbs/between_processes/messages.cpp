#include "messages.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace fabricbench::test {
namespace {

constexpr std::uint32_t kDatagramHeader = 40;  // bytes

// verbs has addresses as numbers.
void* place(std::uint64_t address) { return reinterpret_cast<void*>(address); }  // NOLINT(performance-no-int-to-ptr)

iovec bytes_at(std::uint64_t address, std::size_t bytes) { return {place(address), bytes}; }

ibv_wc_status status_of(ssize_t moved) {
  if (moved >= 0) return IBV_WC_SUCCESS;
  return errno == ESRCH ? IBV_WC_RETRY_EXC_ERR : IBV_WC_REM_ACCESS_ERR;
}

iovec data_of(SentMessage& message) {
  return message.is_inline ? iovec{message.inlined.data(), message.part.length}
                           : bytes_at(message.part.addr, message.part.length);
}

bool takes_receive(ibv_wr_opcode operation) {
  return operation == IBV_WR_SEND || operation == IBV_WR_SEND_WITH_IMM || operation == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool carries_immediate(ibv_wr_opcode operation) {
  return operation == IBV_WR_SEND_WITH_IMM || operation == IBV_WR_RDMA_WRITE_WITH_IMM;
}

ibv_wc_status write(int process, SentMessage& message) {
  const iovec from = data_of(message);
  const iovec into = bytes_at(message.request.wr.rdma.remote_addr, from.iov_len);
  return status_of(process_vm_writev(process, &from, 1, &into, 1, 0));
}

ibv_wc_status read(int process, SentMessage& message) {
  const iovec into = data_of(message);
  const iovec from = bytes_at(message.request.wr.rdma.remote_addr, into.iov_len);
  return status_of(process_vm_readv(process, &into, 1, &from, 1, 0));
}

/// The lock makes it one step, as an adapter's own lock does.
ibv_wc_status exchange(int process, const SentMessage& message) {
  const auto& atomic = message.request.wr.atomic;
  std::uint64_t value = 0;
  const iovec own{&value, sizeof value};
  const iovec there = bytes_at(atomic.remote_addr, sizeof value);
  ibv_wc_status status = status_of(process_vm_readv(process, &own, 1, &there, 1, 0));
  if (status != IBV_WC_SUCCESS) return status;
  std::memcpy(place(message.part.addr), &value, sizeof value);
  if (message.request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    value += atomic.compare_add;
  } else if (value == atomic.compare_add) {
    value = atomic.swap;
  }
  return status_of(process_vm_writev(process, &own, 1, &there, 1, 0));
}

/// Puts a message into a receive, behind a header where it is a datagram.
ibv_wc_status fill(int process, const SharedReceive& receive, SentMessage& message, std::uint32_t header) {
  std::array<std::byte, kDatagramHeader> zeros{};
  const std::array<iovec, 2> from = {iovec{zeros.data(), header}, data_of(message)};
  std::array<iovec, 2> into{};
  for (int i = 0; i < receive.parts; ++i) {
    const ibv_sge& part = receive.part.at(static_cast<std::size_t>(i));
    into.at(static_cast<std::size_t>(i)) = bytes_at(part.addr, part.length);
  }
  return status_of(
      process_vm_writev(process, from.data(), from.size(), into.data(), static_cast<unsigned long>(receive.parts), 0));
}

ibv_wc_status receive(const Shared& shared, SharedQueuePair& peer, SentMessage& message) {
  auto& receives = shared.queue_pair(peer.receives_from)->receives;
  const SharedReceive taken = receives.front();
  const std::uint32_t header = peer.type == IBV_QPT_UD ? kDatagramHeader : 0;
  const bool is_write = message.request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  const ibv_wc_status status = is_write ? write(peer.process, message) : fill(peer.process, taken, message, header);
  if (status != IBV_WC_SUCCESS) return status;
  receives.pop();
  ibv_wc came{};
  came.wr_id = taken.id;
  came.opcode = is_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  came.byte_len = message.part.length + header;
  came.qp_num = message.destination;
  if (carries_immediate(message.request.opcode)) {
    came.wc_flags = IBV_WC_WITH_IMM;
    came.imm_data = message.request.imm_data;
  }
  shared.complete(peer.completions, came);
  return IBV_WC_SUCCESS;
}

ibv_wc_status deliver(const Shared& shared, SharedQueuePair& peer, SentMessage& message) {
  switch (message.request.opcode) {
    case IBV_WR_RDMA_WRITE: return write(peer.process, message);
    case IBV_WR_RDMA_READ: return read(peer.process, message);
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_ATOMIC_CMP_AND_SWP: return exchange(peer.process, message);
    default: return receive(shared, peer, message);
  }
}

bool is_dead(int process) { return process == 0 || (kill(process, 0) != 0 && errno == ESRCH); }

bool answers(const SharedQueuePair& one) { return one.state == IBV_QPS_RTR || one.state == IBV_QPS_RTS; }

bool has_no_room(const Shared& shared, const SharedQueuePair& peer, const SentMessage& message) {
  return takes_receive(message.request.opcode) && shared.queue_pair(peer.receives_from)->receives.empty();
}

enum class Result { kDone, kLost, kWaits };

struct Attempt {
  Result result;
  ibv_wc_status status;
};

/// A reliable connection sends again until the other side has room, or is known to be gone. Datagrams are lost.
Attempt attempt(const Shared& shared, const OwnQueuePair& own, SentMessage& message) {
  const bool is_reliable = own.handle.qp_type == IBV_QPT_RC;
  SharedQueuePair* const peer = shared.queue_pair(message.destination);
  const bool is_gone = peer == nullptr || is_dead(peer->process) || peer->state == IBV_QPS_ERR;
  if (is_gone) return {Result::kLost, is_reliable ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS};
  if (!answers(*peer) || has_no_room(shared, *peer, message)) {
    return {is_reliable ? Result::kWaits : Result::kLost, IBV_WC_SUCCESS};
  }
  return {Result::kDone, deliver(shared, *peer, message)};
}

void complete(const Shared& shared, const OwnQueuePair& own, const SentMessage& message, ibv_wc_status status) {
  const bool is_signaled = own.signals_all || (message.request.send_flags & IBV_SEND_SIGNALED) != 0;
  if (status == IBV_WC_SUCCESS && !is_signaled) return;
  ibv_wc made{};
  made.wr_id = message.request.wr_id;
  made.status = status;
  made.qp_num = own.handle.qp_num;
  shared.complete(own.handle.send_cq->handle, made);
}

}  // namespace

void advance(const Shared& shared, OwnQueuePair& own) {
  while (!own.waiting.empty()) {
    if (own.handle.state == IBV_QPS_ERR) return flush(shared, own);
    SentMessage& next = own.waiting.front();
    const Attempt made = attempt(shared, own, next);
    if (made.result == Result::kWaits) return;
    complete(shared, own, next, made.status);
    own.waiting.pop();
    if (made.status != IBV_WC_SUCCESS) {
      own.handle.state = IBV_QPS_ERR;
      shared.queue_pair(own.handle.qp_num)->state = IBV_QPS_ERR;
      flush(shared, own);
    }
  }
}

void flush(const Shared& shared, OwnQueuePair& own) {
  for (; !own.waiting.empty(); own.waiting.pop()) {
    complete(shared, own, own.waiting.front(), IBV_WC_WR_FLUSH_ERR);
  }
  SharedQueuePair& known = *shared.queue_pair(own.handle.qp_num);
  if (known.receives_from != own.handle.qp_num) return;
  for (; !known.receives.empty(); known.receives.pop()) {
    ibv_wc made{};
    made.wr_id = known.receives.front().id;
    made.status = IBV_WC_WR_FLUSH_ERR;
    made.qp_num = own.handle.qp_num;
    shared.complete(known.completions, made);
  }
}

}  // namespace fabricbench::test
