#include "common/backends/rdma/verbs_sessions.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/backends/gpu/gpu_readers.h"
#include "common/backends/rdma/background.h"
#include "common/backends/rdma/buffers.h"
#include "common/backends/rdma/routes.h"
#include "common/backends/rdma_cm/cm_connector.h"
#include "common/backends/verbs/background_stream.h"
#include "common/backends/verbs/direct_connector.h"
#include "common/backends/verbs/host_reader.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/core/error.h"
#include "common/core/host_buffers.h"
#include "common/core/shortened_list.h"
#include "common/host/identity.h"
#include "common/host/pci_route.h"
#include "common/measure/rate_of.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

std::unique_ptr<MessageReader> reader_for(const verbs::VerbsSession& session) {
  const std::vector<int> devices = session.devices();
  if (devices.empty()) return std::make_unique<verbs::HostReader>();
  return gpu::open_reader(devices.front());
}

const char* meaning_of(SeenBy seen_by) {
  switch (seen_by) {
    case SeenBy::kCompletion:
      return "a message counts when the processor has polled its completion; whether the GPU can see it then is not "
             "checked";
    case SeenBy::kFlush:
      return "a message counts when the processor has polled its completion and read its last bytes back through the "
             "adapter, after which a GPU could see it";
    case SeenBy::kReader: break;
  }
  return "a message counts when its reader has seen it and has told the processor";
}

/// The settings of a session in which messages count as `seen_by` says.
verbs::VerbsSettings settings_for(verbs::VerbsSettings settings, SeenBy seen_by) {
  settings.seen_by = seen_by;
  settings.options.write_with_immediate = seen_by != SeenBy::kReader;
  return settings;
}

/// Gives a connected session a reader for its memory: a kernel on its GPU, or a thread. Throws Error, the same on every
/// process; collective.
void open_reader(const Team& team, verbs::VerbsSession& session) {
  (void)everywhere(team.world(), [&] {
    session.see_with(reader_for(session));
    return true;
  });
}

/// Notices on when messages count, a line each, the same on every process. Collective.
std::vector<std::string> visibility_notices(const Team& team, const verbs::VerbsSession& session, SeenBy seen_by) {
  constexpr std::size_t kMostRanks = 16;  // in the banner
  const char* const part =
      seen_by == SeenBy::kReader ? "part of every time below, not subtracted" : "no part of the times below";
  const double round_trip_us = session.memory_path().reader_round_trip.value_or(0) * 1e6;
  const std::string own = fmt::format("Rank {}: local ping-pong of the processor and the reader, {}: {:.3g} us, {}",
                                      team.process_in_job(), session.reader(), round_trip_us, part);
  std::vector<std::string> notices = {fmt::format("Seen by {}: {}", name(seen_by), meaning_of(seen_by))};
  for (std::string& line :
       shortened(all_gather(team.world(), own), kMostRanks, "more ranks, in the JSON file (reader_round_trip_us)")) {
    notices.push_back(std::move(line));
  }
  return notices;
}

/// The path between the GPU with a rank's buffers and its RDMA device.
struct GpuWay {
  std::vector<std::string> obstacles;  ///< of this process, a sentence each
  std::vector<std::string> notices;    ///< a line for each rank, the same on every process
};

/// `gpu` is a PCI address such as 0000:42:00.0, `device` an RDMA device such as mlx5_0. Collective.
GpuWay gpu_way(const Team& team, const std::string& gpu, const std::string& device) {
  constexpr std::size_t kMostRanks = 16;  // in the banner
  const std::string adapter = host::pci_address_of_rdma_device(device);
  const auto route = host::pci_route(gpu, adapter);
  GpuWay found;
  found.obstacles = host::obstacles_between(gpu, adapter);
  const std::string own =
      fmt::format("Rank {}: GPU {} and {} ({}) are {} apart; {}", team.process_in_job(), gpu, device,
                  adapter.empty() ? "no PCI device" : adapter, route ? route->distance : "an unknown distance",
                  found.obstacles.empty() ? "no obstacle found" : fmt::format("{}", fmt::join(found.obstacles, "; ")));
  found.notices = shortened(all_gather(team.world(), own), kMostRanks, "more ranks, in the JSON file (obstacles)");
  return found;
}

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

/// Opens a session in host memory for the stream that loads the ports, and begins it. Returns notices. Collective;
/// throws Error, the same on every process.
std::vector<std::string> load_ports(const Team& team, const Placed& placed, const verbs::VerbsSettings& settings,
                                    verbs::VerbsSession& session) {
  auto own = open_session(team, background_settings(settings), std::make_unique<HostBuffers>());
  std::vector<std::string> notices = background_notices(team, placed, *own);
  constexpr Seconds kToCarry = 20;  // the first bytes, also on a busy host
  session.load_with(everywhere(team.world(), [&] {
    auto stream = std::make_unique<verbs::BackgroundStream>(std::move(own), team.group().is_root());
    stream->await_first_bytes(kToCarry);
    return stream;
  }));
  return notices;
}

void append(std::vector<std::string>& all, std::vector<std::string> more) {
  for (std::string& text : more) all.push_back(std::move(text));
}

}  // namespace

std::string_view VerbsSessions::default_pairs(const Options& options, bool one_host) const {
  if (options.rdma.devices.empty()) return "";
  return one_host ? "loopback" : "hosts";
}

void VerbsSessions::settle(const mpi::Communicator& job, PairPlan& plan, const Options& options) {
  port_ = settle_port(job, plan, options);
  place_ = settle_near(job, host::host_name(), port_.device, options.rdma);
}

BackendChoice VerbsSessions::open(const Team& team, const Placed& placed, const Options& options,
                                  const Test& test) const {
  const std::optional<SeenBy> seen_by = takes_seen_by_ ? std::optional(options.rdma.seen_by) : std::nullopt;
  const bool latency = test.traits().figure == Figure::kLatency;
  verbs::VerbsSettings settings{placed.host, verb_, latency, options.rdma};
  settings.rank = team.process_in_job();
  settings.options.device = port_.device;
  settings.options.port = port_.port;
  settings.spreads = options.memory != MemoryKind::kHugePages;  // of which there are few
  if (seen_by) settings = settings_for(std::move(settings), *seen_by);
  auto buffers = open_buffers(team, placed, options);
  const bool on_gpu = !buffers.source->on_host();
  std::vector<std::string> notices = port_.notices;
  append(notices, place_.notices);
  append(notices, std::move(buffers.notices));
  GpuWay way;
  if (on_gpu) way = gpu_way(team, buffers.source->pci_address(), port_.device);
  HostComparison host;
  if (on_gpu) host = compare_with_host(team, options, test, settings);
  auto session = open_session(team, settings, std::move(buffers.source), seen_by);
  session->compare_with(host.rate, std::move(way.obstacles));
  append(notices, route_notices(team, "RDMA", session->route()));
  notices.push_back(registration_notice(team.world(), *session));
  if (std::string text = kinds_notice(team.world(), "Counters", session->uncounted()); !text.empty())
    notices.push_back(std::move(text));
  append(notices, std::move(way.notices));
  append(notices, std::move(host.notices));
  if (seen_by) append(notices, visibility_notices(team, *session, *seen_by));
  if (options.rdma.background) append(notices, load_ports(team, placed, settings, *session));
  return {std::move(session), "verbs", "this program measures it", std::move(notices)};
}

}  // namespace fabricbench
