#include "cluster/command/mpi_job.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cluster/command/command_options.h"
#include "cluster/command/host_source.h"
#include "cluster/launch/children.h"
#include "cluster/launch/foreground_job.h"
#include "cluster/launch/launcher.h"
#include "common/core/error.h"
#include "common/core/options.h"
#include "common/core/wording.h"
#include "common/host/files.h"
#include "common/host/topology.h"

namespace fabricbench::cluster {
namespace {

constexpr int kSrunAnswersSeconds = 30;  // for srun to list what it has

void say(std::string_view text) { warn("fabricbench", text); }

bool is_set(const char* name) { return !variable(name).empty(); }

/// The option by which srun starts programs of Open MPI, or nothing where that need not be other than Slurm's default.
/// `can_start`: false where Slurm has no PMIx for them.
struct MpiType {
  std::string option;
  bool can_start = true;
};
MpiType mpi_type_of_srun(const std::string& program) {
  if (is_set("SLURM_MPI_TYPE")) return {};
  if (said_by({{}, {"ldd", program}}, kSrunAnswersSeconds).text.find("libmpi.so.40") == std::string::npos) return {};
  const Said said = said_by({{}, {"srun", "--mpi=list"}}, kSrunAnswersSeconds);
  const auto types = split_words(said.text + said.errors);
  const bool has_pmix = std::find(types.begin(), types.end(), "pmix") != types.end();
  return has_pmix ? MpiType{"--mpi=pmix", true} : MpiType{"", false};
}

/// In an allocation of Slurm srun, unless only mpirun can start programs of this MPI there.
LaunchSettings choose_launcher(const MpiJob& job) {
  LaunchSettings settings{job.launcher, {}, split_words(job.mpi_options)};
  const bool may_be_srun = job.launcher.empty() && is_set("SLURM_JOB_ID") && !found_on_path("srun").empty();
  if (may_be_srun || job.launcher == "srun") {
    const MpiType type = mpi_type_of_srun(job.program.front());
    settings.launcher = "srun";
    if (may_be_srun && !type.can_start && !found_on_path("mpirun").empty()) {
      say("srun has no PMIx here, by which it starts programs of Open MPI; mpirun takes its place");
      settings.launcher = "mpirun";
    }
    if (!type.option.empty()) settings.mpi_options.insert(settings.mpi_options.begin(), type.option);
  }
  if (settings.launcher.empty()) settings.launcher = "mpirun";
  return settings;
}

/// Those that are given, or of the surrounding job; none for this host, and where srun knows them itself.
std::vector<std::string> hosts_of(const MpiJob& job, bool by_srun) {
  HostOptions options{job.hosts, job.hostfile, {}, "--hosts"};
  const bool are_given = options.list || options.hostfile;
  if (!are_given && by_srun) return {};
  const auto found = find_hosts_if_any(options, own_surroundings());
  return found ? found->hosts.names() : std::vector<std::string>{};
}

/// How many ranks run on one host: a power of two, which all programs take.
int default_ranks(int cores) {
  if (cores < 4) return 2;
  return cores < 8 ? 4 : 8;
}

/// The ranks of a job, and why they are so many.
struct Ranks {
  JobShape shape;
  std::string why;
};

/// As mpirun and srun do it: the first hosts have one rank more, and none is without.
Ranks spread_ranks(int total, std::vector<std::string> hosts) {
  if (hosts.size() > static_cast<std::size_t>(total)) hosts.resize(static_cast<std::size_t>(total));
  const int count = std::max(static_cast<int>(hosts.size()), 1);
  const int per_host = (total + count - 1) / count;
  const int fewer = per_host * count - total;
  std::string why = "as -np says";
  if (fewer > 0) {
    const std::string first = count - fewer == 1 ? "" : fmt::format(" {}", count - fewer);
    why += fmt::format(": {} on the first{}, {} on each other", per_host, first, per_host - 1);
  }
  return {{std::move(hosts), per_host, fewer, 0, {}, {}}, why};
}

/// Here are as many GPUs as on the other hosts.
Ranks choose_ranks(const MpiJob& job, std::vector<std::string> hosts) {
  const std::size_t count = std::max<std::size_t>(hosts.size(), 1);
  if (job.ranks > 0) return spread_ranks(job.ranks, std::move(hosts));
  JobShape shape{std::move(hosts), 1, 0, 0, {}, {}};
  if (job.start == StartedAs::kTwoRanks) {
    if (count > 2) shape.hosts.resize(2);
    shape.ranks = count > 1 ? 1 : 2;
    return {shape, "as many as the program takes; -np changes that"};
  }
  if (job.start == StartedAs::kEachHost) return {shape, "one on each host; -np changes that"};
  shape.ranks = count_gpus();
  if (shape.ranks > 0) return {shape, "one for each GPU; -np changes that"};
  if (count > 1) {
    shape.ranks = 1;
    return {shape, "one on each, as there are no GPUs; -np changes that"};
  }
  const int cores = host::allowed_cores();
  shape.ranks = default_ranks(cores);
  return {shape, fmt::format("for {} and no GPU; -np changes that", counted(cores, "core"))};
}

/// A command, and what was chosen.
struct Choice {
  Command command;
  std::string said;
};

/// Slurm knows how many tasks and nodes the job has.
Choice in_allocation(const MpiJob& job, const Launcher& launcher) {
  const std::string_view given = variable(is_set("SLURM_JOB_NUM_NODES") ? "SLURM_JOB_NUM_NODES" : "SLURM_NNODES");
  const int nodes = host::parse_integer<int>(given).value_or(1);
  if (job.ranks > 0) {
    return {launcher.command_in_allocation({fmt::format("--ntasks={}", job.ranks)}, job.program),
            fmt::format("{} ranks in this allocation of Slurm, as -np says", job.ranks)};
  }
  if (job.start == StartedAs::kTwoRanks) {
    const int used = nodes > 1 ? 2 : 1;
    return {launcher.command_in_allocation({fmt::format("--nodes={}", used), "--ntasks=2"}, job.program),
            fmt::format("2 ranks on {} node(s) of this allocation; -np changes that", used)};
  }
  if (job.start == StartedAs::kEachHost) {
    return {
        launcher.command_in_allocation(
            {fmt::format("--nodes={}", nodes), fmt::format("--ntasks={}", nodes), "--ntasks-per-node=1"}, job.program),
        fmt::format("one rank on each of {} node(s) of this allocation; -np changes that", nodes)};
  }
  const std::string_view tasks = variable("SLURM_NTASKS");
  return {launcher.command_in_allocation({}, job.program),
          fmt::format("as many ranks as this allocation of Slurm has tasks{}{}; -np changes that",
                      tasks.empty() ? "" : ", ", tasks)};
}

Choice on_this_host(const MpiJob& job, const Launcher& launcher, const Ranks& ranks) {
  const int count = ranks.shape.ranks;
  Choice choice{{}, fmt::format("{} on this host, {}", counted(count, "rank"), ranks.why)};
  // More ranks than cores: Open MPI needs the option, and the figures are then of little use.
  const bool share_cores = launcher.mpirun() == Mpirun::kOpenMpi && count > host::allowed_cores();
  if (share_cores) choice.said += "; they share cores: expect low figures";
  choice.command = launcher.command_here(count, share_cores, job.program);
  return choice;
}

Choice choose_job(const MpiJob& job, const Launcher& launcher, const std::vector<std::string>& hosts) {
  if (hosts.empty() && launcher.is_srun()) return in_allocation(job, launcher);
  const Ranks ranks = choose_ranks(job, hosts);
  if (hosts.empty()) return on_this_host(job, launcher, ranks);
  const auto count = static_cast<int>(ranks.shape.hosts.size());
  const std::string of_all = ranks.shape.hosts.size() == hosts.size() ? "" : fmt::format(" of {}", hosts.size());
  return {launcher.command(ranks.shape, job.program),
          fmt::format("{} on {}{}, {}", counted(ranks.shape.ranks * count - ranks.shape.fewer, "rank"),
                      counted(count, "host"), of_all, ranks.why)};
}

/// Within which all ranks end after the first one has, by docs/reliability.md; 0: without limit.
int ranks_end_s(const std::vector<std::string>& program) {
  constexpr std::size_t kMostDigitsOfLimit = 7;
  const std::string given = value_of(program, {"-T", "--timeout"}).value_or("");
  const std::string whole = given.substr(0, given.find('.'));
  const auto number = whole.size() <= kMostDigitsOfLimit ? host::parse_integer<int>(whole) : std::nullopt;
  const int limit = number && *number >= 0 ? *number : static_cast<int>(Options().timeout);
  return limit == 0 ? 0 : limit * 5 / 4 + 4;
}

/// Says where rows of this run are that may not have been printed.
void point_to_record(const std::vector<std::string>& program, std::time_t began) {
  std::string file = value_of(program, {"--json"}).value_or("");
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  if (facts.st_mtime < began) return;  // it is that of another run
  std::ifstream lines(file);
  std::string last;
  for (std::string line; std::getline(lines, line);) last = std::move(line);
  if (last.find(R"("kind":"end")") != std::string::npos) return;
  if (file.starts_with('-')) file.insert(0, "./");
  say(fmt::format("the record is broken off; 'fabricbench table {}' prints the rows that it has", quoted({file})));
}

bool has_surrounding_job() {
  const std::array names = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
  return std::any_of(names.begin(), names.end(), is_set);
}

}  // namespace

void set_options(MpiJob& job, const std::vector<std::string>& options) {
  for (std::size_t place = 0; place < options.size(); ++place) {
    const std::string& name = options[place];
    if (name == "--dry-run") {
      job.dry_run = true;
      continue;
    }
    const std::string& value = options[++place];
    if (name == "--hosts") job.hosts = value;
    if (name == "--hostfile") job.hostfile = value;
    if (name == "-np") job.ranks = whole_number(name, value, 1);
    if (name == "--launcher") job.launcher = value;
    if (name == "--mpi-options") job.mpi_options = value;
  }
}

Command command_of(const MpiJob& job) {
  const Launcher launcher(choose_launcher(job));
  return choose_job(job, launcher, hosts_of(job, launcher.is_srun())).command;
}

ExitStatus run_mpi_job(const MpiJob& job) {
  const Launcher launcher(choose_launcher(job));
  // By which srun's ranks are found.
  if (launcher.is_srun())
    ::setenv("FABRICBENCH_RUN", std::to_string(::getpid()).c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const std::vector<std::string> hosts = hosts_of(job, launcher.is_srun());
  const Choice choice = choose_job(job, launcher, hosts);
  if (job.dry_run) {
    fmt::print("{}\n", choice.command.text());
    return ExitStatus::kOk;
  }
  say(choice.said);
  say("running " + choice.command.text());
  const std::time_t began = std::time(nullptr);
  const bool all_here = !launcher.is_srun() && hosts.empty() && !has_surrounding_job();
  const ForegroundEnd end = run_in_foreground(
      choice.command, {launcher.is_srun(), !hosts.empty(), all_here, job.program.front(), ranks_end_s(job.program)},
      say);
  int status = end.is_stuck ? static_cast<int>(ExitStatus::kTimeout) : end.status;
  if (end.output_lost) {
    say("not all of the output could be written: rows of the table may be lost");
    // mpirun itself may fail too, with a status of its own.
    if (status == 0 || status > 128) status = static_cast<int>(ExitStatus::kFailure);
  }
  if (status != 0) point_to_record(job.program, began);
  return static_cast<ExitStatus>(status);
}

}  // namespace fabricbench::cluster
