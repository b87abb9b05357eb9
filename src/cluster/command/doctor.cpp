// Says what this host lacks for which programs, and what mends it.

#include <net/if.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "cluster/command/mpi_job.h"
#include "cluster/command/packages.h"
#include "cluster/launch/children.h"
#include "cluster/launch/job_output.h"
#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/host/files.h"
#include "common/host/nics.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDoctorHelp = R"(usage: fabricbench doctor [--programs DIR]

Says what this host has and lacks for which programs, and what mends it.

  ok       is there, and works as far as that was tried
  missing  every program needs it
  absent   only the programs of that heading need it
  unknown  could not be found out, which is never ok

It starts two programs on this host, or in the allocation of Slurm, with a time
limit of a minute each. Nothing is installed or changed.

  --programs DIR   folder of the programs (default: that of fabricbench)
  --help           print this text

Exit status: 0 nothing is missing that every program needs, 2 usage, 3 something
is, 7 it could not be found out.
)";

constexpr int kProbeSeconds = 60;  // for a program that measures one message
constexpr int kAnswerSeconds = 30;
constexpr std::size_t kColumns = 80;
constexpr std::size_t kTextColumn = 29;
constexpr std::uint64_t kLeastShared = std::uint64_t{256} << 20;

enum class State { kOk, kNeeded, kAbsent, kUnknown };
constexpr std::array<std::string_view, 4> kStates = {"ok", "missing", "absent", "unknown"};

bool is_on_path(std::string_view program) { return !found_on_path(program).empty(); }
bool has_launcher() { return is_on_path("mpirun") || is_on_path("srun"); }
bool is_in_slurm() { return std::getenv("SLURM_JOB_ID") != nullptr; }  // NOLINT(concurrency-mt-unsafe)

/// A command of root as a user calls it.
std::string as_root(std::string_view command) { return fmt::format("{}{}", ::getuid() == 0 ? "" : "sudo ", command); }

/// A command that installs what the table of packages calls so; empty if that or the package manager has none. The
/// module `a,b` is in a package for each of them.
std::string installing(std::string_view kind, std::string_view name) {
  const bool has_apt = is_on_path("apt-get");
  if (!has_apt && !is_on_path("dnf")) return "";
  std::vector<std::string> packages;
  for (const std::string_view line : lines_of(kPackages)) {
    const std::vector<std::string> words = split_words(line);
    if (words.size() != 5 || words[1] != kind || words[2] != name) continue;
    const std::string& package = words[has_apt ? 3 : 4];
    if (package != "-") packages.push_back(package);
  }
  if (packages.empty()) return "";
  return as_root(fmt::format("{} install -y {}", has_apt ? "apt-get" : "dnf", fmt::join(packages, " ")));
}

class Examination {
 public:
  explicit Examination(std::string folder) : folder_(std::move(folder)) {}

  ExitStatus run();

 private:
  void tell(State state, std::string_view name, const std::string& text, const std::string& mend = "");
  void look_for(bool is_there, State otherwise, std::string_view kind, std::string_view name, const std::string& text);
  void probe(std::string_view name, State otherwise, const std::string& mend, std::string_view program,
             const std::vector<std::string>& arguments, StartedAs start);
  [[nodiscard]] std::string path_of(std::string_view program) const { return fmt::format("{}/{}", folder_, program); }
  [[nodiscard]] bool has(std::string_view program) const { return ::access(path_of(program).c_str(), X_OK) == 0; }

  void check_programs();
  void check_launcher();
  void check_shared_memory();
  void check_interfaces();
  void check_gpus();
  void check_rdma();
  void check_memory_of_rdma();
  void check_tools();
  [[nodiscard]] ExitStatus conclude();

  std::string folder_;
  std::map<State, int> counts_;
  bool every_program_needs_it_ = true;
  bool unknown_needed_ = false;
};

/// One thing, in lines of 80 columns.
void Examination::tell(State state, std::string_view name, const std::string& text, const std::string& mend) {
  ++counts_[state];
  if (state == State::kUnknown && every_program_needs_it_) unknown_needed_ = true;
  std::string begin = fmt::format("{:<8} {:<19} ", kStates[static_cast<std::size_t>(state)], name);
  for (const std::string& line : wrapped(text, kColumns - kTextColumn - 1)) {
    fmt::print("{}{}\n", begin, line);
    begin.assign(kTextColumn, ' ');
  }
  if (!mend.empty()) fmt::print("         mend: {}\n", mend);
}

