#include "cluster/preflight/preflight.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/preflight/host_view.h"
#include "cluster/preflight/nic_watch.h"
#include "cluster/preflight/overview.h"
#include "cluster/preflight/reachability.h"
#include "cluster/preflight/site_file.h"
#include "common/core/clock.h"
#include "common/engine/describe.h"
#include "common/engine/engine.h"
#include "common/engine/setup.h"
#include "common/host/checks/checks.h"
#include "common/programs/run_program.h"
#include "common/ranks/agreement.h"
#include "common/ranks/team.h"
#include "common/record/packing.h"

namespace fabricbench::cluster {
namespace {

/// The first process of each host: a host is examined once.
ActiveProcesses first_of_each_host(const mpi::Communicator& job) {
  const ProcessLocation location = locate_processes(job);
  ActiveProcesses active;
  active.communicator = job.split(location.local_process == 0 ? std::optional(0) : std::nullopt);
  return active;
}

class PreflightWork final : public Work {
 public:
  explicit PreflightWork(Job& job) : Work(job, first_of_each_host(job.world)) {}

  void set_up(Outputs& outputs) override {
    outputs_ = &outputs;
    location_ = locate_processes(world());
    const PreflightOptions& asked = job().options.preflight;
    overview_ =
        Overview(host::all_checks(),
                 on_first_process(world(), [&] { return read_site_file(asked.site_file, asked.accept_as_is); }));
    if (!asked.recorded.empty()) {
      recorded_ = on_first_process(world(), [&] { return examine_recorded_hosts(asked.recorded); });
    }
    outputs = open_outputs(world(), RowKind::kPreflight, job().options, job().make_judges);
  }

  [[nodiscard]] Context make_context() override {
    const Team team(world(), "");
    Context context = context_of(world(), job(), job().options, location_);
    context.row_kind = RowKind::kPreflight;
    if (!recorded_.empty()) context.hosts = static_cast<int>(recorded_.size());
    context.backend = "host";
    context.backend_reason = "nothing is sent";
    context.ranks = describe_processes(team, location_);
    context.groups = describe_groups(context.ranks);
    return context;
  }

  [[nodiscard]] Ending measure(const Context& /*context*/) override {
    heartbeat().enter(Phase::kMeasure);
    for (const host::HostReport& report : recorded_) overview_.add(report);
    if (job().options.preflight.recorded.empty()) {
      gather_reports();
      check_reachability();
    }
    if (job().options.preflight.watch_s > 0) watch();
    heartbeat().enter(Phase::kReport);
    if (!world().is_root()) return {};
    Ending ending = overview_.tell(*outputs_);
    if (job().options.preflight.accept_as_is) {
      add_to_site_file(job().options.preflight.site_file, overview_.site_lines(who_is_here()));
    }
    return ending;
  }

 private:
  /// Each host's findings, on the first process.
  void gather_reports() {
    const host::HostReport own = host::examine(*view_of_this_host());
    for (const std::string& packed : world().gather(record::pack(own))) {
      overview_.add(record::unpack<host::HostReport>(packed));
    }
  }

  /// All probe each other at the same time.
  void check_reachability() {
    if (world().size() == 1) return;
    const Responder responder;
    const auto addresses = broadcast_from_first(world(), gather_on_first(world(), responder.addresses()));
    const std::vector<Unreached> own = probe_hosts(addresses, world().rank(), {});
    heartbeat().tick();
    const std::vector<Unreached> all = gather_lists_on_first(world(), own);
    const std::vector<std::string> names = world().gather(location_.host);
    world().barrier();  // all have asked: responders may end
    if (!world().is_root()) return;
    overview_.add("reachability", names.size(), judge_reachability(names, addresses, all), untried_probes(names, all));
  }

  /// What NICs carry, every second, on all hosts.
  void watch() {
    NicWatch nics;
    const Seconds begin = now();
    std::vector<PreflightTraffic> all;
    for (Seconds at = 1; at <= job().options.preflight.watch_s; ++at) {
      std::this_thread::sleep_for(std::chrono::duration<double>(begin + at - now()));
      heartbeat().tick();
      for (PreflightTraffic& each : gather_lists_on_first(world(), nics.next(location_.host, now() - begin))) {
        outputs_->record(each);
        if (!each.events.empty()) all.push_back(std::move(each));
      }
    }
    overview_.add("nic_counters", static_cast<std::size_t>(world().size()), judge_traffic(all), {});
  }

  [[nodiscard]] Heartbeat& heartbeat() const { return job().watchdog.heartbeat(); }

  Outputs* outputs_ = nullptr;
  std::vector<host::HostReport> recorded_;  // on the first process
  Overview overview_;                       // the same
  ProcessLocation location_;
};

}  // namespace

int run_preflight(const Program& program, int argc, char** argv) {
  return run(
      program, [](Job& job) { return std::make_unique<PreflightWork>(job); }, make_judges, argc, argv);
}

}  // namespace fabricbench::cluster
