// Pre-flight of hosts: as an MPI job, or by ssh where MPI may not start.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "cluster/command/host_source.h"
#include "cluster/launch/children.h"
#include "cluster/launch/launcher.h"
#include "cluster/preflight/logins.h"
#include "cluster/preflight/overview.h"
#include "common/core/error.h"
#include "common/host/files.h"
#include "common/report/banner.h"
#include "common/report/file_sinks.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kHelp = R"(usage: fabricbench preflight --ssh [--hosts LIST | --hostfile FILE] [--json FILE]
       fabricbench preflight [OPTION]...   an MPI job: see preflight --help

Says what would keep mpirun from starting on hosts: ssh without a password, from
here and from host to host, MPI and the programs on the PATH of a shell without
a login, the same versions everywhere. It needs no MPI, and changes nothing.

  --ssh            look at hosts by ssh, before MPI starts there
  --hosts LIST     these hosts, such as node[01-16] (default: those of the
                   surrounding job)
  --hostfile FILE  read hosts from FILE, in the format of an MPI launcher
  --json FILE      write all records as JSON Lines to FILE
  --force          overwrite FILE
  --help           print this text

Exit status: 0 no failure was found, 2 usage, 3 there is no ssh, 6 failures.
)";

constexpr int kLoginSeconds = 30;
constexpr std::size_t kAtOnce = 64;

struct SshOptions {
  HostOptions hosts;
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

  [[nodiscard]] Overview overview() const {
    Overview overview(login_checks());
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

ExitStatus look_by_ssh(const SshOptions& options) {
  if (found_on_path("ssh").empty()) throw Error(ExitStatus::kMissing, "there is no ssh on this host; install it");
  const FoundHosts found = find_hosts(options.hosts, own_surroundings());
  const std::vector<std::string> hosts = found.hosts.names();
  Outputs outputs;
  Context context;
  context.program = "preflight";
  context.row_kind = RowKind::kPreflight;
  context.hosts = static_cast<int>(hosts.size());
  outputs.add(make_table(context.row_kind, context.options, OutputFile::standard_output(), false));
  if (!options.json.empty()) outputs.add(std::make_unique<JsonLinesSink>(OutputFile(options.json, options.force)));
  outputs.begin(context);
  Logins logins(hosts);
  if (logins.run()) return static_cast<ExitStatus>(kInterrupted);
  const Ending ending = logins.overview().tell(outputs);
  outputs.end(ending);
  return static_cast<ExitStatus>(ending.exit_status);
}

}  // namespace

ExitStatus preflight_hosts(const std::vector<std::string>& arguments) {
  if (std::find(arguments.begin(), arguments.end(), "--ssh") == arguments.end()) {
    return run_entry(*find_entry("preflight"), {}, arguments);
  }
  CommandOptions options(CalledAs("preflight"), kHelp);
  return static_cast<ExitStatus>(run_tool(options.called().name, [&] {
    SshOptions chosen;
    chosen.hosts.list_option = "--hosts";
    options.flag("--ssh", [] {});
    options.flag("--force", [&] { chosen.force = true; });
    options.value("--hosts", [&](const std::string&, const std::string& value) { chosen.hosts.list = value; });
    options.value("--hostfile", [&](const std::string&, const std::string& value) { chosen.hosts.hostfile = value; });
    options.value("--json", chosen.json);
    if (!options.read(arguments)) return ExitStatus::kOk;
    if (!options.words().empty()) options.refuse(options.words().front());
    return look_by_ssh(chosen);
  }));
}

}  // namespace fabricbench::cluster
