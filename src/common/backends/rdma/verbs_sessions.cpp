#include "common/backends/rdma/verbs_sessions.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/backends/rdma/buffers.h"
#include "common/backends/rdma/gpu_way.h"
#include "common/backends/rdma/routes.h"
#include "common/backends/rdma/seen.h"
#include "common/backends/rdma_cm/cm_connector.h"
#include "common/backends/verbs/direct_connector.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/core/error.h"
#include "common/core/host_buffers.h"
#include "common/measure/rate_of.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

std::unique_ptr<verbs::Connector> connector_for(const RdmaOptions& options) {
  if (options.by_rdma_cm) return std::make_unique<rdma_cm::CmConnector>();
  return std::make_unique<verbs::DirectConnector>();
}

/// Opens a session on `buffers` in steps. After each step all processes learn whether it succeeded everywhere.
std::unique_ptr<verbs::VerbsSession> open_session(const Team& team, const verbs::VerbsSettings& settings,
                                                  std::unique_ptr<BufferSource> buffers,
                                                  std::optional<SeenBy> seen_by = std::nullopt) {
  const mpi::Communicator& world = team.world();
  const mpi::Communicator& group = team.group();
  const auto gather = [&group](const std::string& text) { return all_gather(group, text); };
  auto session = everywhere(world, [&] {
    return std::make_unique<verbs::VerbsSession>(settings, std::move(buffers), connector_for(settings.options),
                                                 group.rank(), gather, [&group] { group.barrier(); });
  });
  const std::vector<std::string> introductions = gather(session->introduction());
  const std::vector<std::string> invitations =
      gather(everywhere(world, [&] { return session->agree_with(introductions); }));
  (void)everywhere(world, [&] {
    session->connect(invitations);
    return true;
  });
  if (seen_by) open_reader(team, *session);
  (void)everywhere(world, [&] {
    session->finish_opening();
    return true;
  });
  return session;
}

/// The bandwidth of one process's pair with host memory, and notices about it.
struct HostComparison {
  double rate = 0;  // bytes per second; 0: not measured
  std::vector<std::string> notices{};
};

/// Measures the bandwidth with buffers in host memory and otherwise the same settings. Its messages have the largest
/// size asked for, but at most 8 MiB: larger ones are no faster, and no memory is planned for them. Small sizes are
/// left out, because they say nothing about bandwidth. If the measurement is not possible, which is the same on every
/// process, the run goes on without it.
HostComparison compare_with_host(const Team& team, const Options& options, const Test& test,
                                 const verbs::VerbsSettings& settings) {
  constexpr Bytes kLeast = Bytes{64} << 10;
  constexpr Bytes kMost = Bytes{8} << 20;
  if (test.traits().figure == Figure::kLatency || settings.verb == Verb::kAtomic || options.sizes.max_bytes < kLeast)
    return {};
  try {
    const auto session = open_session(team, settings, std::make_unique<HostBuffers>());
    const Bytes size = std::min({options.sizes.max_bytes, kMost, session->most_bytes().value_or(kMost)});
    const auto buffers =
        everywhere(team.world(), [&] { return std::pair(Buffers(*session, size), Buffers(*session, size)); });
    return {rate_of(*session, test, buffers.first.on(0), buffers.second.on(0), team.group())};
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kMissing && error.status() != ExitStatus::kUsage) throw;
    return {0, {fmt::format("No comparison with host memory: {}", error.what())}};
  }
}

void append(std::vector<std::string>& all, std::vector<std::string> more) {
  for (std::string& text : more) all.push_back(std::move(text));
}

}  // namespace

std::string_view VerbsSessions::default_pairs(const Options& options, bool one_host) const {
  if (options.rdma.devices.empty()) return "";
  return one_host ? "loopback" : "hosts";
}

void VerbsSessions::settle(const mpi::Communicator& job, const PairPlan& plan, const Options& options) {
  port_ = settle_port(job, plan, options);
}

BackendChoice VerbsSessions::open(const Team& team, const Placed& placed, const Options& options,
                                  const Test& test) const {
  const std::optional<SeenBy> seen_by = takes_seen_by_ ? std::optional(options.rdma.seen_by) : std::nullopt;
  const bool latency = test.traits().figure == Figure::kLatency;
  verbs::VerbsSettings settings{placed.host, verb_, latency, options.rdma};
  settings.options.device = port_.device;
  settings.options.port = port_.port;
  if (seen_by) settings = settings_to_see(std::move(settings), *seen_by);
  auto buffers = open_buffers(team, placed, options);
  const bool on_gpu = !buffers.source->on_host();
  std::vector<std::string> notices = port_.notices;
  append(notices, std::move(buffers.notices));
  GpuWay way;
  if (on_gpu) way = gpu_way(team, buffers.source->pci_address(), port_.device);
  HostComparison host;
  if (on_gpu) host = compare_with_host(team, options, test, settings);
  auto session = open_session(team, settings, std::move(buffers.source), seen_by);
  session->compare_with(host.rate, std::move(way.obstacles));
  append(notices, route_notices(team, "RDMA", session->route()));
  notices.push_back(registration_notice(team.world(), *session));
  append(notices, std::move(way.notices));
  append(notices, std::move(host.notices));
  if (seen_by) append(notices, seen_notices(team, *session, *seen_by));
  return {std::move(session), "verbs", "this program measures it", std::move(notices)};
}

}  // namespace fabricbench
