#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/backends/sockets/rendezvous.h"
#include "common/backends/sockets/tcp_info.h"
#include "common/core/memory.h"
#include "common/core/session.h"

namespace fabricbench::sockets {

class TcpBackend;

/// TCP on host memory: one rank per process, and calls that have completed when they return.
class TcpSession final : public Session {
 public:
  /// Connects this rank with the others. Collective: `gather` is called twice on every rank, and on failure every rank
  /// throws the same Error, that of the first rank that failed. Two ranks of the same host and network namespace use
  /// the loopback, unless an interface was asked for.
  TcpSession(int rank, int ranks, const Gather& gather, const TcpSettings& settings);
  ~TcpSession() override;

  [[nodiscard]] std::string library() const override { return library_; }
  [[nodiscard]] Backend& backend(int /*local_rank*/) override;
  [[nodiscard]] Memory& memory(int /*local_rank*/) override { return memory_; }
  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override;
  void release(const std::vector<std::byte*>& blocks) noexcept override;
  void wait() override {}
  [[nodiscard]] TransportCounters counters() const override {
    return {.retransmitted_segments = totals().retransmitted_segments};
  }
  /// A note on retransmitted segments.
  [[nodiscard]] std::string remark() const override;
  void abandon() noexcept override;

  /// Totals over all connections of this rank.
  [[nodiscard]] TcpTotals totals() const;

 private:
  std::unique_ptr<TcpBackend> backend_;
  std::string library_;
  HostMemory memory_;
};

}  // namespace fabricbench::sockets
