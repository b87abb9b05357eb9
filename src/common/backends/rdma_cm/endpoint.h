#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/core/ownership.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// The rdma_cm events of a connection; kOther is irrelevant to it.
enum class EventKind {
  kAddressResolved,
  kAddressError,
  kRouteResolved,
  kRouteError,
  kConnectRequest,
  kConnectResponse,  ///< if the queue pair is not managed by rdma_cm
  kConnectError,
  kUnreachable,
  kRejected,
  kEstablished,
  kDisconnected,
  kDeviceRemoved,
  kAddressChange,
  kOther
};

struct Event {
  EventKind kind = EventKind::kOther;
  int status = 0;  ///< 0, a negative errno, or the reason of a rejection
};

/// The name in rdma_cm, such as `RDMA_CM_EVENT_REJECTED`.
[[nodiscard]] std::string_view name(EventKind kind);

/// The meaning of an event that ends an attempt to connect, and what to do, in one or two sentences:
/// `RDMA_CM_EVENT_REJECTED (status 8, no listener there): ...`. Source: man rdma_get_cm_event; InfiniBand
/// specification, table 112 of reasons.
[[nodiscard]] std::string explain(const Event& event);

/// Likely causes if no event came in a step within the limit.
[[nodiscard]] std::string explain_silence(ConnectStep step, Seconds limit);

/// Why a step failed, with the step and the peer: `connecting with rank 1 on node-07: why`.
[[nodiscard]] std::string in_step(ConnectStep step, const std::string& peer, const std::string& why);

/// The requests to rdma_cm of one end of a connection, which events answer. All methods throw Error if a call fails.
class Handshake : public InterfaceBase {
 public:
  virtual void resolve_address() = 0;
  virtual void resolve_route() = 0;
  virtual void connect() = 0;
  /// Accepts the last connection request.
  virtual void accept() = 0;
};

/// One end of a connection that carries messages; connect and accept first create the queue pair and post its receives.
/// All methods throw Error if a call or a request fails.
class Endpoint : public Handshake {
 public:
  virtual void disconnect() = 0;

  /// The buffer of an own message, for `send`.
  [[nodiscard]] virtual std::span<std::byte> message(std::uint32_t number) = 0;
  virtual void send(std::uint32_t number) = 0;
};

/// The error that ended something early.
struct Problem {
  ExitStatus status = ExitStatus::kOk;  ///< kOk: there was none
  std::string text;
};

/// A received message.
struct Arrival {
  std::uint32_t number = 0;         ///< the sender's number for it
  std::span<const std::byte> data;  ///< valid until the connection is closed
};

/// The end of one request.
struct Completion {
  std::size_t endpoint = 0;
  std::optional<Arrival> arrival;  ///< empty: an own message has completed
  Problem problem;                 ///< the request failed
};

/// An rdma_cm event of one endpoint.
struct EndpointEvent {
  std::size_t endpoint = 0;  ///< meaningless for kOther
  Event event;
};

/// The endpoints of one side, for connections that exist at the same time. They share an event channel and a completion
/// queue.
class Endpoints : public InterfaceBase {
 public:
  /// The first `count` endpoints are for the connections with these numbers. Both sides call it with the same
  /// arguments, before the connecting side connects.
  virtual void begin(std::uint64_t first, std::size_t count) = 0;
  [[nodiscard]] virtual Endpoint& at(std::size_t endpoint) = 0;
  /// Waits for the next event, for at most `longest`. A connection request is an event of the endpoint for its
  /// connection. Throws Error.
  [[nodiscard]] virtual std::optional<EndpointEvent> next_event(Seconds longest) = 0;
  /// Throws Error.
  [[nodiscard]] virtual std::vector<Completion> poll() = 0;
  /// Releases the resources of all connections.
  virtual void close() noexcept = 0;
};

}  // namespace fabricbench::rdma_cm
