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
#include "common/backends/verbs/port_meter.h"
#include "common/backends/verbs/verbs_backend.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/backends/verbs/visibility.h"
#include "common/core/memory.h"
#include "common/core/session.h"

namespace fabricbench::verbs {

class BackgroundStream;

/// The settings of a session; the same on both ranks of a pair, except for the host.
struct VerbsSettings {
  std::string host;
  Verb verb = Verb::kSend;
  bool latency = false;
  RdmaOptions options{};
  std::optional<SeenBy> seen_by{};  ///< when a message counts; empty: by the verb's own rule
  bool spreads = true;              ///< short messages of a stream, over a block of memory besides the buffers
  bool in_host_memory = true;       ///< false: in memory that the processor cannot access
  int rank = -1;                    ///< of the job, for messages; -1: not told
};

/// The largest message to send inline: the value of -I, or perftest's 220 (write) and 236 (send) for latency and 0 for
/// bandwidth. Reads, atomics and messages outside host memory are never inline.
[[nodiscard]] Bytes inline_bytes_wanted(const VerbsSettings& settings);

/// The parts of a route besides its ends, each after a comma: on RoCE the traffic class, and what is not as usual:
/// partition, global route header, classes, flow labels, when and how often packets are sent again.
[[nodiscard]] std::string route_details(const NegotiatedSettings& negotiated);

/// Whether PCIe may reorder the writes of a message (relaxed ordering). Without it some processors let an adapter write
/// at a third of its rate. Not where someone polls memory for a last byte or a flag, which would then come too early;
/// completions are written in order. Source: perftest's setup of memory regions; UCX pull requests 8062 and 10955.
[[nodiscard]] bool relaxes_pcie_order(const VerbsSettings& settings);

/// Whether this end sees a message by its last byte.
[[nodiscard]] bool polls_last_byte(const VerbsSettings& settings);

/// What queue pairs that carried unequal numbers of requests carried of all; empty if they carried about as many each,
/// or too few to tell.
[[nodiscard]] std::string unequal_queue_pairs(const std::vector<std::uint64_t>& completed);

/// The part of the available bytes that messages may use: with a reader, messages need half as much again, from which
/// the other kind of message is sent.
[[nodiscard]] Bytes bytes_for_messages(Bytes available, std::optional<SeenBy> seen_by);

/// RDMA on one kind of memory, one rank per process. A session opens in four steps; between them the pair's ranks tell
/// each other whether they succeeded.
class VerbsSession final : public Session {
 public:
  /// Gathers both ranks' texts, by rank, on both. Collective over the pair.
  using Gather = std::function<std::vector<std::string>(const std::string&)>;

  /// Opens the device, creates the queue pairs, and tries to register memory of this kind. Throws Error.
  VerbsSession(VerbsSettings settings, std::unique_ptr<BufferSource> buffers, std::unique_ptr<Connector> connector,
               int rank, Gather gather, VerbsBackend::Barrier barrier);
  ~VerbsSession() override;

  [[nodiscard]] std::string connect_info() const;
  /// Agrees on the settings of both ends, and returns where to connect. `connect_infos`:
  /// both ranks', by rank. Throws Error.
  [[nodiscard]] std::string agree_with(const std::vector<std::string>& connect_infos);
  /// Connects the queue pairs; `listen_infos` are the results of agree_with on both ranks. Throws Error.
  void connect(const std::vector<std::string>& listen_infos);
  /// Takes the reader of messages, if messages count when it sees them. Throws Error.
  void see_with(std::unique_ptr<MessageReader> reader);
  /// The reader, for messages; empty if there is none.
  [[nodiscard]] std::string reader() const { return seen_ ? seen_->reader() : ""; }
  /// Registers the atomics' counters and the reader's flag. Where an adapter does not promise to keep the order of
  /// data, writes whose last byte would be polled carry immediate data instead, and the route warns of a reader's flag.
  /// Collective over the pair.
  void finish_opening();

  /// Takes the stream that loads the ports while messages are measured.
  void load_with(std::unique_ptr<BackgroundStream> stream);
  /// Requests that have completed, over all queue pairs; for the thread that posts them.
  [[nodiscard]] std::uint64_t completed_requests() const;

  /// The ports of both ends, such as `mlx5_0 port 1 <-> mlx5_0 port 1, RoCE v2, IPv4, GID indices 3 and 3, MTU 4096`.
  [[nodiscard]] std::string route() const;
  /// The buffers' memory and how it was registered, such as `memory of GPU 0 (NVIDIA H200) by dma-buf`.
  [[nodiscard]] std::string registered() const;

  /// What this end's port does not count, see unknown_text.
  [[nodiscard]] std::string uncounted() const { return unknown_text(counted_before_); }

  /// Records the bandwidth of the largest message with host memory, and the obstacles to this session's memory.
  void compare_with(double host_memory_rate, std::vector<std::string> obstacles) {
    host_memory_rate_ = host_memory_rate;
    obstacles_ = std::move(obstacles);
  }

  [[nodiscard]] std::string library() const override;
  [[nodiscard]] std::optional<Bytes> most_bytes() const override;
  [[nodiscard]] Bytes distance_of(Bytes size) const override;
  [[nodiscard]] Backend& backend(int local_rank) override;
  [[nodiscard]] Memory& memory(int /*local_rank*/) override { return buffers_->memory(); }
  [[nodiscard]] std::vector<int> devices() const override { return buffers_->devices(); }
  [[nodiscard]] std::optional<Bytes> device_memory() const override;
  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override;
  void release(const std::vector<std::byte*>& blocks) noexcept override;
  [[gnu::hot]] void wait() override {}
  [[nodiscard]] TransportCounters counters() const override;
  [[nodiscard]] MemoryPath memory_path() const override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string state() const override { return connection_->diagnosis(); }
  void abandon() noexcept override;

 private:
  /// A block and its registration.
  struct Registered {
    std::byte* data;
    MemoryRegion region;
  };

  [[nodiscard]] int depth() const;
  [[nodiscard]] RequestWindowSettings window_settings() const;
  [[nodiscard]] VerbsBackend::Exchange exchange() const;
  [[nodiscard]] int room_for_receives() const;
  void match_arrivals();
  [[nodiscard]] VisibilityBackend* seen_backend() const { return seen_ ? seen_->backend() : nullptr; }
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
  PortReading counted_before_;
  std::unique_ptr<VerbsConnection> connection_;
  std::unique_ptr<Connector> connector_;  // destroyed before the parts it was created with
  std::unique_ptr<VerbsBackend> backend_;
  std::vector<ConnectInfo> both_;
  NegotiatedSettings negotiated_;
  std::vector<Registered> blocks_;
  RegistrationMethod method_ = RegistrationMethod::kHost;
  bool relaxed_order_ = false;  // of the buffers' registration
  std::string arrival_;         // how a message's arrival is known, if not as usual; after a comma
  double host_memory_rate_ = 0;
  std::vector<std::string> obstacles_;
  std::unique_ptr<VisibilityParts> seen_;  // destroyed before the parts it uses
  std::unique_ptr<BackgroundStream> background_;
};

}  // namespace fabricbench::verbs
