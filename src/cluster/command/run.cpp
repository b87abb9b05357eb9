#include "cluster/command/commands.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cluster/command/command_options.h"
#include "cluster/command/mpi_job.h"
#include "common/core/error.h"
#include "common/core/names.h"
#include "common/host/files.h"
#include "common/options/known_options.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPython = ".py";

constexpr std::string_view kRunHelp = R"(usage: fabricbench run [OPTION]... PROGRAM [ARGUMENT]...
       fabricbench PROGRAM [ARGUMENT | OPTION]... [-- ARGUMENT...]

Runs a program of the suite, through srun in an allocation of Slurm, else
through mpirun. 'fabricbench list' has the programs; _perf may be left out.
  fabricbench all_reduce -b 8 -e 1G
  fabricbench send_recv_lat --hosts node01,node02
  fabricbench run --hosts node[01-16] -np 128 alltoall -b 1M -e 64M

  --hosts LIST         run on these hosts (default: those of the surrounding
                       job of Slurm, PBS, LSF or Kubernetes, else this host)
  --hostfile FILE      read hosts from FILE, in the format of an MPI launcher
  -np N                number of ranks, spread evenly; the first hosts may
                       have one more than the others
  --launcher mpirun|srun
                       start it by this (default: srun in Slurm, else mpirun)
  --mpi-options WORDS  additional options for mpirun or srun
  --dry-run            print the command and run nothing
  --help               print this text

Without -np: two ranks for a program of two, on the first two hosts; else one
for each GPU; without GPUs, one on each host, and on a single host 2, 4 or 8, as
it has cores. What was chosen is printed on standard error.
Programs without an MPI job (list_hosts, find_slow_links...) and scripts
(accept, sweep_pairs...) are started directly and have options of their own.

Ctrl-C and SIGTERM end the job, after its ranks have printed what they have
measured; twice, at once.

Exit status: that of the program; 1 the output cannot be written, 2 usage, 3
something needed is missing; 128 and the signal's number after a signal.
)";

/// The path of a script. Throws Error (kMissing).
std::string find_script(std::string_view file) {
  if (std::string path = script_path(file); !path.empty()) return path;
  throw Error(
      ExitStatus::kMissing,
      fmt::format("there is no scripts/{0} above the program; install the suite as a whole, or run {0} from its "
                  "sources",
                  file));
}

/// Becomes the program at the first word, with the others as its arguments. Throws Error (kMissing) where it cannot be
/// started; `advice` says what to do then.
[[noreturn]] void become(std::vector<std::string> words, std::string_view advice) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  const char* const reason = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): one thread
  throw Error(ExitStatus::kMissing, fmt::format("cannot run {} ({}); {}", words.front(), reason, advice));
}

