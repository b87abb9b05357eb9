#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "common/backends/verbs/flow.h"
#include "common/backends/verbs/seen_backend.h"

namespace fabricbench::verbs {

/// Messages of a VerbsBackend that count when, behind the completion of the receive, the last bytes of the message have
/// been read back through the device: what the device has written before on its way to memory cannot be overtaken by
/// that read, so the one that it is for may use it then.
class FlushBackend final : public SeenBackend {
 public:
  /// What makes a receive buffer known to `loopback`, in the place of the one before, and gives its key there; and what
  /// makes it unknown before its memory goes.
  struct Known {
    std::function<std::uint32_t(std::span<std::byte> recv)> make;
    std::function<void()> forget;
  };

  /// `loopback`: a queue pair of the same device that is connected to itself. `into`: 8 bytes of host memory that it
  /// knows. All of it lives longer.
  FlushBackend(VerbsBackend& messages, Endpoint& loopback, const FlowSettings& settings, const LocalPart& into,
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