/// Whether something of the table of packages is there. `text` says what it is for.
void Examination::look_for(bool is_there, State otherwise, std::string_view kind, std::string_view name,
                           const std::string& text) {
  std::string readable(name);
  if (const auto comma = readable.find(','); comma != std::string::npos) readable.replace(comma, 1, " and ");
  tell(is_there ? State::kOk : otherwise, readable, text, is_there ? "" : installing(kind, name));
}

std::string first_line_of(std::string_view text, std::string_view beginning) {
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(beginning)) return std::string(line.substr(beginning.size()));
  }
  return "";
}

/// What a program says of itself, or else what its launcher says.
std::string complaint_of(std::string_view program, const std::string& errors) {
  std::string own = first_line_of(errors, fmt::format("{}: ", program));
  if (!own.empty()) return own;
  for (const std::string_view line : lines_of(errors)) {
    if (line.find_first_not_of('-') != std::string_view::npos) return std::string(line);
  }
  return "";
}

std::int64_t count_lines(std::string_view text, std::string_view beginning) {
  const auto lines = lines_of(text);
  return std::count_if(lines.begin(), lines.end(), [&](std::string_view line) { return line.starts_with(beginning); });
}

/// Runs a program: kAlone directly, else as an MPI job of one rank (kEachHost) or two.
void Examination::probe(std::string_view name, State otherwise, const std::string& mend, std::string_view program,
                        const std::vector<std::string>& arguments, StartedAs start) {
  if (!has(program)) {
    tell(otherwise, name, fmt::format("this build has no {}, because it lacked libraries; CMake names them", program));
    return;
  }
  MpiJob job{start, {path_of(program)}};
  job.program.insert(job.program.end(), arguments.begin(), arguments.end());
  if (start == StartedAs::kEachHost) job.ranks = 1;
  Said said;
  try {
    said = said_by(start == StartedAs::kAlone ? Command{{}, job.program} : command_of(job), kProbeSeconds);
  } catch (const Error& error) {
    said = {static_cast<int>(error.status()), "", fmt::format("{}: {}\n", program, error.what())};
  }
  const int ranks = start == StartedAs::kTwoRanks ? 2 : 1;
  const std::string words = complaint_of(program, said.errors);
  const std::string because = words.empty() ? "" : ": " + words;
  const std::string backend = first_line_of(said.text, "# Backend: ");
  const std::size_t library = backend.rfind("; ");
  if (said.status == 0 && count_lines(said.text, fmt::format("# Ranks: {}, ", ranks)) != 1) {
    tell(otherwise, name, fmt::format("the launcher did not start {} ranks of one job", ranks), mend);
  } else if (said.status == 0) {
    tell(State::kOk, name,
         fmt::format("{} works{}", program, library == std::string::npos ? "" : ", on " + backend.substr(library + 2)));
  } else if (said.status == kTimedOut) {
    tell(State::kUnknown, name, fmt::format("{} did not end within {} s{}", program, kProbeSeconds, because));
  } else if (said.status != static_cast<int>(ExitStatus::kMissing)) {
    // Open MPI wants an agent even where all ranks are here.
    tell(State::kUnknown, name, fmt::format("{} ended with status {}{}", program, said.status, because),
         words.find("plm_rsh_agent") == std::string::npos ? "" : installing("command", "ssh"));
  } else if (ranks == 1 && (words.find("started this process") != std::string::npos ||
                            words.find("launched by") != std::string::npos)) {
    tell(State::kUnknown, name, "could not be checked" + because);
  } else {
    tell(otherwise, name, words.empty() ? fmt::format("{} ended with status 3", program) : words, mend);
  }
}

void Examination::check_programs() {
  if (!has("all_reduce_perf")) {
    tell(State::kNeeded, "programs", fmt::format("there is no all_reduce_perf in {}", folder_), "make");
    return;
  }
  const Said said = said_by({{}, {"ldd", path_of("all_reduce_perf")}}, kAnswerSeconds);
  std::vector<std::string> lacking;
  const std::string found = said.text + said.errors;
  for (const std::string_view line : lines_of(found)) {
    if (line.find(" => not found") != std::string_view::npos) lacking.push_back(split_words(line).front());
  }
  if (lacking.empty()) {
    tell(State::kOk, "programs", folder_);
  } else {
    tell(State::kNeeded, "libraries",
         fmt::format("all_reduce_perf does not find {}; build it here, or install them", fmt::join(lacking, " ")));
  }
}

