// Pre-flight of hosts: as an MPI job, or by ssh where MPI may not start; and of a fabric that was saved.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "cluster/command/host_source.h"
#include "cluster/command/input_file.h"
#include "cluster/fabric/locality.h"
#include "cluster/launch/children.h"
#include "cluster/launch/launcher.h"
#include "cluster/preflight/fabric_report.h"
#include "cluster/preflight/logins.h"
#include "cluster/preflight/overview.h"
#include "cluster/preflight/site_file.h"
#include "common/core/error.h"
#include "common/host/files.h"
#include "common/report/banner.h"
#include "common/report/file_sinks.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kHelp = R"(usage: fabricbench preflight --ssh [--hosts LIST | --hostfile FILE] [OPTION]...
       fabricbench preflight --fabric FILE [--errors FILE] [OPTION]...
       fabricbench preflight [OPTION]...   an MPI job: see preflight --help

--ssh says what would keep mpirun from starting on hosts: ssh without a
password, from here and from host to host, MPI and the programs on the PATH of a
shell without a login, the same versions everywhere. --fabric says which cables
and switches of an InfiniBand fabric are missing, in the wrong place, or slow,
judged by the rest of it. Neither needs MPI, and nothing is changed.

  --ssh            look at hosts by ssh, before MPI starts there
  --hosts LIST     these hosts, such as node[01-16] (default: those of the
                   surrounding job)
  --hostfile FILE  read hosts from FILE, in the format of an MPI launcher
  --fabric FILE    look at what ibnetdiscover has printed; - is standard input
  --errors FILE    and at what ibqueryerrors has printed
  --locality FILE  write lines HOST LEAF for sweeps and find_slow_links
  --site FILE      what is meant to be so, and who wants it
  --accept-as-is   add what is found to that file as accepted
  --json FILE      write all records as JSON Lines to FILE
  --force          overwrite files
  --help           print this text

Exit status: 0 no failure was found, 2 usage, 3 something is not there, 6
failures, 7 the fabric cannot be judged.
)";

constexpr int kLoginSeconds = 30;
constexpr std::size_t kAtOnce = 64;

struct LookOptions {
  HostOptions hosts;
  bool ssh = false;
  std::string fabric;
  std::string errors;
  std::string locality;
  std::string site;
  bool accept_as_is = false;
  std::string json;
  bool force = false;
};

/// Logs in to all hosts, some at a time, each within its limit.
class Logins {
 public:
  explicit Logins(std::vector<std::string> hosts) : hosts_(std::move(hosts)), logins_(hosts_.size()) {}

  /// Returns a signal that ended it.
  std::optional<int> run() {
    Jobs jobs(signals_);
    std::size_t next = 0;
    while (next < hosts_.size() || jobs.running() > 0) {
      while (next < hosts_.size() && jobs.running() < kAtOnce) start(jobs, next++);
      if (const auto signal = jobs.step(std::chrono::seconds(1))) return signal;
    }
    return std::nullopt;
  }

  [[nodiscard]] Overview overview(SiteFile site) const {
    Overview overview(login_checks(), std::move(site));
    for (std::size_t host = 0; host < hosts_.size(); ++host) overview.add(judge_login(hosts_[host], logins_[host]));
    return overview;
  }

 private:
  void start(Jobs& jobs, std::size_t host) {
    const std::string begin = fmt::format("{}/{}", folder_.path().string(), host);
    const LoginQuestions questions{programs_folder() + "/all_reduce_perf", peers_of(hosts_, host)};
    jobs.start({{}, login_command(hosts_[host], questions)}, begin + ".out", begin + ".err", kLoginSeconds,
               [this, host, begin](const JobEnd& end) {
                 logins_[host] = {end.status, end.seconds, host::read_text(begin + ".out").value_or(""),
                                  host::read_text(begin + ".err").value_or("")};
               });
  }

  std::vector<std::string> hosts_;
  std::vector<Login> logins_;
  Signals signals_;
  WorkFolder folder_{"preflight"};
};

