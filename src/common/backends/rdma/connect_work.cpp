#include "common/backends/rdma/connect_work.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/backends/rdma/routes.h"
#include "common/backends/rdma_cm/channel.h"
#include "common/backends/rdma_cm/cm_endpoints.h"
#include "common/backends/rdma_cm/endpoint.h"
#include "common/backends/rdma_cm/side.h"
#include "common/backends/verbs/connect_info.h"
#include "common/backends/verbs/device.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/options.h"
#include "common/engine/conclusion.h"
#include "common/engine/describe.h"
#include "common/engine/engine.h"
#include "common/engine/pair_plan.h"
#include "common/engine/setup.h"
#include "common/host/files.h"
#include "common/host/identity.h"
#include "common/processors/processor_meter.h"
#include "common/programs/run_program.h"
#include "common/ranks/agreement.h"
#include "common/ranks/team.h"
#include "common/record/packing.h"
#include "common/watch/watchdog.h"

namespace fabricbench {
namespace {

// Polling costs less than a wake-up for every agreement, of which there are thousands per second.
constexpr auto kInterval = std::chrono::milliseconds(50);

/// The settings before connections are made. The first process of a pair connects, and the second accepts.
struct ConnectSetup {
  Options options;
  std::unique_ptr<Team> team;  ///< each group is a pair
  ProcessLocation location;
  std::unique_ptr<rdma_cm::Endpoints> endpoints;
  std::string peer;  ///< such as `rank 1 on node-07 (3: RoCE v2 10.0.0.7)`
  std::vector<std::string> notices;

