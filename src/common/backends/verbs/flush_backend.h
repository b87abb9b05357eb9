#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "common/backends/verbs/flow.h"
#include "common/backends/verbs/visibility_backend.h"

namespace fabricbench::verbs {

/// Messages of a VerbsBackend that count once the completion of the receive has been followed by a read of the
/// message's last bytes through the device. The read cannot overtake the device's earlier writes to memory, so the
/// consumer of the message may then use it.
class FlushBackend final : public VisibilityBackend {
 public:
  /// The functions that register a receive buffer with `loopback` in place of the previous one, returning its key, and
  /// that deregister it before its memory is released.
  struct Known {
    std::function<std::uint32_t(std::span<std::byte> recv)> make;
    std::function<void()> forget;
  };

  /// `loopback`: a queue pair of the same device that is connected to itself. `into`: 8 bytes of host memory registered
  /// with it. Both must outlive this object.
  FlushBackend(VerbsBackend& messages, Connection& loopback, const FlowSettings& settings, const LocalPart& into,
               Known known);

  void add_block(const Block& /*block*/) override {}  // the VerbsBackend has them
  void forget_block(const std::byte* data) noexcept override;

  void send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    messages_.send(buffer, count, datatype, to);
  }
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    messages_.start_send(buffer, count, datatype, to);
  }
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override {
    messages_.start_recv(buffer, count, datatype, from);
  }
  void finish() override { messages_.finish(); }
  void barrier() override { messages_.barrier(); }
  void prepare(std::span<const std::byte> send, std::span<std::byte> recv) override;
  void settle() override { messages_.settle(); }
  [[nodiscard]] std::optional<Mismatch> own_mismatch() override { return messages_.own_mismatch(); }

 private:
  VerbsBackend& messages_;
  Flow flow_;
  LocalPart into_;
  Known known_;
  const std::byte* known_at_ = nullptr;
  std::uint32_t key_ = 0;
};

}  // namespace fabricbench::verbs
