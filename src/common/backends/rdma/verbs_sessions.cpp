#include "common/backends/rdma/verbs_sessions.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/backends/gpu/gpu_sessions.h"
#include "common/backends/rdma/buffers.h"
#include "common/backends/rdma/port_choice.h"
#include "common/backends/rdma/routes.h"
#include "common/backends/rdma_cm/cm_connector.h"
#include "common/backends/verbs/background_stream.h"
#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/device.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/backends/verbs/visibility.h"
#include "common/core/error.h"
#include "common/core/memory.h"
#include "common/core/units.h"
#include "common/core/wording.h"
#include "common/engine/setup.h"
#include "common/host/identity.h"
#include "common/host/nics.h"
#include "common/host/pci.h"
#include "common/host/topology.h"
#include "common/measure/rate_of.h"
#include "common/ranks/agreement.h"
#include "common/ranks/team.h"

namespace fabricbench {
namespace {

bool is_in_a_pair(const PairPlan& plan, int rank) {
  return std::any_of(plan.pairs.begin(), plan.pairs.end(),
                     [&](const Pair& pair) { return pair.first == rank || pair.second == rank; });
}

PortDistance distance_to(const std::string& device, int port, const std::vector<host::NetworkDevice>& known) {
  const std::string name = fmt::format("{}:{}", device, port);
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& each) { return each.name == name; });
  if (found == known.end() || !found->numa_node) return PortDistance::kUnknown;
  switch (host::node_binding(*found->numa_node, host::current_binding())) {
    case host::NodeBinding::kInside: return PortDistance::kNear;
    case host::NodeBinding::kOutside: return PortDistance::kFar;
    case host::NodeBinding::kPartly:
    case host::NodeBinding::kUnknown: break;
  }
  return PortDistance::kUnknown;
}

std::string kind_of(const verbs::PortState& port) {
  const char* layer = port.ethernet ? "Ethernet" : "InfiniBand";
  if (port.other_layer) layer = "unspecified link layer";
  return port.rate > 0 ? fmt::format("{}, {:.4g} Gb/s", layer, port.rate * 8 / 1e9) : layer;
}

/// The devices of this host; none if it has no RDMA at all, which is learned when one is opened.
std::vector<verbs::DeviceState> known_devices() {
  try {
    return verbs::device_states();
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kMissing) throw;
    return {};
  }
}

RankPorts look_around(const ProcessLocation& location, int asked_port) {
  RankPorts found{location.host_id, location.host, {}, {}, {}};
  const std::vector<host::NetworkDevice> known = host::network_devices();
  for (const verbs::DeviceState& device : known_devices()) {
    found.devices.push_back(device.name);
    const int number = verbs::active_port(device, asked_port);
    if (number == 0) {
      found.unusable.push_back({location.host, device.name, verbs::why_unusable(device, asked_port)});
      continue;
    }
    const auto port = std::find_if(device.ports.begin(), device.ports.end(),
                                   [&](const verbs::PortState& each) { return each.number == number; });
    found.active.push_back(
        {device.name, number, distance_to(device.name, number, known), kind_of(*port), device.virtual_function});
  }
  return found;
}

/// The port that --devices gives this process; adds the devices that it leaves out.
ChosenPort chosen_port(const mpi::Communicator& job, const PairPlan& plan, const ProcessLocation& location,
                       bool takes_part, const RdmaOptions& rdma, UsablePort& usable) {
  const RankPorts own = takes_part ? look_around(location, static_cast<int>(rdma.port)) : RankPorts();
  const auto ranks = broadcast_from_first(job, gather_on_first(job, own));
  const PortChoice choice = choose_ports(rdma.devices, ranks, plan.pairs);
  if (!choice.notice.empty()) usable.notices.push_back(choice.notice);
  for (std::string& line : left_out_notices(choice.left_out)) usable.notices.push_back(std::move(line));
  return choice.ports[static_cast<std::size_t>(job.rank())];
}

/// The port that a process has opened for a moment, or why it could not.
struct Attempt {
  std::optional<verbs::PortFacts> port;
  std::vector<LeftOutDevice> passed_by;
  StepProblem problem;
};

Attempt try_to_open(const UsablePort& chosen, const std::string& host) {
  Attempt attempt;
  try {
    verbs::OpenDevice opened = verbs::open_device(chosen.device, chosen.port);
    for (const verbs::UnusableDevice& each : opened.passed_by)
      attempt.passed_by.push_back({host, each.name, each.reason});
    attempt.port = std::move(opened.port);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kMissing) throw;
    attempt.problem = {error.status(), error.what()};
  }
  return attempt;
}