  [[nodiscard]] bool connects() const { return team->group().is_root(); }
};

/// Both ends of a pair, the connecting one first.
struct Ends {
  verbs::PortFacts connecting;
  verbs::PortFacts accepting;
};

/// The addresses to which both ends bind.
struct Addresses {
  verbs::Gid connecting;
  verbs::Gid accepting;
  std::string description;
};

verbs::Gid gid_of(const verbs::PortFacts& port, int index) {
  return *std::find_if(port.gids.begin(), port.gids.end(), [&](const verbs::Gid& gid) { return gid.index == index; });
}

Addresses agreed_addresses(Ends ends, const std::optional<std::int64_t>& asked) {
  for (verbs::PortFacts* port : {&ends.connecting, &ends.accepting}) port->gids = rdma_cm::addressable(*port, asked);
  const auto& [first, second] = ends;
  const verbs::GidPair pair = asked ? verbs::check_gids(first.gids, second.gids, static_cast<int>(*asked))
                                    : verbs::choose_gids(first.gids, second.gids);
  return {gid_of(first, pair.first), gid_of(second, pair.second), pair.description};
}

void check_datagram_size(const Options& options, const Ends& ends) {
  const int mtu = std::min(ends.connecting.mtu, ends.accepting.mtu);
  if (options.rdma.transport != Transport::kUd || options.sizes.max_bytes <= static_cast<Bytes>(mtu)) return;
  throw UsageError(
      fmt::format("-c UD sends datagrams of {} bytes at most between {} and {}, and -s is {}; lower -s, "
                  "take -c RC, or raise the MTU of the interfaces",
                  mtu, ends.connecting.device, ends.accepting.device, exact_bytes(options.sizes.max_bytes)));
}

std::string route_of(const Ends& ends, const Addresses& addresses) {
  return fmt::format("{} port {} GID {} and {} port {} GID {} ({})", ends.connecting.device, ends.connecting.port,
                     verbs::describe(addresses.connecting), ends.accepting.device, ends.accepting.port,
                     verbs::describe(addresses.accepting), addresses.description);
}

rdma_cm::EndpointSettings endpoint_settings(const Options& options, const verbs::PortFacts& port,
                                            const verbs::Gid& gid) {
  return {port.device,
          gid,
          options.rdma.transport,
          static_cast<std::uint32_t>(options.rdma.messages),
          options.sizes.max_bytes,
          options.rdma.stall_timeout,
          static_cast<std::size_t>(options.rdma.parallel)};
}

/// Tells the connecting side where the other side listens, and both sides the name of the other one.
void meet(ConnectSetup& setup, rdma_cm::CmEndpoints& endpoints, const Addresses& addresses,
          const rdma_cm::ListenInfo& listen_info) {
  const mpi::Communicator& group = setup.team->group();
  const std::string own = host::name_of_process(setup.team->process_in_job(), setup.location.host);
  const std::vector<std::string> names = all_gather(group, own);
  const std::vector<std::string> listen_infos = all_gather(group, record::pack(listen_info));
  const bool connects = setup.connects();
  if (connects) endpoints.set_peer(addresses.accepting, record::unpack<rdma_cm::ListenInfo>(listen_infos[1]));
  setup.peer = fmt::format("{} ({})", names[connects ? 1 : 0],
                           verbs::describe(connects ? addresses.accepting : addresses.connecting));
}

/// Where the kernel keeps fewer unanswered requests than come at the same time: it refuses the others. Empty if it
/// keeps enough, or does not say.
std::string small_backlog(const std::string& host, std::int64_t parallel) {
  const auto most = host::read_integer<std::int64_t>("/proc/sys/net/rdma_ucm/max_backlog");
  if (!most || *most >= parallel) return "";
  return fmt::format(
      "{} keeps at most {} requests that have not been answered yet, and refuses more; raise net.rdma_ucm.max_backlog "
      "with sysctl if requests are rejected",
      host, *most);
}

/// Opens the device of each process, agrees on the addresses of each pair, and starts listening on the second process
/// of each pair. Collective over `world`, which must outlive the result. `process`: this process's number in the job.
/// Throws Error (missing, usage), the same on every process.
ConnectSetup set_up_connections(const mpi::Communicator& world, int process, Options options,
                                const std::vector<std::string>& notices) {
  ConnectSetup setup;
  setup.options = std::move(options);
  setup.notices = notices;
  setup.team = std::make_unique<Team>(world, "DIV 2", process);
  setup.location = locate_processes(world);
  const RdmaOptions& rdma = setup.options.rdma;
  const std::string& host = setup.location.host;
  const verbs::PortFacts own =
      everywhere(world, [&] { return verbs::open_device(rdma.device, static_cast<int>(rdma.port)).port; });
  const std::vector<std::string> connect_infos =
      all_gather(setup.team->group(), record::pack(verbs::ConnectInfo{host, own, {}, {}}));
  const Ends ends{record::unpack<verbs::ConnectInfo>(connect_infos.at(0)).port,
                  record::unpack<verbs::ConnectInfo>(connect_infos.at(1)).port};
  const Addresses addresses = everywhere(world, [&] {
    check_datagram_size(setup.options, ends);
    return agreed_addresses(ends, rdma.gid);
  });
  rdma_cm::ListenInfo listen_info;
  auto endpoints = everywhere(world, [&] {
    const verbs::Gid& gid = setup.connects() ? addresses.connecting : addresses.accepting;
    auto made = rdma_cm::open_endpoints(endpoint_settings(setup.options, own, gid));
    if (!setup.connects()) listen_info = made->listen();
    return made;
  });
  meet(setup, *endpoints, addresses, listen_info);
  setup.endpoints = std::move(endpoints);
  for (std::string& notice : route_notices(*setup.team, "rdma_cm", route_of(ends, addresses))) {
    setup.notices.push_back(std::move(notice));
  }
  const std::string backlog = setup.connects() ? "" : small_backlog(host, rdma.parallel);
  if (std::string text = kinds_notice(world, "Backlog", backlog); !text.empty()) {
    setup.notices.push_back(std::move(text));
  }
  return setup;
}

/// Prefers the problem of the connecting side, because the other side may only have waited for it.
rdma_cm::Problem agree_in_pair(const mpi::Communicator& group, const rdma_cm::Problem& own) {
  const std::vector<std::string> texts = all_gather(group, fmt::format("{}{}", static_cast<int>(own.status), own.text));
  for (const std::string& text : texts) {
    const auto status = static_cast<ExitStatus>(text.front() - '0');  // one digit
    if (status != ExitStatus::kOk) return {status, text.substr(1)};
  }
  return {};
}

/// This side's results for its pair. The times are those of the connecting side.
ConnectRow row_of(const ConnectSetup& setup, const rdma_cm::Series& series, const rdma_cm::SideResults& findings) {
  ConnectRow row;
  row.pair = setup.team->group_number();
  for (std::size_t step = 0; step < kConnectSteps; ++step) {
    row.steps.push_back(summarize(static_cast<ConnectStep>(step), findings.times[step], findings.took[step]));
  }
  row.connections = series.made;
  row.failed = static_cast<std::int64_t>(findings.failed);
  row.rate = series.took > 0 ? static_cast<double>(series.made) / series.took : 0;
  row.messages = 2 * static_cast<std::uint64_t>(series.made * setup.options.rdma.messages);
  row.lost = findings.lost;
  row.wrong = findings.wrong;
  row.first_wrong = findings.first_wrong;
  row.status = static_cast<int>(series.problem.status);
  row.problem = series.problem.text;
  return row;
}

/// A row per pair, on the first process. The second process of a pair adds its findings about messages.
std::vector<ConnectRow> all_rows(const mpi::Communicator& world, const ConnectRow& own) {
  std::vector<ConnectRow> rows;
  for (ConnectRow& row : gather_on_first(world, own)) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& other) { return other.pair == row.pair; });
    if (same == rows.end()) {
      rows.push_back(std::move(row));
      continue;
    }
    same->failed = std::max(same->failed, row.failed);
    same->lost += row.lost;
    if (same->wrong == 0) same->first_wrong = row.first_wrong;
    same->wrong += row.wrong;
  }
  return rows;
}

