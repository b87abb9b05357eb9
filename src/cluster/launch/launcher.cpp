#include "cluster/launch/launcher.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/launch/children.h"
#include "cluster/launch/job_output.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

/// Where Fedora and RHEL keep Open MPI: off the PATH until `module load mpi` is run.
constexpr std::string_view kFedoraMpi = "/usr/lib64/openmpi";

/// A step beside others, which ends with its first lost rank.
constexpr std::array kSrunOptions = {"--overlap", "--kill-on-bad-exit=1"};

constexpr int kToAnswerSeconds = 30;  // for a command that asks a launcher or a driver

constexpr std::array<std::string_view, 4> kForwardedNames = {"PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
                                                             "FABRICBENCH_RUN"};
constexpr std::array<std::string_view, 12> kForwardedBeginnings = {
    "NCCL_", "UCX_", "FI_", "MPIR_CVAR_", "MPICH_", "I_MPI_", "MV2_", "PSM2_", "PSM3_", "OMPI_MCA_", "OMPI_ALLOW_"};
/// What a launcher sets for the ranks of its own job.
constexpr std::array<std::string_view, 10> kOfOneJob = {
    "OMPI_MCA_orte_",    "OMPI_MCA_ess_",           "OMPI_MCA_prte_",
    "OMPI_MCA_plm_",     "OMPI_MCA_ras_",           "OMPI_MCA_rmaps_",
    "OMPI_MCA_initial_", "OMPI_MCA_shmem_RUNTIME_", "OMPI_MCA_oob_tcp_keepalive_",
    "I_MPI_HYDRA_"};

void set_variable(const std::string& name, const std::string& value) {
  ::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
}

bool is_forwarded(std::string_view name) {
  const auto begins = [&](std::string_view beginning) { return !beginning.empty() && name.starts_with(beginning); };
  if (std::any_of(kOfOneJob.begin(), kOfOneJob.end(), begins)) return false;
  return std::find(kForwardedNames.begin(), kForwardedNames.end(), name) != kForwardedNames.end() ||
         std::any_of(kForwardedBeginnings.begin(), kForwardedBeginnings.end(), begins);
}

