#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/channel.h"
#include "common/backends/rdma_cm/link.h"
#include "common/backends/verbs/device.h"
#include "common/backends/verbs/gid_choice.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

struct LinkSettings {
  std::string device;  ///< the device that the address must belong to
  verbs::Gid gid;      ///< from addressable(): the address to bind to
  Transport transport = Transport::kRc;
  std::uint32_t messages = 1;  ///< in each direction of a connection
  Bytes size = 0;
  Seconds limit = 5;         ///< time limit of resolving
  std::size_t parallel = 1;  ///< connections at the same time

  [[nodiscard]] bool datagrams() const { return transport == Transport::kUd; }
};

/// What all links of a side share. Made once, since connections come and go.
struct LinkParts {
  /// Binds to the address, with a port chosen by the system. Throws Error (missing; usage if the device has too few
  /// queue pairs or completions).
  explicit LinkParts(const LinkSettings& given);

  LinkSettings settings;
  Channel channel;
  Identifier anchor;  // bound for this object's lifetime: it keeps the device open, and listens
  verbs::ProtectionDomain domain;
  verbs::CompletionQueue completions;
  std::vector<std::byte> sending;
  std::vector<std::byte> receiving;
  verbs::MemoryRegion send_region;
  verbs::MemoryRegion receive_region;
  SocketAddress peer;
  std::uint64_t secret = 0;  // of the accepting side
};

/// A link over librdmacm. Events of its identifier have it as their context.
class CmLink final : public Link {
 public:
  /// Does not own the parts. `place`: the number of this link among all, which decides its memory.
  CmLink(LinkParts& parts, std::size_t place);
  ~CmLink() override { close(); }

  /// The number of the next connection.
  void begin(std::uint32_t connection) { number_ = connection; }
  /// Takes a connection request for this link; `accept` answers it.
  void take_request(Identifier request);
  /// Learns from an event of this link where to send datagrams.
  void learn_from(const rdma_cm_event& event);
  /// `completion`: of a request with this link's number, see number_of().
  [[nodiscard]] Completion read(const ibv_wc& completion);
  void close() noexcept;

  [[nodiscard]] std::size_t place() const { return place_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] bool has(const rdma_cm_id* identifier) const { return identifier_.get() == identifier; }
  /// Whether there is a connection, or one is being made.
  [[nodiscard]] bool is_open() const { return identifier_ != nullptr; }

  void resolve_address() override;
  void resolve_route() override;
  void connect() override;
  void accept() override;
  void disconnect() override;
  [[nodiscard]] std::span<std::byte> message(std::uint32_t number) override;
  void send(std::uint32_t number) override;

 private:
  void make_queue_pair();
  void post_receive(std::uint32_t slot);
  void poison_receives();
  void learn_sender(const ibv_wc& completion, std::uint32_t slot);
  [[nodiscard]] std::byte* receive_slot(std::uint32_t slot);
  [[nodiscard]] std::uint64_t request_number(std::uint32_t slot) const;
  [[nodiscard]] Arrival arrival_of(const ibv_wc& completion);

  LinkParts& parts_;
  std::size_t place_;
  std::uint32_t number_ = 0;
  Ticket ticket_{};  // sent in a connection request
  Identifier identifier_;
  verbs::AddressHandle address_handle_;
  std::uint32_t remote_queue_pair_ = 0;  // datagrams only, like the key
  std::uint32_t remote_key_ = RDMA_UDP_QKEY;
};

/// The number of the connection whose request has ended.
[[nodiscard]] std::uint32_t number_of(const ibv_wc& completion);

/// The links of one side over librdmacm.
class CmLinks final : public Links {
 public:
  /// Throws Error as LinkParts does.
  explicit CmLinks(const LinkSettings& settings);

  /// Starts to accept connection requests, on the accepting side.
  [[nodiscard]] Invitation listen();
  /// For the connecting side.
  void set_peer(const verbs::Gid& gid, const Invitation& invitation);

  void begin(std::uint64_t first, std::size_t count) override;
  [[nodiscard]] Link& at(std::size_t link) override { return links_[link]; }
  [[nodiscard]] std::optional<LinkEvent> next_event(Seconds longest) override;
  [[nodiscard]] std::vector<Completion> poll() override;
  void close() noexcept override;

 private:
  [[nodiscard]] CmLink* requested(const rdma_cm_event& request);
  [[nodiscard]] CmLink* with_number(std::uint32_t connection);

  LinkParts parts_;
  std::deque<CmLink> links_;
  std::uint32_t first_ = 0;  // number of the first link's connection
  std::size_t count_ = 0;    // links in use
};

}  // namespace fabricbench::rdma_cm
