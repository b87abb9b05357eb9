#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/verbs/provider_transport.h"
#include "common/backends/verbs/verbs_connection.h"

namespace fabricbench::verbs {

/// A connection of a type that only one provider has. Its requests are posted by ibv_wr_*, because the structures of
/// ibv_post_send have no place for a destination beside a remote address.
class ProviderConnection final : public VerbsConnection {
 public:
  ProviderConnection(const OpenDevice& device, const ConnectionSettings& settings,
                     std::unique_ptr<ProviderTransport> transport);

  [[nodiscard]] std::string invite(Connector& connector, const Meeting& meeting) override;
  void connect(Connector& connector, const Meeting& meeting, const std::string& invitation) override;
  [[nodiscard]] std::optional<bool> keeps_order() const override { return transport_->keeps_order(); }
  [[nodiscard]] Bytes largest_message() const override;

  void post(int queue_pair, std::span<const Request> requests) override;
  void make_ready(int queue_pair, std::span<const Request> requests, int each) override;
  void post_ready(int queue_pair, int count, std::uint64_t number, bool signaled) override;
  [[nodiscard]] std::span<const Completion> poll() override;
  [[nodiscard]] std::uint64_t completed() override;

 private:
  /// A queue pair's requests.
  struct Lane {
    ibv_qp_ex* queue_pair = nullptr;
    std::vector<Request> ready{};  ///< in lists of `each`
    std::size_t each = 1;
    std::size_t next = 0;         ///< first request of the list whose turn it is
    std::uint64_t newest = 0;     ///< number of the last one posted
    std::uint64_t under_way = 0;  ///< posted, and not seen to complete
  };

  void make(int queue_pair, const Request& request, std::uint64_t number, bool signaled);
  void hand_over(int queue_pair, std::uint64_t count, std::uint64_t newest);
  [[nodiscard]] std::uint64_t count_completed(int queue_pair);

  std::unique_ptr<ProviderTransport> transport_;
  bool in_order_;
  std::vector<Lane> lanes_;  // by queue pair
};

/// The connection that the transport in `settings` needs. Throws Error (missing), also where the device lacks that type
/// of connection, with the type that it has.
[[nodiscard]] std::unique_ptr<VerbsConnection> open_connection(const OpenDevice& device,
                                                               const ConnectionSettings& settings);

}  // namespace fabricbench::verbs