/// Prepends Fedora's folder to the PATH where that has no mpirun. Returns what a user has to set for the same effect.
std::vector<std::string> find_mpirun() {
  std::vector<std::string> settings;
  const auto add = [&](const std::string& name, const std::string& value) {
    set_variable(name, value);
    settings.push_back(fmt::format("{}={}", name, value));
  };
  if (found_on_path("mpirun").empty() && ::access(fmt::format("{}/bin/mpirun", kFedoraMpi).c_str(), X_OK) == 0) {
    const std::string_view libraries = variable("LD_LIBRARY_PATH");
    add("PATH", fmt::format("{}/bin:{}", kFedoraMpi, variable("PATH")));
    add("LD_LIBRARY_PATH", fmt::format("{}/lib{}{}", kFedoraMpi, libraries.empty() ? "" : ":", libraries));
  }
  // Open MPI runs as root only with both of these.
  if (::getuid() == 0) {
    add("OMPI_ALLOW_RUN_AS_ROOT", "1");
    add("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  return settings;
}

Mpirun kind_of_mpirun() {
  const Said version = said_by({{}, {"mpirun", "--version"}}, kToAnswerSeconds);
  if (version.status == kTimedOut) return Mpirun::kSilent;
  const auto names = [&](std::string_view word) { return version.text.find(word) != std::string::npos; };
  if (names("Open MPI") || names("OpenRTE")) return Mpirun::kOpenMpi;
  if (names("HYDRA") || names("Hydra") || names("Intel(R) MPI") || names("MVAPICH")) return Mpirun::kHydra;
  return Mpirun::kOther;
}

/// mpirun of Open MPI waits without limit for its daemon on a host that is out of reach, unless it looks whether it is
/// there. Returns what has to be set for that.
std::vector<std::string> looks_for_hosts() {
  std::vector<std::string> settings;
  for (const auto& [name, value] : {std::pair{"time", "10"}, {"intvl", "2"}, {"probes", "3"}}) {
    const std::string full = fmt::format("OMPI_MCA_oob_tcp_keepalive_{}", name);
    if (!variable(full.c_str()).empty()) continue;
    settings.push_back(fmt::format("{}={}", full, value));
  }
  return settings;
}

int ranks_on(const JobShape& shape, std::size_t host) {
  const bool has_fewer = host + static_cast<std::size_t>(shape.fewer) >= shape.hosts.size();
  return has_fewer ? shape.ranks - 1 : shape.ranks;
}

int all_ranks(const JobShape& shape) { return shape.ranks * static_cast<int>(shape.hosts.size()) - shape.fewer; }

/// A text for each host, of its name and its number of ranks.
std::vector<std::string> ranked_hosts(const JobShape& shape, std::string_view between) {
  std::vector<std::string> texts;
  for (std::size_t host = 0; host < shape.hosts.size(); ++host) {
    texts.push_back(fmt::format("{}{}{}", shape.hosts[host], between, ranks_on(shape, host)));
  }
  return texts;
}

std::string write_hosts(const JobShape& shape, const std::vector<std::string>& lines) {
  const fs::path path = shape.folder / "hostfile";
  write_text(path, fmt::format("{}\n", fmt::join(lines, "\n")));
  return path.string();
}

using Words = std::vector<std::string>;

Words forwarded_with(const std::vector<std::string>& settings) {
  Words found = forwarded_variables();
  std::set<std::string> names(found.begin(), found.end());
  for (const std::string& setting : settings) names.insert(setting.substr(0, setting.find('=')));
  return {names.begin(), names.end()};
}

Words words_of_open_mpi(const JobShape& shape, const LaunchSettings& settings) {
  Words words;
  if (shape.folder.empty()) {
    words = {"mpirun", "--host", fmt::format("{}", fmt::join(ranked_hosts(shape, ":"), ","))};
  } else {
    words = {"mpirun", "--hostfile", write_hosts(shape, ranked_hosts(shape, " slots="))};
  }
  append(words, {"-np", std::to_string(all_ranks(shape))});
  if (shape.limit_s > 0) append(words, {"--timeout", std::to_string(shape.limit_s)});
  if (shape.fewer > 0) {
    append(words, {"--map-by", "slot"});
  } else if (shape.ranks > 1) {
    append(words, {"--map-by", fmt::format("ppr:{}:node", shape.ranks)});
  }
  for (const std::string& name : forwarded_with(shape.environment)) append(words, {"-x", name});
  if (!settings.agent.empty()) append(words, {"--mca", "plm_rsh_agent", settings.agent});
  return words;
}

Words words_of_hydra(const JobShape& shape, const LaunchSettings& settings) {
  const Words hosts = ranked_hosts(shape, ":");
  Words words;
  if (shape.folder.empty()) {
    words = {"mpirun", "-hosts", fmt::format("{}", fmt::join(hosts, ","))};
  } else {
    words = {"mpirun", "-f", write_hosts(shape, hosts)};
  }
  append(words, {"-n", std::to_string(all_ranks(shape))});
  if (shape.fewer == 0) append(words, {"-ppn", std::to_string(shape.ranks)});
  append(words, {"-genvlist", fmt::format("{}", fmt::join(forwarded_with(shape.environment), ","))});
  if (!settings.agent.empty()) append(words, {"-launcher", "ssh", "-launcher-exec", settings.agent});
  return words;
}

Words words_of_srun(const JobShape& shape, Words& environment) {
  Words words = {"srun"};
  words.insert(words.end(), kSrunOptions.begin(), kSrunOptions.end());
  append(words, {fmt::format("--nodes={}", shape.hosts.size()), fmt::format("--ntasks={}", all_ranks(shape)),
                 fmt::format("--export={}", fmt::join(forwarded_with(shape.environment), ","))});
  if (shape.folder.empty()) {
    append(words, {fmt::format("--nodelist={}", fmt::join(shape.hosts, ",")),
                   fmt::format("--ntasks-per-node={}", shape.ranks)});
  } else {
    Words lines;
    for (std::size_t host = 0; host < shape.hosts.size(); ++host) {
      lines.insert(lines.end(), static_cast<std::size_t>(ranks_on(shape, host)), shape.hosts[host]);
    }
    // For --distribution=arbitrary: otherwise Slurm sorts the hosts.
    environment.push_back("SLURM_HOSTFILE=" + write_hosts(shape, lines));
    words.emplace_back("--distribution=arbitrary");
  }
  if (shape.limit_s > 0) words.push_back(fmt::format("--time={}:{}", shape.limit_s / 60, shape.limit_s % 60));
  return words;
}

/// A word as `printf %q` of bash writes it, except that commas stand for themselves.
std::string quoted_word(std::string_view word) {
  if (word.empty()) return "''";
  const bool has_control = std::any_of(word.begin(), word.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
  });
  std::string text;
  if (has_control) {
    for (const char letter : word) {
      if (letter == '\n') {
        text += "\\n";
      } else if (letter == '\t') {
        text += "\\t";
      } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
        text += fmt::format("\\{:03o}", static_cast<unsigned>(letter));
      } else if (letter == '\'' || letter == '\\') {
        text += fmt::format("\\{}", letter);
      } else {
        text += letter;
      }
    }
    return fmt::format("$'{}'", text);
  }
  constexpr std::string_view kSpecial = " !\"$&'()*;<>?[\\]^`{|}";
  for (std::size_t place = 0; place < word.size(); ++place) {
    const char letter = word[place];
    const bool at_begin = place == 0 && (letter == '#' || letter == '~');
    if (at_begin || kSpecial.find(letter) != std::string_view::npos) text += '\\';
    text += letter;
  }
  return text;
}

}  // namespace

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  if (stream.flush()) return;
  throw Error(ExitStatus::kFailure,
              fmt::format("cannot write {}; set TMPDIR to a folder that has room", file.string()));
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

