#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/device.h"
#include "common/backends/verbs/seen_parts.h"
#include "common/backends/verbs/verbs_backend.h"
#include "common/backends/verbs/verbs_endpoint.h"
#include "common/core/buffer_source.h"
#include "common/core/memory.h"
#include "common/core/session.h"

namespace fabricbench::verbs {

/// What a session is opened with; the same on both ranks of a pair, but for the host.
struct VerbsSettings {
  std::string host;
  Verb verb = Verb::kSend;
  bool latency = false;
  RdmaOptions options{};
  std::optional<SeenBy> seen_by{};  ///< when a message counts; nothing: as the verb has it
  bool in_host_memory = true;       ///< else in memory that the processor does not see
};

/// Messages up to so many bytes are sent inline: as asked for, or perftest's 220 (write) and 236 (send) of latency and
/// 0 of bandwidth; reads, atomics and what lies outside of the host's memory are never.
[[nodiscard]] Bytes inline_bytes_wanted(const VerbsSettings& settings);

/// How many of the bytes that there are messages may take: a reader's take half as much again, what the other half of
/// them is sent from.
[[nodiscard]] Bytes bytes_for_messages(Bytes available, std::optional<SeenBy> seen_by);

/// RDMA on one kind of memory, one rank a process. Opening goes in four steps, between which the pair's ranks learn of
/// each other whether all went well.
class VerbsSession final : public Session {
 public:
  /// Gives both ranks' texts, by rank, on both. Collective over the pair.
  using Gather = std::function<std::vector<std::string>(const std::string&)>;

  /// Opens the device, makes the queue pairs, and sees whether the device can be given such memory. Throws Error.
  VerbsSession(VerbsSettings settings, std::unique_ptr<BufferSource> buffers, std::unique_ptr<Connector> connector,
               int rank, Gather gather, VerbsBackend::Barrier barrier);
  ~VerbsSession() override;
  VerbsSession(const VerbsSession&) = delete;
  VerbsSession& operator=(const VerbsSession&) = delete;

  [[nodiscard]] std::string introduction() const;
  /// Settles what both ends use, and says how to be connected to. `introductions`: both ranks', by rank. Throws Error.
  [[nodiscard]] std::string agree_with(const std::vector<std::string>& introductions);
  /// Connects the queue pairs; `invitations` are what agree_with gave on both ranks. Throws Error.
  void connect(const std::vector<std::string>& invitations);
  /// Where it matters who has seen a message: takes what reads messages. Throws Error.
  void see_with(std::unique_ptr<Reader> reader);
  /// What reads messages, for people; empty where nothing does.
  [[nodiscard]] std::string reader() const { return seen_ ? seen_->reader() : ""; }
  /// Registers what atomics count in, and the flag of a reader. Collective over the pair.
  void finish_opening();

  /// From which port to which, such as `mlx5_0 port 1 <-> mlx5_0 port 1, RoCE v2, IPv4, GID indices 3 and 3, MTU 4096`.
  [[nodiscard]] std::string route() const;
  /// Where the buffers lie and how the device was given them, such as `memory of GPU 0 (NVIDIA H200) by dma-buf`.
  [[nodiscard]] std::string registered() const;

  /// What the largest message reaches in the host's memory, and what is in the way to this session's memory.
  void compare_with(double host_memory_rate, std::vector<std::string> obstacles) {
    host_memory_rate_ = host_memory_rate;
    obstacles_ = std::move(obstacles);
  }

  [[nodiscard]] std::string library() const override;
  [[nodiscard]] std::optional<Bytes> most_bytes() const override;
  [[nodiscard]] Backend& backend(int local_rank) override;
  [[nodiscard]] Memory& memory(int /*local_rank*/) override { return buffers_->memory(); }
  [[nodiscard]] std::vector<int> devices() const override { return buffers_->devices(); }
  [[nodiscard]] std::optional<Bytes> device_memory() const override;
  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override;
  void release(const std::vector<std::byte*>& blocks) noexcept override;
  [[gnu::hot]] void wait() override {}
  [[nodiscard]] double host_memory_rate() const override { return host_memory_rate_; }
  [[nodiscard]] std::vector<std::string> obstacles() const override { return obstacles_; }
  [[nodiscard]] std::optional<std::uint64_t> lost_messages() const override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string state() const override { return endpoint_->diagnosis(); }
  [[nodiscard]] std::optional<Seconds> reader_round_trip() const override;
  void abandon() noexcept override;

 private:
  /// A block, and what made it known to the device.
  struct Registered {
    std::byte* data;
    MemoryRegion region;
  };

  [[nodiscard]] int depth() const;
  [[nodiscard]] FlowSettings flow_settings() const;
  [[nodiscard]] SeenBackend* seen_backend() const { return seen_ ? seen_->backend() : nullptr; }
  [[nodiscard]] std::int64_t receive_depth() const;
  [[nodiscard]] const Registered& register_own(std::size_t bytes);
  [[nodiscard]] Block register_block(std::size_t bytes);
  void try_memory();

  std::unique_ptr<BufferSource> buffers_;
  VerbsSettings settings_;
  int rank_;
  Gather gather_;
  VerbsBackend::Barrier barrier_;
  OpenDevice device_;
  std::unique_ptr<VerbsEndpoint> endpoint_;
  std::unique_ptr<Connector> connector_;  // goes before what it makes its parts of
  std::unique_ptr<VerbsBackend> backend_;
  std::vector<Introduction> both_;
  Meeting meeting_;
  std::vector<Registered> blocks_;
  Way way_ = Way::kHost;
  double host_memory_rate_ = 0;
  std::vector<std::string> obstacles_;
  std::unique_ptr<SeenParts> seen_;  // goes before what it uses
};

}  // namespace fabricbench::verbs