void Examination::check_launcher() {
  if (!is_on_path("mpirun")) {
    const std::string mend = installing("command", "mpirun");
    if (is_on_path("srun")) {
      tell(State::kAbsent, "mpirun", "srun starts programs in allocations of Slurm, and nothing outside of them", mend);
    } else {
      tell(State::kNeeded, "mpirun", "neither mpirun nor srun is on the PATH", mend);
    }
    return;
  }
  const Launcher launcher({});
  std::string version = said_by({{}, {"mpirun", "--version"}}, kAnswerSeconds).text;
  version.erase(std::min(version.find('\n'), version.size()));
  if (launcher.mpirun() == Mpirun::kHydra) version = "hydra (MPICH, Intel MPI or MVAPICH)";
  if (version.empty()) {
    tell(State::kUnknown, "mpirun", "'mpirun --version' says nothing");
  } else {
    tell(State::kOk, "mpirun", version);
  }
}

void Examination::check_shared_memory() {
  struct statvfs facts {};
  if (::statvfs("/dev/shm", &facts) != 0) {
    tell(State::kUnknown, "/dev/shm", "cannot be read; ranks of one host exchange messages there");
    return;
  }
  const std::uint64_t free = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  if (free < kLeastShared) {
    tell(State::kAbsent, "/dev/shm", fmt::format("{} MiB are free, which is little for ranks of one host", free >> 20),
         "docker run --shm-size=1g, or mount -o remount,size=50% /dev/shm");
  } else {
    tell(State::kOk, "/dev/shm", fmt::format("{} MiB are free", free >> 20));
  }
}

void Examination::check_interfaces() {
  std::vector<std::string> found;
  for (const host::NetworkDevice& device : host::network_devices()) {
    // Of this network namespace: a container may see its host's /sys.
    if (::if_nametoindex(device.name.c_str()) == 0 || device.state == "down") continue;
    const auto speed = device.speed_mbit_per_s;
    found.push_back(speed ? fmt::format("{} ({} Gbit/s)", device.name, *speed / 1000) : device.name);
  }
  if (found.empty()) {
    tell(State::kAbsent, "interfaces", "none but loopback is up; programs measure this host alone");
  } else {
    tell(State::kOk, "interfaces", fmt::format("{}", fmt::join(found, ", ")));
  }
}

void Examination::check_gpus() {
  const int count = count_gpus();
  if (count > 0) tell(State::kOk, "GPUs", fmt::format("{}, by nvidia-smi", count));
  // In an allocation programs refuse to be started without a launcher.
  const bool by_launcher = is_in_slurm() && has_launcher();
  probe("NCCL", State::kAbsent, "NVIDIA's driver and libnccl2, where the host has GPUs", "all_reduce_perf",
        {"-b", "8", "-e", "8", "-n", "1", "--backend", "nccl"}, by_launcher ? StartedAs::kEachHost : StartedAs::kAlone);
}

void Examination::check_rdma() {
  std::vector<std::string> ports;
  std::vector<std::string> active;
  for (const host::NetworkDevice& device : host::network_devices()) {
    if (device.name.find(':') == std::string::npos) continue;
    ports.push_back(device.name);
    if (device.state == "ACTIVE") active.push_back(device.name);
  }
  std::error_code error;
  const fs::directory_iterator files("/dev/infiniband", error);
  const bool has_device = std::any_of(begin(files), end(files), [](const fs::directory_entry& file) {
    return file.path().filename().string().starts_with("uverbs");
  });
  if (ports.empty()) {
    tell(State::kAbsent, "RDMA devices", "/sys/class/infiniband lists none",
         "the adapter's driver, or: rdma link add rxe0 type rxe netdev NAME");
  } else if (!has_device) {
    tell(State::kAbsent, "RDMA devices", "/dev/infiniband has no uverbs device",
         as_root("modprobe ib_uverbs") + ", and in a container --device /dev/infiniband");
  } else if (active.empty()) {
    tell(State::kAbsent, "RDMA devices", "no port is ACTIVE", "cable, switch and opensm; ibstat shows the ports");
  } else {
    tell(State::kOk, "RDMA devices", fmt::format("active: {}", fmt::join(active, ", ")));
    if (has_launcher()) {
      probe("RDMA writes", State::kAbsent, "", "rdma_write_bw", {"-s", "8", "-n", "5"}, StartedAs::kTwoRanks);
    }
  }
}