/// On the first process. A pair that ended early takes precedence over wrong data, because its data was not all
/// checked.
Ending conclude_connections(const std::vector<ConnectRow>& rows) {
  Ending ending;
  ending.reason = "every connection was made, used and ended, and every message that came was right";
  ending.precision = "Precision: times of single connections, as they were";
  std::int64_t failed = 0;
  for (const ConnectRow& row : rows) {
    if (row.lost > 0) {
      ending.notes.push_back(fmt::format("Pair {}: {} of {} datagrams were lost", row.pair, row.lost, row.messages));
    }
    if (row.wrong > 0) {
      ending.wrong_checks += row.wrong;
      ending.notes.push_back(
          fmt::format("Wrong data in {} messages of pair {}; {}", row.wrong, row.pair, row.first_wrong));
      if (ending.exit_status == 0) {
        ending.exit_status = static_cast<int>(ExitStatus::kWrongData);
        ending.reason = ending.notes.back();
      }
    }
    if (row.status == 0) continue;
    ending.notes.push_back(fmt::format("Pair {} ended with {}", row.pair, row.problem));
    if (failed++ > 0) continue;
    ending.exit_status = row.status;
    ending.reason = ending.notes.back();
  }
  if (failed > 1) ending.reason += fmt::format("; {} more pairs ended early", failed - 1);
  return ending;
}

/// Sets the time limit of an agreement with the other process. After a problem on this side, the other process may wait
/// for this one in two more steps; otherwise it may take all steps of a phase, with some time for each connection.
void arm(AgreementWatch& watch, const ConnectSetup& setup, const rdma_cm::Problem& own) {
  const Seconds limit = setup.options.rdma.stall_timeout;
  const bool fine = own.status == ExitStatus::kOk;
  constexpr Seconds kForOne = 0.02;
  const Seconds patience = (fine ? 5 : 2) * limit + 1 + static_cast<double>(setup.options.rdma.parallel) * kForOne;
  const std::string silence =
      fmt::format("{} did not answer over MPI for {}; is it stopped, or gone?", setup.peer, readable_seconds(patience));
  watch.arm(patience, fine ? silence : fmt::format("{}; and {}", own.text, silence));
}

/// Connections between the two ranks of each pair, at the same time in all pairs. Every step has its own time limit,
/// and its error names the step; the watchdog covers everything else, such as set-up and MPI.
class ConnectWork final : public Work {
 public:
  using Work::Work;

  void set_up(Outputs& outputs) override {
    outputs_ = &outputs;
    setup_ = set_up_connections(world(), job().world.rank(), std::move(job().options), notices_of_active());
    outputs = open_outputs(world(), RowKind::kConnections, setup_.options, job().make_judges);
  }