/// The numbers of the pairs with a process that has a problem, and a line on each. `problems`: by process; empty: none.
std::set<int> pairs_with_problems(const PairPlan& plan, const std::vector<std::string>& problems,
                                  std::vector<std::string>& lines) {
  std::set<int> numbers;
  for (std::size_t number = 0; number < plan.pairs.size(); ++number) {
    const auto [first, second] = plan.pairs[number];
    for (const int rank : {first, second}) {
      const std::string& problem = problems[static_cast<std::size_t>(rank)];
      if (problem.empty() || !numbers.insert(static_cast<int>(number)).second) continue;
      lines.push_back(fmt::format("Left out: the pair of ranks {} and {}, because of rank {} on host {}: {}", first,
                                  second, rank, plan.hosts[static_cast<std::size_t>(rank)], problem));
    }
  }
  return numbers;
}

/// Leaves pairs out of the plan in which a process has a problem. Throws if none is left. Collective.
void leave_out_pairs(const mpi::Communicator& job, PairPlan& plan, const StepProblem& own, UsablePort& usable) {
  constexpr std::size_t kMostLines = 16;  // in the banner
  std::vector<std::string> lines;
  const std::set<int> numbers =
      pairs_with_problems(plan, broadcast_from_first(job, gather_on_first(job, own.text)), lines);
  if (numbers.size() == plan.pairs.size()) throw_everywhere(job, own);
  usable.left_out_pairs = static_cast<std::int64_t>(numbers.size());
  plan = without_pairs(std::move(plan), numbers);
  for (std::string& line : shortened(std::move(lines), kMostLines, "more pairs that were left out"))
    usable.notices.push_back(std::move(line));
}

/// The settings of the stream of --background: writes like those of rdma_write_bw over the same ports, with the
/// addressing of the messages, except for its own service level and traffic class.
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

/// Notices on the streams of all pairs, the same on every process: their routes, and the ranks whose thread has no
/// processor of its own. `session`: of this process's stream. Collective.
std::vector<std::string> background_notices(const Team& team, const ProcessLocation& location,
                                            const verbs::VerbsSession& session) {
  const std::string route = fmt::format("writes of {} from the first rank to the second at the same time, {}",
                                        readable_bytes(verbs::BackgroundStream::kMessage), session.route());
  std::vector<std::string> notices = route_notices(team, "Background", route);
  std::string shared;
  if (team.group().is_root() && host::allowed_processing_units() == 1) {
    shared = fmt::format(
        "{} may use one processor, which its messages and its stream share, and times include waiting for it; {}",
        host::name_of_process(team.process_in_job(), location.host), kUnbind);
  }
  if (std::string text = kinds_notice(team.world(), "Background", shared); !text.empty()) {
    notices.push_back(std::move(text));
  }
  return notices;
}

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
struct GpuPath {
  std::vector<std::string> obstacles;  ///< of this process, a sentence each
  std::vector<std::string> notices;    ///< a line for each rank, the same on every process
};

/// `gpu` is a PCI address such as 0000:42:00.0, `device` an RDMA device such as mlx5_0. Collective.
GpuPath gpu_path(const Team& team, const std::string& gpu, const std::string& device) {
  constexpr std::size_t kMostRanks = 16;  // in the banner
  const std::string adapter = host::pci_address_of_rdma_device(device);
  const auto route = host::pci_route(gpu, adapter);
  GpuPath found;
  found.obstacles = host::obstacles_between(gpu, adapter);
  const std::string own =
      fmt::format("Rank {}: GPU {} and {} ({}) are {} apart; {}", team.process_in_job(), gpu, device,
                  adapter.empty() ? "no PCI device" : adapter, route ? route->distance : "an unknown distance",
                  found.obstacles.empty() ? "no obstacle found" : fmt::format("{}", fmt::join(found.obstacles, "; ")));
  found.notices = shortened(all_gather(team.world(), own), kMostRanks, "more ranks, in the JSON file (obstacles)");
  return found;
}