void Examination::check_memory_of_rdma() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) {
    tell(State::kOk, "locked memory", "no limit");
  } else {
    tell(State::kAbsent, "locked memory",
         fmt::format("the limit is {} KiB, which bounds the buffers of RDMA", limit.rlim_cur / 1024),
         "ulimit -l unlimited, by memlock in /etc/security/limits.conf");
  }
  const auto free = host::parse_integer<long>(host::find_value("/proc/meminfo", "HugePages_Free").value_or(""));
  if (free.value_or(0) > 0) {
    tell(State::kOk, "huge pages", fmt::format("{} are free", *free));
  } else {
    tell(State::kAbsent, "huge pages", "none are free, for --memory hugepages",
         as_root("sysctl -w vm.nr_hugepages=1024"));
  }
}

/// By the python3 on the PATH, or by the system's, which packages install into.
bool can_import(const std::string& modules) {
  const auto by = [&](const std::string& python) {
    return said_by({{}, {python, "-c", "import " + modules}}, kAnswerSeconds).status == 0;
  };
  return by("python3") || by("/usr/bin/python3");
}

void Examination::check_tools() {
  const auto command = [&](std::string_view name, const std::string& text) {
    look_for(is_on_path(name), State::kAbsent, "command", name, text);
  };
  fmt::print("\nMany hosts: sweep_pairs, accept, check_node_pair\n");
  command("parallel", "sweep_pairs.sh, which does without it where it is missing");
  if (is_in_slurm()) {
    tell(State::kOk, "other hosts", "by srun, in this allocation of Slurm");
  } else {
    command("ssh", "starts ranks on other hosts without a scheduler");
  }
  fmt::print("\nPictures and pages: plot, report\n");
  command("python3", "report, plot");
  look_for(can_import("matplotlib"), State::kAbsent, "module", "matplotlib", "plot: PNG, SVG, PDF");
  look_for(can_import("jinja2,plotly"), State::kAbsent, "module", "jinja2,plotly", "report, and plot: HTML");
  fmt::print("\nselftest\n");
  command("ip", "hosts made of network namespaces");
  if (::getuid() == 0) {
    tell(State::kOk, "root", "this is root");
  } else {
    tell(State::kAbsent, "root", "network namespaces take root", "sudo fabricbench selftest");
  }
}

ExitStatus Examination::conclude() {
  if (counts_[State::kNeeded] > 0) {
    fmt::print("\nMissing for every program: {}; what mends it is above.\n", counts_[State::kNeeded]);
    return ExitStatus::kMissing;
  }
  if (unknown_needed_) {
    fmt::print("\nWhether programs work here is unknown; see above.\n");
    return ExitStatus::kNotJudged;
  }
  fmt::print("\nPrograms work on this host. Absent for some of them: {}; unknown: {}.\n", counts_[State::kAbsent],
             counts_[State::kUnknown]);
  return ExitStatus::kOk;
}

ExitStatus Examination::run() {
  fmt::print("All programs\n");
  check_programs();
  check_launcher();
  if (has_launcher() && has("all_reduce_perf")) {  // else that has been told
    probe("two ranks", State::kNeeded, "put the mpirun of the programs' own MPI first on the PATH", "all_reduce_perf",
          {"-b", "8", "-e", "8", "-n", "1", "--backend", "mpi"}, StartedAs::kTwoRanks);
  }
  check_shared_memory();
  check_interfaces();
  every_program_needs_it_ = false;
  fmt::print("\nGPUs: collectives on NCCL, gpu_copy_bw, gpudirect_rdma_lat\n");
  check_gpus();
  fmt::print("\nRDMA: rdma_*, gpudirect_rdma_lat\n");
  check_rdma();
  check_memory_of_rdma();
  check_tools();
  return conclude();
}

}  // namespace

ExitStatus examine_host(const std::vector<std::string>& arguments) {
  CommandOptions options(CalledAs("doctor"), kDoctorHelp);
  return static_cast<ExitStatus>(run_tool(options.called().name, [&] {
    std::string folder;
    options.value("--programs", folder);
    if (!options.read(arguments)) return ExitStatus::kOk;
    if (!options.words().empty()) options.refuse(options.words().front());
    return Examination(folder.empty() ? programs_folder() : fs::absolute(folder).lexically_normal().string()).run();
  }));
}

}  // namespace fabricbench::cluster
