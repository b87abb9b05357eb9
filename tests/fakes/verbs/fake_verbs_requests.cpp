// Requests that are made by the calls of ibv_wr_*, and the address handles that some name.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fake_verbs_queue_pairs.h"

namespace fabricbench::test {
namespace {

FakeQueuePair& owner_of(ibv_qp_ex* making) { return fake_verbs_queues().queue_pairs.at(making->qp_base.qp_num - 1); }

ibv_send_wr& begin(ibv_qp_ex* making, ibv_wr_opcode operation) {
  FakeQueuePair::Message& made = owner_of(making).made.emplace_back();
  made.request.opcode = operation;
  made.request.wr_id = making->wr_id;
  made.request.send_flags = making->wr_flags;
  return made.request;
}

void begin_remote(ibv_qp_ex* making, ibv_wr_opcode operation, std::uint32_t key, std::uint64_t address) {
  ibv_send_wr& request = begin(making, operation);
  request.wr.rdma.remote_addr = address;
  request.wr.rdma.rkey = key;
}

void start(ibv_qp_ex* making) { owner_of(making).made.clear(); }

/// As EFA, which has each request signaled.
bool is_refused(const FakeQueuePair& own) {
  return own.handle.state != IBV_QPS_RTS || std::any_of(own.made.begin(), own.made.end(), [&](const auto& one) {
           return (own.signals_all && (one.request.send_flags & IBV_SEND_SIGNALED) == 0) || one.destination == 0;
         });
}

int complete(ibv_qp_ex* making) {
  FakeQueuePair& own = owner_of(making);
  if (is_refused(own)) return EINVAL;
  if (own.room > 0 && own.waiting.size() + own.made.size() > own.room) return ENOMEM;
  for (FakeQueuePair::Message& one : own.made) {
    one.not_before = fake_verbs_queues().polls + 1 + own.delay;
    own.waiting.push_back(one);
    ++own.posted;
  }
  return 0;
}

void set_part(ibv_qp_ex* making, std::uint32_t key, std::uint64_t address, std::uint32_t bytes) {
  owner_of(making).made.back().part = {address, bytes, key};
}

void set_inline(ibv_qp_ex* making, void* data, std::size_t bytes) {
  FakeQueuePair::Message& made = owner_of(making).made.back();
  made.part.length = static_cast<std::uint32_t>(bytes);
  made.is_inline = true;
  std::memcpy(made.inlined.data(), data, std::min(bytes, made.inlined.size()));
}

void add_calls(ibv_qp_ex& made, std::uint64_t operations) {
  made.wr_start = start;
  made.wr_complete = complete;
  made.wr_set_sge = set_part;
  made.wr_set_inline_data = set_inline;
  if ((operations & IBV_QP_EX_WITH_SEND) != 0) made.wr_send = [](ibv_qp_ex* own) { begin(own, IBV_WR_SEND); };
  if ((operations & IBV_QP_EX_WITH_SEND_WITH_IMM) != 0) {
    made.wr_send_imm = [](ibv_qp_ex* own, __be32 data) { begin(own, IBV_WR_SEND_WITH_IMM).imm_data = data; };
  }
  if ((operations & IBV_QP_EX_WITH_RDMA_READ) != 0) {
    made.wr_rdma_read = [](ibv_qp_ex* own, std::uint32_t key, std::uint64_t address) {
      begin_remote(own, IBV_WR_RDMA_READ, key, address);
    };
  }
  if ((operations & IBV_QP_EX_WITH_RDMA_WRITE) != 0) {
    made.wr_rdma_write = [](ibv_qp_ex* own, std::uint32_t key, std::uint64_t address) {
      begin_remote(own, IBV_WR_RDMA_WRITE, key, address);
    };
  }
  if ((operations & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM) != 0) {
    made.wr_rdma_write_imm = [](ibv_qp_ex* own, std::uint32_t key, std::uint64_t address, __be32 data) {
      begin_remote(own, IBV_WR_RDMA_WRITE_WITH_IMM, key, address);
      owner_of(own).made.back().request.imm_data = data;
    };
  }
  if ((operations & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD) != 0) {
    made.wr_atomic_fetch_add = [](ibv_qp_ex* own, std::uint32_t key, std::uint64_t address, std::uint64_t add) {
      begin(own, IBV_WR_ATOMIC_FETCH_AND_ADD).wr.atomic = {address, add, 0, key};
    };
  }
  if ((operations & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP) != 0) {
    made.wr_atomic_cmp_swp = [](ibv_qp_ex* own, std::uint32_t key, std::uint64_t address, std::uint64_t compare,
                                std::uint64_t swap) {
      begin(own, IBV_WR_ATOMIC_CMP_AND_SWP).wr.atomic = {address, compare, swap, key};
    };
  }
}

}  // namespace

FakeQueuePair& add_extended(ibv_pd* domain, const ibv_qp_init_attr_ex& wanted) {
  FakeQueuePair& made = add_queue_pair(domain, wanted.send_cq, wanted.recv_cq, wanted.qp_type);
  made.names_destinations = true;
  made.room = wanted.cap.max_send_wr;
  add_calls(made.extended, wanted.send_ops_flags);
  return made;
}

void name_destination(ibv_qp_ex* making, std::uint32_t number, std::uint64_t key) {
  FakeQueuePair::Message& made = owner_of(making).made.back();
  made.destination = number;
  made.key = key;
}

}  // namespace fabricbench::test

extern "C" {

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* handle) { return &fabricbench::test::owner_of(handle).extended; }

ibv_ah*(ibv_create_ah)(ibv_pd* domain, ibv_ah_attr* method) {
  fabricbench::test::fake_verbs_queues().ways.push_back(*method);
  return new ibv_ah{domain->context, domain, 0};
}

int(ibv_destroy_ah)(ibv_ah* method) {
  delete method;
  return 0;
}

}  // extern "C"
