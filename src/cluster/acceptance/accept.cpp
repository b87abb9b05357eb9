// `fabricbench accept`: accepts or drains hosts.

#include <stdlib.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/acceptance/accept_options.h"
#include "cluster/acceptance/job_commands.h"
#include "cluster/acceptance/run_folder.h"
#include "cluster/acceptance/stages.h"
#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "cluster/hosts/host_list.h"
#include "cluster/launch/children.h"
#include "cluster/launch/job_output.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::acceptance {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "fabricbench";
constexpr int kSecondsToCheck = 60;  // for a script to read its options

constexpr std::string_view kBefore = R"(usage: scripts/accept.sh [OPTION]...
       scripts/accept.sh --resume FOLDER [OPTION]...
       scripts/accept.sh --recheck HOSTS FOLDER [OPTION]...

Says which hosts may work: measures each host alone, then pairs of hosts, then
collectives over 2, 4, ... all hosts. Hosts with a finding are left out of what
follows. See docs/accept.md.
  scripts/accept.sh -H node[01-64] --baseline results/site.jsonl
      every host, every stage, compared with what a healthy system does
  scripts/accept.sh -H node[01-64] --time 20m
      what can be measured in 20 minutes; says what was not
  scripts/accept.sh --recheck node07 results/accept-20260101-120000
      after a repair: only what can clear node07

Hosts (default: those of the surrounding Slurm, PBS, LSF or Kubernetes MPI job):
  -H, --hosts LIST    use these hosts, such as node[01-16,20],login1
  --hostfile FILE     read hosts from FILE, in the format of an MPI launcher or
                      scheduler; - is standard input
  --exclude LIST      leave these hosts out
  --locality FILE     read each host's leaf switch or rack from lines HOST LEAF

What figures are compared with (default: hosts with each other):
  --baseline FILE     launches recorded with --record; slower is status 6
  --preset NAME       published figures of such a system; --strict makes them
                      binding
  --expect PERCENT    this share of what network adapters and NVLinks allow
  --line-rate GBIT/S  rate of a host's network for --expect, where the system
                      does not know it
  --record FILE       add the run to the baseline in FILE instead of judging its
                      collectives
)";

constexpr std::string_view kBehind = R"(  --tolerance X       smallest deficit that counts as slow where hosts are
                      compared (default: 0.05)

What to measure:
  --programs-to-run LIST
                      collectives (default: all_reduce_perf); the first also
                      runs on each host alone
  -b SIZE, -e SIZE, -f N
                      first and last size, and factor (default: 1K, 64M, 16;
                      with GPUs 1M, 1G, 32)
  --ranks N           ranks of each host (default: its GPUs as listed by
                      nvidia-smi here, else 1)
  --collective-options WORDS
                      more options of the collectives, such as '-n 20'
  --alone-options WORDS
                      the same for hosts alone (default: those of
                      --collective-options)
  --test NAME, --size SIZE, --rails LIST, --rounds K, --max-concurrent M,
  --resident
                      for the pairs, see scripts/sweep_pairs.sh (default:
                      --resident with more than 16 hosts)
  --pair-options WORDS
                      more options of the pairs' benchmark
  --at-once N         hosts measured alone at the same time (default: 32)
  --time TIME         time for everything, such as 20m: a quarter for hosts
                      alone, 7/10 until pairs have to end
  --timeout SECONDS   time limit of a job on one or two hosts (default:
                      60); 10 times as long for collectives
  --keep-going        go on after a finding that no host explains, and measure
                      pairs with hosts that have findings, too

How: --launcher, --agent, --mpi-options, --programs, see
scripts/check_node_pair.sh

Results:
  --output FOLDER     new folder of all results (default: results/accept-DATE)
  --resume FOLDER     continue the run of FOLDER, with its options; those that
                      name programs, files and further options are to be given
                      again
  --recheck HOSTS FOLDER
                      measure these hosts again after a repair, as in the run of
                      FOLDER; its other results stay
  --prometheus FILE   write metrics for node_exporter's textfile collector
  --nagios            print one line, and exit with 0 OK, 1 warning, 2 critical,
                      3 unknown
  --dry-run           print the commands of the first steps instead of running
                      them
  --help              print this text

