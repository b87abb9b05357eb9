#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/backends/rdma_cm/cm_link.h"
#include "common/backends/rdma_cm/link.h"

namespace fabricbench::rdma_cm {

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
