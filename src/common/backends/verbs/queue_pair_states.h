#pragma once

#include <infiniband/verbs.h>

#include "common/core/rdma_options.h"

/// What all ways to connect queue pairs do alike.
namespace fabricbench::verbs {

/// Throws Error (missing) that names the `state` it was to be taken to.
void modify(ibv_qp* queue_pair, ibv_qp_attr& attributes, int mask, const char* state);

/// `queue_key`: of datagrams.
void make_initial(ibv_qp* queue_pair, Transport transport, int port, int pkey_index, std::uint32_t queue_key);

/// Of a reliable connection: how it waits for the other end, and how many reads and atomics are under way.
void set_limits_to_receive(ibv_qp_attr& attributes, int& mask, Transport transport, int outstanding);
void set_limits_to_send(ibv_qp_attr& attributes, int& mask, Transport transport, int outstanding);

/// Datagrams go anywhere; these states say nothing of where to.
void make_ready_for_datagrams(ibv_qp* queue_pair, std::uint32_t sequence_number);

/// The largest MTU that is not above `bytes`.
[[nodiscard]] ibv_mtu mtu_code(int bytes);
[[nodiscard]] int bytes_of(ibv_mtu code);

}  // namespace fabricbench::verbs
