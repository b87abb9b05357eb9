#include "common/backends/rdma/background.h"

#include <utility>

#include <fmt/format.h>

#include "common/backends/rdma/routes.h"
#include "common/backends/verbs/background_stream.h"
#include "common/core/units.h"
#include "common/engine/placement_notices.h"
#include "common/host/identity.h"
#include "common/host/topology.h"

namespace fabricbench {

verbs::VerbsSettings background_settings(const verbs::VerbsSettings& of_messages) {
  const RdmaOptions& given = of_messages.options;
  verbs::VerbsSettings settings{.host = of_messages.host, .verb = Verb::kWrite};
  settings.rank = of_messages.rank;
  RdmaOptions& options = settings.options;
  options.device = given.device;
  options.port = given.port;
  options.gid = given.gid;
  options.mtu = given.mtu;
  options.partition = given.partition;
  options.flow_labels = given.flow_labels;
  options.by_rdma_cm = given.by_rdma_cm;
  options.acknowledge_timeout = given.acknowledge_timeout;
  options.retries = given.retries;
  options.stall_timeout = given.stall_timeout;
  options.strict_pcie_order = given.strict_pcie_order;
  options.service_level = given.background_service_level.value_or(given.service_level);
  options.traffic_class = given.background_traffic_class.value_or(given.traffic_class);
  return settings;
}

std::vector<std::string> background_notices(const Team& team, const Placed& placed,
                                            const verbs::VerbsSession& session) {
  const std::string route = fmt::format("writes of {} from the first rank to the second at the same time, {}",
                                        readable_bytes(verbs::BackgroundStream::kMessage), session.route());
  std::vector<std::string> notices = route_notices(team, "Background", route);
  std::string shared;
  if (team.group().is_root() && host::allowed_processing_units() == 1) {
    shared = fmt::format(
        "{} may use one processor, which its messages and its stream share, and times include waiting for it; {}",
        host::name_of_process(team.process_in_job(), placed.host), kUnbind);
  }
  if (std::string text = kinds_notice(team.world(), "Background", shared); !text.empty()) {
    notices.push_back(std::move(text));
  }
  return notices;
}

}  // namespace fabricbench
