// Requests as libibverbs wants them.
#pragma once

#include <endian.h>
#include <infiniband/verbs.h>

#include <cstdint>

#include "common/backends/verbs/connection.h"

namespace fabricbench::verbs {

inline ibv_wr_opcode opcode_of(const Request& request) {
  switch (request.verb) {
    case Verb::kWrite: return request.immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    case Verb::kRead: return IBV_WR_RDMA_READ;
    case Verb::kAtomic:
      return request.atomic == AtomicKind::kFetchAndAdd ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
    default: return request.immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
  }
}

inline void set_target(const Request& request, ibv_send_wr& made) {
  if (request.verb == Verb::kAtomic) {
    made.wr.atomic.remote_addr = request.remote.address;
    made.wr.atomic.rkey = request.remote.key;
    const bool swaps = request.atomic == AtomicKind::kCompareAndSwap;
    made.wr.atomic.compare_add = swaps ? request.compare : 1;
    made.wr.atomic.swap = request.compare + 1;
  } else if (request.verb != Verb::kSend) {
    made.wr.rdma.remote_addr = request.remote.address;
    made.wr.rdma.rkey = request.remote.key;
  }
}

/// Fills in a work request and its single part, except for its number, the next request and the destination. Inline,
/// because it runs for every message.
inline void set_work_request(const Request& request, ibv_sge& part, ibv_send_wr& made) {
  part = {reinterpret_cast<std::uint64_t>(request.local.data), request.local.bytes, request.local.key};
  made.sg_list = &part;
  made.num_sge = request.local.bytes > 0 ? 1 : 0;
  made.opcode = opcode_of(request);
  made.send_flags = 0;
  if (request.signaled) made.send_flags |= IBV_SEND_SIGNALED;
  if (request.is_inline) made.send_flags |= IBV_SEND_INLINE;
  if (request.immediate) made.imm_data = htobe32(*request.immediate);
}

}  // namespace fabricbench::verbs
