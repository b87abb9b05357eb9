#include "common/backends/rdma_cm/queue_pair_handshake.h"

#include "common/backends/rdma_cm/steps.h"

namespace fabricbench::rdma_cm {
namespace {

void call(QueuePairHandshake& handshake, const Steps& steps, bool datagrams) {
  const EventKind answer = datagrams ? EventKind::kEstablished : EventKind::kConnectResponse;
  (void)steps.take(ConnectStep::kResolveAddress, EventKind::kAddressResolved, [&] { handshake.resolve_address(); });
  (void)steps.take(ConnectStep::kResolveRoute, EventKind::kRouteResolved, [&] { handshake.resolve_route(); });
  (void)steps.take(ConnectStep::kConnect, answer, [&] { handshake.connect(); });
  steps.attempt(ConnectStep::kConnect, [&] { handshake.establish(); });
}

/// The calling side resolves first, with a time limit for each of the two steps.
void answer(QueuePairHandshake& handshake, const Steps& steps, bool datagrams, Seconds limit) {
  steps.await(EventKind::kConnectRequest, ConnectStep::kConnect, 3 * limit);
  steps.attempt(ConnectStep::kConnect, [&] { handshake.accept(); });
  if (!datagrams) steps.await(EventKind::kEstablished, ConnectStep::kConnect);
}

}  // namespace

void connect_queue_pairs(QueuePairHandshake& handshake, const QueuePairSettings& settings) {
  const bool datagrams = settings.transport == Transport::kUd;
  const int directions = datagrams ? 2 : 1;
  for (int direction = 0; direction < directions; ++direction) {
    const bool calls = settings.first == (direction == 0);
    for (int i = 0; i < settings.queue_pairs; ++i) {
      const Steps steps(handshake, {settings.limit, settings.peer(i), settings.clock});
      handshake.begin(i);
      if (calls) {
        call(handshake, steps, datagrams);
      } else {
        answer(handshake, steps, datagrams, settings.limit);
      }
    }
  }
}

}  // namespace fabricbench::rdma_cm