std::unique_ptr<verbs::Connector> connector_for(const RdmaOptions& options) {
  if (options.by_rdma_cm) return rdma_cm::make_cm_connector();
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
  const std::vector<std::string> connect_infos = gather(session->connect_info());
  const std::vector<std::string> listen_infos =
      gather(everywhere(world, [&] { return session->agree_with(connect_infos); }));
  (void)everywhere(world, [&] {
    session->connect(listen_infos);
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
  if (test.traits().row_kind == RowKind::kLatency || settings.verb == Verb::kAtomic || options.sizes.max_bytes < kLeast)
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
std::vector<std::string> load_ports(const Team& team, const ProcessLocation& location,
                                    const verbs::VerbsSettings& settings, verbs::VerbsSession& session) {
  auto own = open_session(team, background_settings(settings), std::make_unique<HostBuffers>());
  std::vector<std::string> notices = background_notices(team, location, *own);
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

UsablePort choose_usable_port(const mpi::Communicator& job, PairPlan& plan, const Options& options) {
  const RdmaOptions& rdma = options.rdma;
  const ProcessLocation location = locate_processes(job);
  const bool takes_part = is_in_a_pair(plan, job.rank());
  UsablePort usable{rdma.device, static_cast<int>(rdma.port), {}, {}};
  if (!rdma.devices.empty()) {
    const ChosenPort chosen = chosen_port(job, plan, location, takes_part, rdma, usable);
    usable.device = chosen.device;
    if (chosen.port > 0) usable.port = chosen.port;
  }
  const Attempt attempt = takes_part ? try_to_open(usable, location.host) : Attempt();
  const auto passed_by = broadcast_from_first(job, gather_lists_on_first(job, attempt.passed_by));
  for (std::string& line : left_out_notices(passed_by)) usable.notices.push_back(std::move(line));
  leave_out_pairs(job, plan, attempt.problem, usable);
  if (!attempt.port || !is_in_a_pair(plan, job.rank())) {
    usable.device.clear();
    return usable;
  }
  usable.device = attempt.port->device;
  usable.port = attempt.port->port;
  const std::string name = fmt::format("{} port {}", usable.device, usable.port);
  usable.facts = {name, attempt.port->rate,
                  fmt::format("{} of host {} (its driver reports '{}')", name, location.host, attempt.port->rate_text)};
  return usable;
}

std::string_view VerbsSessions::default_pairs(const Options& options, bool one_host) const {
  if (options.rdma.devices.empty()) return "";
  return one_host ? "loopback" : "hosts";
}

void VerbsSessions::choose_device(const mpi::Communicator& job, PairPlan& plan, const Options& options) {
  port_ = choose_usable_port(job, plan, options);
  place_ = bind_near_device(job, host::host_name(), port_.device, options.rdma);
}

ReservedGpus VerbsSessions::reserve_gpus(const Team& team, const ProcessLocation& location,
                                         const Options& options) const {
  if (options.memory != MemoryKind::kCuda) return {};
  return {.why_no_nccl = {}, .devices = gpu::choose_gpus(team, location, options)};
}

std::vector<GpuFacts> VerbsSessions::describe_gpus(const std::vector<int>& devices) const {
  return gpu::describe_gpus(devices);
}

BackendChoice VerbsSessions::open(const Team& team, const ProcessLocation& location, const Options& options,
                                  const Test& test) const {
  const std::optional<SeenBy> seen_by = takes_seen_by_ ? std::optional(options.rdma.seen_by) : std::nullopt;
  const bool latency = test.traits().row_kind == RowKind::kLatency;
  verbs::VerbsSettings settings{location.host, verb_, latency, options.rdma};
  settings.rank = team.process_in_job();
  settings.options.device = port_.device;
  settings.options.port = port_.port;
  settings.spreads = options.memory != MemoryKind::kHugePages;  // of which there are few
  if (seen_by) settings = settings_for(std::move(settings), *seen_by);
  auto buffers = open_buffers(team, location, options);
  const bool on_gpu = !buffers.source->on_host();
  std::vector<std::string> notices = port_.notices;
  append(notices, place_.notices);
  append(notices, std::move(buffers.notices));
  GpuPath method;
  if (on_gpu) method = gpu_path(team, buffers.source->pci_address(), port_.device);
  HostComparison host;
  if (on_gpu) host = compare_with_host(team, options, test, settings);
  auto session = open_session(team, settings, std::move(buffers.source), seen_by);
  session->compare_with(host.rate, std::move(method.obstacles));
  append(notices, route_notices(team, "RDMA", session->route()));
  notices.push_back(registration_notice(team.world(), *session));
  if (std::string text = kinds_notice(team.world(), "Counters", session->uncounted()); !text.empty())
    notices.push_back(std::move(text));
  append(notices, std::move(method.notices));
  append(notices, std::move(host.notices));
  if (seen_by) append(notices, visibility_notices(team, *session, *seen_by));
  if (options.rdma.background) append(notices, load_ports(team, location, settings, *session));
  return {std::move(session), "verbs", "this program measures it", std::move(notices)};
}

}  // namespace fabricbench