/// The table, and the records if wanted.
Outputs opened_outputs(const LookOptions& options, std::size_t hosts) {
  Context context;
  context.program = "preflight";
  context.row_kind = RowKind::kPreflight;
  context.hosts = static_cast<int>(hosts);
  Outputs outputs;
  outputs.add(make_table(context.row_kind, context.options, OutputFile::standard_output(), false));
  if (!options.json.empty()) outputs.add(std::make_unique<JsonLinesSink>(OutputFile(options.json, options.force)));
  outputs.begin(context);
  return outputs;
}

ExitStatus tell(const LookOptions& options, const Overview& overview, Outputs& outputs) {
  const Ending ending = overview.tell(outputs);
  if (options.accept_as_is) add_to_site_file(options.site, overview.site_lines(who_is_here()));
  outputs.end(ending);
  return static_cast<ExitStatus>(ending.exit_status);
}

ExitStatus look_by_ssh(const LookOptions& options) {
  if (found_on_path("ssh").empty()) throw Error(ExitStatus::kMissing, "there is no ssh on this host; install it");
  const std::vector<std::string> hosts = find_hosts(options.hosts, own_surroundings()).hosts.names();
  SiteFile site = read_site_file(options.site, options.accept_as_is);
  Outputs outputs = opened_outputs(options, hosts.size());
  Logins logins(hosts);
  if (logins.run()) return static_cast<ExitStatus>(kInterrupted);
  return tell(options, logins.overview(std::move(site)), outputs);
}

ExitStatus look_at_fabric(const LookOptions& options) {
  const FabricView view(text_of_file(options.fabric, "--fabric"), readable_name(options.fabric));
  Overview overview(fabric_checks(), read_site_file(options.site, options.accept_as_is));
  add_cables(view, overview);
  if (!options.errors.empty()) {
    add_errors(view, text_of_file(options.errors, "--errors"), readable_name(options.errors), overview);
  }
  if (!options.locality.empty()) {
    OutputFile file(options.locality, options.force);
    file.write(fabric::text_of(locality_of(view.fabric, view.shape)));
    file.close();
  }
  Outputs outputs = opened_outputs(options, view.hosts.size());
  return tell(options, overview, outputs);
}

/// Throws UsageError for options that need another one, or do not go with it.
void refuse_misused(const LookOptions& options) {
  if (options.ssh && !options.fabric.empty()) throw UsageError("give either --ssh or --fabric");
  if (!options.fabric.empty() && (options.hosts.list || options.hosts.hostfile)) {
    throw UsageError("--hosts and --hostfile go with --ssh; --fabric looks at all hosts of the file");
  }
  if (options.ssh && !(options.errors.empty() && options.locality.empty())) {
    throw UsageError("--errors and --locality go with --fabric");
  }
  if (options.accept_as_is && options.site.empty()) {
    throw UsageError("--accept-as-is needs a file to write to; add --site FILE");
  }
}

}  // namespace

ExitStatus preflight_hosts(const std::vector<std::string>& arguments) {
  const bool is_job = std::none_of(arguments.begin(), arguments.end(), [](const std::string& word) {
    return word == "--ssh" || word == "--fabric" || word.starts_with("--fabric=");
  });
  if (is_job) return run_entry(*find_entry("preflight"), {}, arguments);
  CommandOptions options(CalledAs("preflight"), kHelp);
  return static_cast<ExitStatus>(run_tool(options.called().name, [&] {
    LookOptions chosen;
    chosen.hosts.list_option = "--hosts";
    options.flag("--ssh", [&] { chosen.ssh = true; });
    options.flag("--force", [&] { chosen.force = true; });
    options.value("--hosts", [&](const std::string&, const std::string& value) { chosen.hosts.list = value; });
    options.value("--hostfile", [&](const std::string&, const std::string& value) { chosen.hosts.hostfile = value; });
    options.value("--fabric", chosen.fabric);
    options.value("--errors", chosen.errors);
    options.value("--locality", chosen.locality);
    options.flag("--accept-as-is", [&] { chosen.accept_as_is = true; });
    options.value("--site", chosen.site);
    options.value("--json", chosen.json);
    if (!options.read(arguments)) return ExitStatus::kOk;
    if (!options.words().empty()) options.refuse(options.words().front());
    refuse_misused(chosen);
    return chosen.ssh ? look_by_ssh(chosen) : look_at_fabric(chosen);
  }));
}

}  // namespace fabricbench::cluster
