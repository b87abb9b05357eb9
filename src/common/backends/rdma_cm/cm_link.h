#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/addresses.h"
#include "common/backends/rdma_cm/channel.h"
#include "common/backends/rdma_cm/handles.h"
#include "common/backends/rdma_cm/link.h"
#include "common/backends/verbs/gid_choice.h"
#include "common/backends/verbs/handles.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

struct LinkSettings {
  std::string device;  ///< the device that the address must belong to
  verbs::Gid gid;      ///< from addressable(): the address to bind to
  Transport transport = Transport::kRc;
  std::uint32_t messages = 1;  ///< in each direction
  Bytes size = 0;
  Seconds limit = 5;  ///< time limit of resolving
};

/// A link over librdmacm. The domain, the completion queue and the memory are created once and shared by all
/// connections.
class CmLink final : public Link {
 public:
  /// Binds to the address, with a port chosen by the system. Throws Error (missing).
  explicit CmLink(const LinkSettings& settings);
  ~CmLink() override { close(); }

  /// Starts to accept connection requests, on the accepting side. Returns the port.
  [[nodiscard]] std::uint16_t listen();
  /// For the connecting side.
  void set_peer(const verbs::Gid& gid, std::uint16_t port);

  void resolve_address() override;
  void resolve_route() override;
  void connect() override;
  void accept() override;
  void disconnect() override;
  void close() noexcept override;
  [[nodiscard]] std::optional<Event> next_event(Seconds longest) override;
  [[nodiscard]] std::span<std::byte> message(std::uint32_t number) override;
  void send(std::uint32_t number) override;
  [[nodiscard]] Completions poll() override;

 private:
  void make_shared_parts();
  void make_queue_pair();
  void post_receive(std::uint32_t slot);
  void learn_from(const rdma_cm_event& event);
  void take(const ibv_wc& completion, Completions& completions);
  void learn_sender(const ibv_wc& completion, std::uint32_t slot);
  void poison_receives();
  [[nodiscard]] std::byte* receive_slot(std::uint32_t slot);
  [[nodiscard]] bool datagrams() const { return settings_.transport == Transport::kUd; }
  [[nodiscard]] std::uint64_t identifier_of(std::uint32_t slot) const;

  LinkSettings settings_;
  Channel channel_;
  Identifier anchor_;  // bound for this object's lifetime: it keeps the device open, and listens
  verbs::ProtectionDomain domain_;
  verbs::CompletionQueue completions_;
  std::vector<std::byte> sending_;
  std::vector<std::byte> receiving_;
  verbs::MemoryRegion send_region_;
  verbs::MemoryRegion receive_region_;
  Identifier connection_;
  Identifier requested_;  // of the last connection request
  verbs::AddressHandle address_handle_;
  std::uint32_t remote_queue_pair_ = 0;  // datagrams only, like the key
  std::uint32_t remote_key_ = RDMA_UDP_QKEY;
  std::uint32_t made_ = 0;  // connections so far, to distinguish their completions
  SocketAddress peer_;
};

}  // namespace fabricbench::rdma_cm
