#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/pair_readings.h"
#include "cluster/command/sweep.h"
#include "cluster/launch/job_output.h"
#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/host/files.h"
#include "common/record/context.h"
#include "common/record/json.h"
#include "common/record/sweep_plan.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

constexpr int kProbeSeconds = 15;    // for a host to start a program
constexpr std::size_t kProbes = 32;  // at the same time
constexpr int kFailures = 3;         // with different peers, before a host is dead
constexpr int kStrikes = 2;          // jobs ended by a host before it is left out, even if it answers
constexpr int kEndingSeconds = 5;    // for a job to end after it has announced its end
constexpr int kUnexplained = 2;      // jobs that ended without a culprit, before the sweep gives up

using Names = std::vector<std::string>;

bool is_in(const std::string& name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The limit of one direction of a pair.
int pair_seconds(const SweepRequest& request) { return (request.pairs.limit_s + 3) / 4; }

/// The sweep over one rail.
class ResidentRail {
 public:
  ResidentRail(const SweepWork& work, std::string rail) : work_(work), rail_(std::move(rail)) {}

  void run() {
    living_ = work_.file.hosts();
    while (living_.size() >= 2) {
      write_measured();
      warn(work_.called, fmt::format("{}{}one job over {} hosts; it is ended when it has said nothing for {} s", rail_,
                                     rail_.empty() ? "" : ": ", living_.size(), most_quiet_s()));
      const bool is_interrupted = run_job();
      out_ = host::read_text(work_.folder / "out").value_or("");
      err_ = host::read_text(work_.folder / "err").value_or("");
      const Names silent = keep_readings();
      if (is_interrupted) throw SweepInterrupted();
      if (is_over(silent)) return;
    }
    warn(work_.called, "fewer than two hosts are left");
  }

 private:
  /// The readings that pairwise_bw skips.
  void write_measured() const {
    const std::string of_rail = work_.folder / "of_rail";
    work_.file.write_rail(rail_, of_rail);
    const Sweep sweep = read_sweep("plan_sweep", work_.file.hosts(), {of_rail}, "");
    const std::string path = work_.folder / "measured";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), &std::fclose);
    if (!file) throw Error(ExitStatus::kFailure, fmt::format("cannot write {}", path));
    print_readings(sweep, file.get());
  }

  [[nodiscard]] int most_quiet_s() const { return 2 * pair_seconds(work_.request) + kToStartSeconds; }

  /// Sets status_. True: a signal has come. The whole job has no time limit and may take hours. pairwise_bw ends by
  /// itself if it makes no progress, and mpirun checks whether the hosts are alive. But a launcher waits without limit
  /// for its daemon on a hung host. So this ends the job after a time without output, and a few seconds after the
  /// benchmark has announced its end.
  bool run_job() {
    const fs::path out = work_.folder / "out";
    const fs::path err = work_.folder / "err";
    work_.jobs.start(resident_command(work_, living_, rail_), out, err, 0,
                     [this](const JobEnd& end) { status_ = end.status; });
    std::uintmax_t before = 0;
    auto last_said = Clock::now();
    while (work_.jobs.running() > 0) {
      if (work_.jobs.step(std::chrono::seconds(1))) {
        work_.jobs.end_all();
        return true;
      }
      const std::uintmax_t said = fs::file_size(out) + fs::file_size(err);
      if (said != before) last_said = Clock::now();
      before = said;
      const auto quiet = Clock::now() - last_said;
      const bool is_stuck = quiet >= std::chrono::seconds(most_quiet_s());
      if (is_stuck || (quiet >= std::chrono::seconds(kEndingSeconds) && is_ending(out, err))) work_.jobs.end_all();
    }
    return false;
  }

  static bool is_ending(const fs::path& out, const fs::path& err) {
    if (has_record(host::read_text(out).value_or(""), "end")) return true;
    const std::string said = host::read_text(err).value_or("");
    return said.starts_with("pairwise_bw: ") || said.find("\npairwise_bw: ") != std::string::npos ||
           said.find("MPI_ABORT") != std::string::npos;
  }

  /// The listed names of hosts by rank: matched by the hosts' own names, else in the launcher's order.
  [[nodiscard]] std::map<int, std::string> names_of_ranks(const std::vector<RankFacts>& ranks) const {
    std::map<std::string, Names> by_short_name;
    for (const std::string& name : living_) by_short_name[short_host_name(name)].push_back(name);
    std::map<int, std::string> names;
    for (const RankFacts& rank : ranks) {
      const Names& same = by_short_name[short_host_name(rank.host)];
      const auto place = static_cast<std::size_t>(rank.rank);
      names[rank.rank] = same.size() == 1 ? same.front() : place < living_.size() ? living_[place] : rank.host;
    }
    return names;
  }

  /// Adds the readings of the last job to the records, with the hosts' names of the list. Returns the silent hosts.
  [[nodiscard]] Names keep_readings() const {
    std::map<int, std::string> names;
    std::map<std::string, std::string> own;
    std::string lines;
    Names silent;
    for_each_record(out_, [&](const std::string& kind, record::LineReader& reader) {
      if (kind == "context" && names.empty()) {
        const std::vector<RankFacts> ranks = reader.read<Context>().ranks;
        names = names_of_ranks(ranks);
        for (const RankFacts& rank : ranks) own[rank.host] = names[rank.rank];
      } else if (kind == "reading") {
        auto reading = reader.read<PairReading>();
        for (ReadingEnd* const end : {&reading.from_end, &reading.to_end}) {
          if (const auto known = names.find(end->rank); known != names.end()) end->host = known->second;
          if (!rail_.empty()) end->rail = rail_;
        }
        if (reading.test.empty()) reading.test = "pairwise_bw";
        lines += record::json_line(record::to_json(reading));
      } else if (kind == "plan") {
        lines += record::json_line(record::to_json(reader.read<SweepRound>()));
      } else if (kind == "silent") {
        for (const std::string& host : reader.read<SilentEndpoints>().hosts) {
          silent.push_back(own.contains(host) ? own[host] : host);
        }
      }
    });
    if (!lines.empty()) append_to_file(work_.file.path(), lines);
    return silent;
  }

  /// Handles the end of a job: whether the sweep over this rail is over.
  bool is_over(const Names& silent) {
    Names suspects = blamed(silent);
    if (suspects.empty()) {
      switch (static_cast<ExitStatus>(status_)) {
        case ExitStatus::kOk:
        case ExitStatus::kWrongData:
        case ExitStatus::kTooSlow:
        case ExitStatus::kNotJudged: return true;
        case ExitStatus::kUsage:
        case ExitStatus::kMissing: throw Error(static_cast<ExitStatus>(status_), complaint());
        case ExitStatus::kTimeout:
          if (has_record(out_, "end")) return true;  // single pairs timed out
          break;
        case ExitStatus::kFailure: break;
      }
      warn(work_.called,
           fmt::format("the job ended with status {}: {}; a program is started on each host to find those "
                       "that do not answer",
                       status_, complaint()));
      suspects = without_answer();
      if (suspects.empty() || suspects.size() == living_.size()) return explain_nothing(suspects);
    }
    warn(work_.called, fmt::format("no answer from {}", fmt::join(suspects, " ")));
    drop(suspects);
    return false;
  }

  /// After a job that ended though every host answers, or none, which is the launcher where nothing has ever worked:
  /// false if it is worth another one, else throws Error (kFailure).
  bool explain_nothing(const Names& silent) {
    const bool is_launcher = !silent.empty() && work_.file.last_round() < 0;
    if (++unexplained_ < kUnexplained && !is_launcher) return false;
    const std::string who = silent.empty()
                                ? "every host answers"
                                : fmt::format("no host answers (does {} start 'hostname' on {}?)",
                                              work_.benchmark.launcher().settings().launcher, silent.front());
    throw Error(ExitStatus::kFailure,
                fmt::format("the job ended {}, and {}: {}", counted(unexplained_, "time"), who, complaint()));
  }

  /// The hosts that pairwise_bw or mpirun reports as dead, sorted.
  [[nodiscard]] Names blamed(const Names& silent) const {
    static const std::array blames = {
        std::regex("no report of round .* from rank [0-9]* on ([^ ]*) "),
        std::regex("^ *Remote daemon: .* on node ([^ ]*)"),
        std::regex("process rank [0-9]* with PID [0-9]* on node ([^ ]*) exited on signal ")};
    constexpr std::size_t kLongest = 1000;  // of a line; std::regex goes as deep
    std::set<std::string> found(silent.begin(), silent.end());
    for (const std::string_view line : lines_of(err_)) {
      const std::string text(line.substr(0, kLongest));
      std::smatch match;
      for (const std::regex& blame : blames) {
        if (std::regex_search(text, match, blame)) found.insert(match[1]);
      }
    }
    std::erase_if(found, [&](const std::string& host) { return !is_in(host, living_); });
    return {found.begin(), found.end()};
  }

  [[nodiscard]] std::string complaint() const {
    for (const std::string_view line : lines_of(err_)) {
      if (line.starts_with("pairwise_bw: ")) return cleaned_line(line);
    }
    for (const std::string_view line : lines_of(err_)) {
      const bool is_empty = line.find_first_not_of('-') == std::string_view::npos;
      const bool warns = line.find("arning") != std::string_view::npos || line.find("ARNING") != std::string_view::npos;
      if (!is_empty && !warns) return cleaned_line(line);
    }
    return "it said nothing";
  }

  /// The hosts on which no program can be started.
  [[nodiscard]] Names without_answer() const {
    Names dead;
    for (std::size_t begin = 0; begin < living_.size(); begin += kProbes) {
      for (std::size_t place = begin; place < std::min(begin + kProbes, living_.size()); ++place) {
        const std::string& host = living_[place];
        const fs::path folder = work_.folder / fmt::format("probe{}", place);
        fs::create_directories(folder);
        const JobShape shape{.hosts = {host}, .limit_s = kProbeSeconds, .folder = folder, .environment = {}};
        const Launcher& launcher = work_.benchmark.launcher();
        work_.jobs.start(launcher.command(shape, {"hostname"}), folder / "out", folder / "err",
                         kProbeSeconds + launcher.grace_s(shape), [&dead, host](const JobEnd& end) {
                           if (end.status != 0) dead.push_back(host);
                         });
      }
      if (wait_for_all(work_.jobs)) throw SweepInterrupted();
    }
    std::sort(dead.begin(), dead.end());
    return dead;
  }

  /// Whether a host fails with three of the others in a row, as required for a host that has worked before. Each test
  /// is a normal pair in a separate round, and so appears in the records.
  [[nodiscard]] bool is_dead(const std::string& suspect, const Names& others) const {
    int failures = 0;
    for (const std::string& other : others) {
      const PairJob pair{.hosts = {other, suspect}, .rail = rail_, .round = work_.file.last_round() + 1};
      const ExitStatus status = measure_pairs(work_, {pair}).front().status;
      if (status != ExitStatus::kFailure && status != ExitStatus::kTimeout) return false;
      if (++failures == kFailures) return true;
    }
    return failures > 0;  // all that exist
  }

  /// Removes dead hosts, and hosts that have ended two jobs.
  void drop(const Names& suspects) {
    for (const std::string& suspect : suspects) {
      Names others = living_;
      std::erase_if(others, [&](const std::string& host) { return is_in(host, suspects); });
      const int strikes = ++strikes_[suspect];
      if (is_dead(suspect, others) || strikes >= kStrikes) {
        warn(work_.called, fmt::format("going on without {}", suspect));
        std::erase(living_, suspect);
      } else {
        warn(work_.called, fmt::format("{} answers again, and stays", suspect));
      }
    }
  }

  const SweepWork& work_;
  std::string rail_;
  Names living_;
  std::map<std::string, int> strikes_;
  int unexplained_ = 0;
  int status_ = 0;   // of the last job, like the next two
  std::string out_;  // lines of JSON
  std::string err_;
};

}  // namespace

Command resident_command(const SweepWork& work, const Names& hosts, const std::string& rail) {
  const SweepRequest& request = work.request;
  const int pair_s = pair_seconds(request);
  Names words = {work.benchmark.program(), "--level", "host", "--seed", std::to_string(request.plan.seed)};
  const auto add = [&](const Names& more) { words.insert(words.end(), more.begin(), more.end()); };
  for (const std::string& word : request.plan_words) {
    if (word == "--all-pairs") {
      add({"--rounds", "0"});
    } else {
      add({word == "--max-concurrent" ? "--concurrent" : word});
    }
  }
  if (!request.size.empty()) add({"-b", request.size});
  add({"--pair-timeout", std::to_string(pair_s), "-T", std::to_string(2 * pair_s + 20), "--measured",
       work.folder / "measured", "--quiet", "--json", "/dev/stdout", "--force"});
  add(request.pairs.more);
  const JobShape shape{
      .hosts = hosts, .folder = work.folder, .environment = choose_rail("pairwise_bw", rail).environment};
  return work.benchmark.launcher().command(shape, words);
}

void sweep_resident(const SweepWork& work) {
  for (const std::string& rail : work.request.rails) ResidentRail(work, rail).run();
}

}  // namespace fabricbench::cluster