  [[nodiscard]] Context make_context() override {
    Context context = context_of(world(), job(), setup_.options, setup_.location);
    context.row_kind = RowKind::kConnections;
    context.backend = "verbs";
    context.backend_reason = "this program measures it";
    context.library = "librdmacm and libibverbs";
    context.ranks = describe_processes(*setup_.team, setup_.location);
    context.groups = describe_pairs(context.ranks);
    context.notices = setup_.notices;
    return context;
  }

  [[nodiscard]] Ending measure(const Context& /*context*/) override {
    heartbeat().enter(Phase::kMeasure);
    ProcessorMeter processors(*setup_.team, setup_.location, 1, true);
    world().barrier();
    const std::vector<ConnectRow> rows = all_rows(world(), make_connections(processors));
    const ProcessorReport ran_on = processors.report();
    heartbeat().enter(Phase::kReport);
    for (const ConnectRow& row : rows) outputs_->record(row);
    Ending ending = conclude_connections(rows);
    ran_on.add_to(ending);
    return ending;
  }

 private:
  /// Makes this side's part of its pair's connections, and notes where it runs after each phase of them.
  [[nodiscard]] ConnectRow make_connections(ProcessorMeter& processors) {
    const RdmaOptions& rdma = setup_.options.rdma;
    const rdma_cm::SideSettings settings{rdma.transport,
                                         static_cast<std::uint32_t>(rdma.messages),
                                         rdma.stall_timeout,
                                         setup_.peer,
                                         now,
                                         static_cast<std::size_t>(rdma.parallel)};
    std::unique_ptr<rdma_cm::Side> side;
    if (setup_.connects()) {
      side = std::make_unique<rdma_cm::ActiveSide>(*setup_.endpoints, settings);
    } else {
      side = std::make_unique<rdma_cm::PassiveSide>(*setup_.endpoints, settings);
    }
    AgreementWatch watch([this](const std::string& text) { end_without_peer(text); });
    const auto agree = [&](const rdma_cm::Problem& own) {
      heartbeat().tick();
      processors.note();  // before a wait for the other side moves it
      arm(watch, setup_, own);
      rdma_cm::Problem agreed = agree_in_pair(setup_.team->group(), own);
      watch.disarm();
      return agreed;
    };
    const rdma_cm::Series series = rdma_cm::make_connections(*side, rdma.connections, agree);
    return row_of(setup_, series, side->findings());
  }

  /// Ends the job if the other process of the pair no longer answers: an MPI call would wait for it for ever.
  [[noreturn]] void end_without_peer(const std::string& text) {
    say(job().program.name,
        fmt::format("{}: {}", host::name_of_process(job().world.rank(), setup_.location.host), text));
    abandon(*outputs_, ExitStatus::kTimeout, text);
    std::_Exit(static_cast<int>(ExitStatus::kTimeout));
  }

  [[nodiscard]] Heartbeat& heartbeat() const { return job().watchdog.heartbeat(); }

  Outputs* outputs_ = nullptr;
  ConnectSetup setup_;
};

}  // namespace

void AgreementLimit::arm(Seconds limit, std::string text) {
  deadline_ = now() + limit;
  text_ = std::move(text);
}

std::optional<std::string> AgreementLimit::take_passed() {
  const Seconds time = now();
  if (!deadline_ || time < *deadline_) return std::nullopt;
  deadline_.reset();
  return text_;
}

AgreementWatch::AgreementWatch(std::function<void(const std::string&)> end)
    : end_(std::move(end)), thread_([this] { watch(); }) {}

AgreementWatch::~AgreementWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

void AgreementWatch::arm(Seconds limit, std::string text) {
  const std::lock_guard lock(mutex_);
  limit_.arm(limit, std::move(text));
}

void AgreementWatch::disarm() {
  const std::lock_guard lock(mutex_);
  limit_.disarm();
}

void AgreementWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    if (const auto passed = limit_.take_passed()) end_(*passed);
  }
}

int run_connections(const Program& program, int argc, char** argv) {
  const auto agree = [&program](Job& job) {
    return std::make_unique<ConnectWork>(job, choose_active_processes(job.world, program.name, job.options));
  };
  return run(program, agree, make_judges, argc, argv);
}

}  // namespace fabricbench