/// Becomes a script, which calls itself `command` and finds the programs by $FABRICBENCH_PROGRAMS_FOLDER.
[[noreturn]] void become_script(std::string_view file, std::string_view command,
                                const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {file.ends_with(kPython) ? "python3" : "bash", find_script(file)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  ::setenv("FABRICBENCH_COMMAND", std::string(command).c_str(), 1);
  ::setenv("FABRICBENCH_PROGRAMS_FOLDER", programs_folder().c_str(), 1);
  // NOLINTEND(concurrency-mt-unsafe)
  become(words, "install it");
}

/// The one that a word gives, alone or with its value: `--hosts`, `--hosts=a,b`; or null.
const LaunchOption* launch_option_of(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(0, word.find('='));
  const auto* const option = std::find_if(kLaunchOptions.begin(), kLaunchOptions.end(),
                                          [&](const LaunchOption& each) { return each.name == name; });
  return option == kLaunchOptions.end() ? nullptr : option;
}

struct MpirunOption {
  std::string_view name;
  std::string_view own;
};

/// Options of mpirun and srun that are called otherwise here.
constexpr MpirunOption kOthers[] = {{"--host", "--hosts A,B"},
                                    {"-host", "--hosts A,B"},
                                    {"-H", "--hosts A,B"},
                                    {"--nodelist", "--hosts A,B"},
                                    {"-hostfile", "--hostfile FILE"},
                                    {"-machinefile", "--hostfile FILE"},
                                    {"--machinefile", "--hostfile FILE"},
                                    {"--np", "-np N"},
                                    {"--ntasks", "-np N"}};

void refuse_others_options(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(0, word.find('='));
  for (const MpirunOption& other : kOthers) {
    if (name == other.name) throw UsageError(fmt::format("'{}' is {} here; see run --help", word, other.own));
  }
  const bool has_number = word.starts_with("-np") && word.size() > 3;
  if (has_number && word.find_first_not_of("0123456789", 3) == std::string::npos) {
    throw UsageError(fmt::format("'{}' is -np {} here; see run --help", word, word.substr(3)));
  }
}

bool asks_for_text(const std::string& word) { return asks_for_help(word) || word == "--version"; }

/// Whether it is a command of `fabricbench` that is no program and no script.
bool is_command(std::string_view name, const CatalogueEntry* entry) {
  if (entry != nullptr) return entry->start == StartedAs::kCommand;
  return std::find(kOtherCommands.begin(), kOtherCommands.end(), name) != kOtherCommands.end();
}

std::string path_of_program(std::string_view name) {
  std::string path = fmt::format("{}/{}", programs_folder(), name);
  if (::access(path.c_str(), X_OK) == 0) return path;
  throw Error(
      ExitStatus::kMissing,
      fmt::format("there is no program {} in {}; this build left it out, and CMake says why", name, programs_folder()));
}

[[noreturn]] void become_program(std::string_view name, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {path_of_program(name)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  become(words, "build or install it again");
}

ExitStatus launch(const CatalogueEntry& entry, const std::vector<std::string>& options,
                  const std::vector<std::string>& arguments) {
  const LaunchWords words = take_launch_options(arguments, true);
  if (std::any_of(words.others.begin(), words.others.end(), asks_for_text)) become_program(entry.name, words.others);
  MpiJob job{entry.start, {path_of_program(entry.name)}};
  job.program.insert(job.program.end(), words.others.begin(), words.others.end());
  set_options(job, options);
  set_options(job, words.options);
  return run_mpi_job(job);
}

}  // namespace

std::string script_path(std::string_view file) {
  std::error_code error;
  for (const fs::path& folder : host::installed_folders("scripts")) {
    if (fs::is_regular_file(folder / file, error)) return fs::canonical(folder / file, error);
  }
  return "";
}

std::string programs_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::string find_program(std::string_view name, const std::string& given_folder) {
  if (given_folder.empty()) return path_of_program(name);
  const fs::path path = fs::absolute(fs::path(given_folder) / name).lexically_normal();
  if (::access(path.c_str(), X_OK) == 0) return path.string();
  throw Error(ExitStatus::kMissing,
              fmt::format("there is no program {} in {}; build it (make), or give its folder with "
                          "--programs",
                          name, given_folder));
}

std::string nearest_launch_options(std::string_view given) {
  given = given.substr(0, given.find('='));
  std::vector<NearName> known;
  for (const std::string_view name : {"--help", "--version"}) {
    known.push_back({name_distance(given, name), std::string(name)});
  }
  for (const LaunchOption& option : kLaunchOptions) {
    if (option.name == given) return "";
    known.push_back({name_distance(given, option.name), std::string(option.name)});
  }
  const std::string nearest = the_nearest(given, std::move(known));
  return nearest.empty() ? "" : "; " + nearest;
}

LaunchWords take_launch_options(const std::vector<std::string>& words, bool everywhere) {
  LaunchWords taken;
  for (auto word = words.begin(); word != words.end(); ++word) {
    const LaunchOption* option = launch_option_of(*word);
    if (option == nullptr) refuse_others_options(*word);
    if (option == nullptr && everywhere && *word != "--") {
      taken.others.push_back(*word);
      continue;
    }
    if (option == nullptr) {
      taken.others.insert(taken.others.end(), *word == "--" ? word + 1 : word, words.end());
      break;
    }
    const bool has_value = word->size() > option->name.size();
    if (has_value && !option->takes_value) throw UsageError(fmt::format("{} takes no value", option->name));
    taken.options.emplace_back(option->name);
    if (has_value) {
      taken.options.push_back(word->substr(option->name.size() + 1));
    } else if (option->takes_value) {
      if (++word == words.end()) throw UsageError(fmt::format("{} needs a value; see run --help", option->name));
      taken.options.push_back(*word);
    }
  }
  return taken;
}

ExitStatus run_entry(const CatalogueEntry& entry, const std::vector<std::string>& options,
                     const std::vector<std::string>& arguments) {
  const bool in_a_job = entry.start != StartedAs::kAlone && entry.start != StartedAs::kScript;
  if (in_a_job) return launch(entry, options, arguments);
  if (!options.empty()) {
    throw UsageError(fmt::format("{} is not started as one MPI job; give its own options behind its name, not {}",
                                 entry.name, options.front()));
  }
  if (entry.start == StartedAs::kAlone) become_program(entry.name, arguments);
  become_script(fmt::format("{}.sh", entry.name), fmt::format("fabricbench {}", entry.name), arguments);
}

ExitStatus list_entries(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && !asks_for_text(arguments.front())) {
    throw UsageError(fmt::format("list takes no words, and was given '{}'", arguments.front()));
  }
  fmt::print("{}\n'fabricbench NAME ...' runs one; _perf may be left out. NAME --help explains it.\n",
             text_of_catalogue());
  return ExitStatus::kOk;
}

ExitStatus run_program(const std::vector<std::string>& arguments) {
  LaunchWords words = take_launch_options(arguments, false);
  if (words.others.empty()) throw UsageError("run needs the name of a program; 'fabricbench list' has them");
  const std::string name = words.others.front();
  if (asks_for_text(name)) {
    fmt::print("{}", kRunHelp);
    return ExitStatus::kOk;
  }
  const CatalogueEntry* entry = find_entry(name);
  if (name.starts_with("-"))
    throw UsageError(fmt::format("run has no option '{}'{}; see run --help", name, nearest_launch_options(name)));
  if (is_command(name, entry)) {
    throw UsageError(fmt::format("'{0}' is a command, not a program; type 'fabricbench {0}'", name));
  }
  if (entry == nullptr) {
    throw UsageError(
        fmt::format("there is no program '{}'{}; 'fabricbench list' has them all", name, names_meant_by(name)));
  }
  words.others.erase(words.others.begin());
  return run_entry(*entry, words.options, words.others);
}

ExitStatus report_files(const std::vector<std::string>& arguments) {
  become_script("report.py", "fabricbench report", arguments);
}

ExitStatus plot_files(const std::vector<std::string>& arguments) {
  become_script("plot.py", "fabricbench plot", arguments);
}

}  // namespace fabricbench::cluster