Exit status: 0 all hosts are accepted, 1 failed, 2 usage, 3 something needed is
missing, 6 something is slow or failed, 7 something could not be judged or was
not measured, 130 interrupted (everything measured so far is in FOLDER).
)";

/// The text of an option that begins at a column, in lines of up to 80 columns.
std::string in_columns(std::size_t column, const std::string& text) {
  const std::size_t width = 80 - column;
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.size() - begin <= width ? text.size() : text.rfind(' ', begin + width);
    lines += fmt::format("{:{}}{}\n", "", column, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// The options of the run in a folder, and those of this call. Throws UsageError.
bool read_options(AcceptOptions& options, const CallOptions& call, const cluster::CalledAs& called) {
  if (!call.folder.empty()) {
    std::error_code error;
    if (!fs::exists(fs::path(call.folder) / kStateFile, error)) {
      throw UsageError(fmt::format("'{}' is not the folder of an acceptance run; give one such as results/accept-DATE",
                                   call.folder));
    }
    Words stored;
    try {
      RunFolder::check(call.folder);
      stored = words_of_shell(RunFolder(call.folder).start().command);
    } catch (const std::exception& problem) {
      throw UsageError(fmt::format("'{}' is not the folder of an acceptance run: {}", call.folder, problem.what()));
    }
    if (!stored.empty()) stored.erase(stored.begin());
    read_stored_words(options, stored, called, call.folder);
  }
  if (!read_words(options, call.words, called)) return false;
  if (!call.folder.empty()) check_acting(options, call.folder);
  return true;
}

/// The hosts of a new run.
Words hosts_of(const AcceptOptions& options, const cluster::CalledAs& called) {
  const cluster::FoundHosts found = cluster::find_hosts(options.hosts, cluster::own_surroundings());
  if (!options.hosts.list && !options.hosts.hostfile) warn(called, fmt::format("hosts of {}", found.source));
  if (!found.notice.empty()) warn(called, found.notice);
  Words names = found.hosts.names();
  if (names.size() >= 2) return names;
  throw UsageError(
      fmt::format("an acceptance run needs at least two hosts, each named once; given: {}", fmt::join(names, " ")));
}

void check_recheck(AcceptOptions& options, const CallOptions& call, const Words& hosts) {
  if (call.recheck_list.empty()) return;
  cluster::HostList list;
  list.add_list(call.recheck_list, "--recheck");
  options.plan.recheck = list.names();
  Words unknown = options.plan.recheck;
  std::erase_if(unknown, [&](const std::string& host) { return has(hosts, host); });
  if (unknown.empty()) return;
  throw UsageError(fmt::format("--recheck: {} is not among the hosts of {}", fmt::join(unknown, " "), call.folder));
}

/// The command that measures pairs checks its options in a dry run too, whichever hosts these are.
void check_pairs(const JobCommands& commands, const fs::path& scratch) {
  cluster::Command command = commands.sweep(scratch, "no_records", {"host1", "host2"});
  command.words.insert(command.words.begin() + 2, "--dry-run");
  const cluster::Said said = cluster::said_by(command, kSecondsToCheck);
  const auto status = static_cast<ExitStatus>(said.status);
  if (status != ExitStatus::kUsage && status != ExitStatus::kMissing) return;
  const auto lines = cluster::lines_of(said.errors);
  const std::string last(lines.empty() ? "" : lines.back());
  throw Error(status, last.substr(last.find(": ") + 2));
}

/// Makes the folder of a new run. Returns its path.
fs::path begin_folder(const AcceptOptions& options, const CallOptions& call, const Words& hosts) {
  const std::time_t now = std::time(nullptr);
  fs::path folder =
      options.output.empty() ? fmt::format("results/accept-{:%Y%m%d-%H%M%S}", fmt::localtime(now)) : options.output;
  std::error_code error;
  if (fs::exists(folder, error)) {
    throw UsageError(
        fmt::format("'{}' exists; continue it with --resume, or name another one with --output", folder.string()));
  }
  std::string command = "scripts/accept.sh";
  for (const std::string& word : call.words) command += fmt::format(" {}", shell_word(word));
  RunFolder::begin(folder, {now, hosts, options.held_against, command});
  return folder;
}

/// The commands of the first step of each stage.
void print_commands(const AcceptOptions& options, const JobCommands& commands, const fs::path& scratch,
                    const fs::path& folder, const Words& hosts) {
  for (const std::string& host : hosts) {
    fmt::print("{}\n", commands.job(options.first_program(), {host}, options.limit_s, scratch).text());
  }
  fmt::print("{}\n", commands.sweep(folder, "pairs.jsonl", hosts).text());
  for (const std::string& program : options.plan.programs) {
    fmt::print("{}\n", commands.job(program, {hosts[0], hosts[1]}, options.limit_s * kLonger, scratch).text());
  }
}

int accept(const Words& arguments, const cluster::CalledAs& called, bool& told) {
  const auto began = cluster::Clock::now();
  const CallOptions call = read_call(arguments);
  AcceptOptions options;
  if (!read_options(options, call, called)) {
    told = true;
    return 0;
  }
  complete(options);
  const cluster::Launcher launcher(options.launch);
  // For scripts that this starts. NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  ::setenv("FABRICBENCH_PROGRAMS_FOLDER", fs::path(cluster::find_program(kName, "")).parent_path().c_str(), 0);
  const cluster::WorkFolder scratch("accept");
  const JobCommands commands(options, launcher, scratch.path());
  check_pairs(commands, scratch.path());

  const bool is_new = call.folder.empty();
  fs::path folder = call.folder;
  Words hosts;
  if (is_new) hosts = hosts_of(options, called);
  if (is_new && !call.dry_run) folder = begin_folder(options, call, hosts);
  std::optional<cluster::RunLock> lock;
  if (!folder.empty()) lock.emplace(folder, ExitStatus::kFailure);
  if (!is_new) {
    RunFolder::repair(folder);
    hosts = RunFolder(folder).hosts();
    check_recheck(options, call, hosts);
  }
  if (call.dry_run) {
    print_commands(options, commands, scratch.path(), is_new ? scratch.path() / "results" : folder, hosts);
    told = true;
    return 0;
  }
  warn(called, fmt::format("{} hosts, results in {}", hosts.size(), folder.string()));
  RunFolder state(folder);
  return run_acceptance({options, called, commands, state, scratch.path(), is_new, began}, call.nagios, told);
}

}  // namespace

std::string accept_help() {
  std::vector<std::string_view> keys;
  keys.reserve(kHostKeys.size());
  for (const HostKey& key : kHostKeys) keys.push_back(key.name);
  return fmt::format(
      "{}  --allow KEYS        compare although these differ: keys of baselines (hosts,\n"
      "                      library...), {}, and of hosts\n{}{}",
      kBefore, fmt::join(kRunKeys, ", "), in_columns(22, fmt::format("{}", fmt::join(keys, ", "))), kBehind);
}

}  // namespace fabricbench::acceptance

namespace fabricbench::cluster {

ExitStatus accept_hosts(const std::vector<std::string>& arguments) {
  constexpr int kUnknown = 3;  // of Nagios
  const CalledAs called("accept");
  bool told = false;
  const int status =
      run_tool(called.name, [&] { return static_cast<ExitStatus>(acceptance::accept(arguments, called, told)); });
  const bool nagios = acceptance::has(arguments, "--nagios");
  if (!nagios || told) return static_cast<ExitStatus>(status);
  fmt::print("ACCEPTANCE UNKNOWN - accept.sh ended with status {}; its message is on standard error\n", status);
  std::fflush(stdout);
  std::clearerr(stdout);  // who cannot read it has the status
  return static_cast<ExitStatus>(kUnknown);
}

}  // namespace fabricbench::cluster
