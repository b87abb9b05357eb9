#pragma once

namespace fabricbench::rdma_cm {

/// The requests to rdma_cm of one end of a connection, which events answer. All methods throw Error if a call fails.
class Handshake {
 public:
  Handshake() = default;
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  virtual ~Handshake() = default;

  virtual void resolve_address() = 0;
  virtual void resolve_route() = 0;
  virtual void connect() = 0;
  /// Accepts the last connection request.
  virtual void accept() = 0;
};

}  // namespace fabricbench::rdma_cm
