#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "common/core/rdma_options.h"

/// State changes that all methods of connecting queue pairs share.
namespace fabricbench::verbs {

/// When a reliable connection sends again, and how often; the defaults are perftest's.
struct Retransmission {
  int timeout = 14;  ///< an acknowledgement is waited for 4.096 us x 2^this; 0: for ever
  int retries = 7;   ///< at most 7
};

/// Throws Error (missing) with the target `state`.
void modify(ibv_qp* queue_pair, ibv_qp_attr& attributes, int mask, const char* state);

inline constexpr std::uint8_t kShortestRnrDelay = 1;  // 10 us

/// The queue key of both ends, where messages name their destination.
inline constexpr std::uint32_t kQueueKey = 0x11111111;

/// The properties of a queue pair that it gets first.
struct InitialState {
  Transport transport = Transport::kRc;
  int port = 1;
  int partition = 0;            ///< index of the key
  std::uint32_t queue_key = 0;  ///< UD and SRD only
  bool atomics = true;          ///< the device has them; one without refuses to allow them
};
void make_initial(ibv_qp* queue_pair, const InitialState& wanted);

/// Adds the limits of a reliable connection: how long it waits for the other end, and how many reads and atomics are in
/// flight.
void set_limits_to_receive(ibv_qp_attr& attributes, int& mask, Transport transport, int outstanding);
void set_limits_to_send(ibv_qp_attr& attributes, int& mask, Transport transport, int outstanding,
                        const Retransmission& retransmission);

/// For messages that name their destination, which is not part of these states. `retries`: they are sent again while
/// the receiver has no room (SRD).
void make_ready_for_datagrams(ibv_qp* queue_pair, std::uint32_t sequence_number, bool retries = false);

/// The largest MTU not above `bytes`.
[[nodiscard]] ibv_mtu mtu_code(int bytes);
[[nodiscard]] int bytes_of(ibv_mtu code);

}  // namespace fabricbench::verbs
