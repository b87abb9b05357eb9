#pragma once

#include "common/backends/verbs/connector.h"

namespace fabricbench::verbs {

/// Connects queue pairs with the data from the two ranks' introductions.
class DirectConnector final : public Connector {
 public:
  [[nodiscard]] std::vector<Gid> usable_gids(const PortFacts& port,
                                             const std::optional<std::int64_t>& /*asked*/) const override {
    return port.gids;
  }
  [[nodiscard]] std::string invite(const Meeting& /*meeting*/) override { return ""; }
  [[nodiscard]] Connected connect(const Meeting& meeting, const OwnQueuePairs& own,
                                  const std::string& invitation) override;
  [[nodiscard]] std::string description() const override { return ""; }
};

}  // namespace fabricbench::verbs
