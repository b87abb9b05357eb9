#pragma once

#include <memory>

#include "common/backends/rdma_cm/cm_queue_pairs.h"
#include "common/backends/verbs/connector.h"

namespace fabricbench::rdma_cm {

/// Connects queue pairs over librdmacm: the first rank of a pair connects, and the second one accepts. Only for
/// reliable connections and datagrams, see decisions/0015-queue-pairs-over-rdma-cm.md.
class CmConnector final : public verbs::Connector {
 public:
  [[nodiscard]] std::vector<verbs::Gid> usable_gids(const verbs::PortFacts& port,
                                                    const std::optional<std::int64_t>& asked) const override;
  [[nodiscard]] std::string invite(const verbs::Meeting& meeting) override;
  /// Throws only failure and timeout, because the other rank is waiting.
  [[nodiscard]] verbs::Connected connect(const verbs::Meeting& meeting, const verbs::OwnQueuePairs& own,
                                         const std::string& invitation) override;
  [[nodiscard]] std::string description() const override { return "connected by rdma_cm"; }

 private:
  std::unique_ptr<CmQueuePairs> queue_pairs_;  // destroyed last: the connections end with it
};

}  // namespace fabricbench::rdma_cm