std::string quoted(const std::vector<std::string>& words) {
  Words texts;
  for (const std::string& word : words) texts.push_back(quoted_word(word));
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string Command::text() const {
  return fmt::format("{}{}{}", fmt::join(environment, " "), environment.empty() ? "" : " ", quoted(words));
}

std::vector<std::string> split_words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> forwarded_variables() {
  std::set<std::string> names;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    if (is_forwarded(name)) names.insert(std::string(name));
  }
  return {names.begin(), names.end()};
}

int count_gpus() {
  const std::string listed = said_by({{}, {"nvidia-smi", "--list-gpus"}}, kToAnswerSeconds).text;
  const auto lines = lines_of(listed);
  return static_cast<int>(
      std::count_if(lines.begin(), lines.end(), [](std::string_view line) { return line.starts_with("GPU "); }));
}

Launcher::Launcher(LaunchSettings settings) : settings_(std::move(settings)) {
  const std::string& launcher = settings_.launcher;
  if (launcher != "mpirun" && launcher != "srun") {
    throw UsageError(fmt::format("--launcher '{}': use mpirun or srun", launcher));
  }
  const std::vector<std::string> of_mpirun = find_mpirun();
  if (found_on_path(launcher).empty()) {
    throw Error(ExitStatus::kMissing, fmt::format("there is no '{}' on the PATH; install or load it", launcher));
  }
  if (!settings_.agent.empty()) {
    if (is_srun()) throw UsageError("--agent is for mpirun, and srun needs none");
    if (found_on_path(settings_.agent).empty()) {
      throw Error(ExitStatus::kMissing, fmt::format("--agent '{}' is not a program on this host", settings_.agent));
    }
  }
  if (is_srun()) return;
  // In a Slurm job, mpirun starts its daemons by srun. A step with a node that has died does not end, and without this,
  // all later ones wait for its processors.
  if (!variable("SLURM_JOB_ID").empty()) set_variable("SLURM_OVERLAP", "1");
  mpirun_ = kind_of_mpirun();
  if (mpirun_ == Mpirun::kOpenMpi) environment_ = of_mpirun;
}

int Launcher::grace_s(const JobShape& shape) const {
  return !is_srun() && mpirun_ == Mpirun::kOpenMpi && shape.limit_s > 0 ? kGraceSeconds : 0;
}

void Launcher::require_known() const {
  if (is_srun() || mpirun_ == Mpirun::kOpenMpi || mpirun_ == Mpirun::kHydra) return;
  const std::string what =
      mpirun_ == Mpirun::kSilent
          ? fmt::format(
                "'mpirun --version' gave no answer within {} s; run it by hand to see what it waits for, and put "
                "one that answers first on the PATH",
                kToAnswerSeconds)
          : "'mpirun --version' names neither Open MPI nor hydra (MPICH, Intel MPI); put one of them first on the PATH";
  throw Error(ExitStatus::kMissing, what + ", or use --launcher srun");
}

Command Launcher::command(const JobShape& shape, const std::vector<std::string>& program) const {
  require_known();
  Command command{shape.environment, {}};
  if (is_srun()) {
    command.words = words_of_srun(shape, command.environment);
  } else if (mpirun_ == Mpirun::kOpenMpi) {
    append(command.environment, environment_);
    append(command.environment, looks_for_hosts());
    // Launchers that share Open MPI's directory of each user interfere with each other's clean-up.
    if (!shape.folder.empty()) command.environment.push_back("TMPDIR=" + shape.folder.string());
    command.words = words_of_open_mpi(shape, settings_);
  } else {
    command.words = words_of_hydra(shape, settings_);
  }
  return finished(std::move(command), program);
}

Command Launcher::command_in_allocation(const Words& words, const Words& program) const {
  Command command{{}, {"srun"}};
  command.words.insert(command.words.end(), kSrunOptions.begin(), kSrunOptions.end());
  append(command.words, words);
  return finished(std::move(command), program);
}

Command Launcher::command_here(int ranks, bool share_cores, const Words& program) const {
  Command command{environment_, {"mpirun", "-np", std::to_string(ranks)}};
  if (share_cores) command.words.emplace_back("--oversubscribe");
  return finished(std::move(command), program);
}

Command Launcher::finished(Command command, const Words& program) const {
  append(command.words, settings_.mpi_options);
  append(command.words, program);
  return command;
}

}  // namespace fabricbench::cluster
