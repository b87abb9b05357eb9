// Measures pairs of hosts, round by round, until the slow host, NIC, rail or link is known, and reports it.

#include "cluster/command/sweep.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "cluster/command/host_source.h"
#include "cluster/command/record_file.h"
#include "cluster/pairs/attribution/attribution.h"
#include "cluster/pairs/verdict.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsageOfSweep = R"(usage: scripts/sweep_pairs.sh [OPTION]... [-- OPTION OF THE BENCHMARK...]

Measures disjoint pairs of hosts in rounds, each pair in a separate job with a
time limit, and reports the slow parts at the end (find_slow_links). A host that
does not answer costs one time limit per job of a round.

Hosts (default: those of the surrounding Slurm, PBS, LSF or Kubernetes MPI job):
  -H, --hosts LIST    use these hosts, such as node[01-16,20],login1
  --hostfile FILE     read hosts from FILE, in the format of an MPI launcher or
                      scheduler; - is standard input
  --exclude LIST      leave these hosts out
  --locality FILE     read each host's leaf switch or rack from lines HOST LEAF

What to measure (default: --find):
  --find              measure until every host is judged, then suspicious pairs
                      again, alone; --find quick: in at most 8 rounds for all
                      hosts, which find few unsteady ones
  --rounds K          number of rounds; every host has a new peer in each
  --all-pairs         measure every pair once; with --find, suspicious pairs
                      again
  --max-concurrent M  maximum number of pairs at the same time (default: no
                      limit)
  --seed N            seed of the order of hosts (default: chosen and recorded)
  --rails LIST        measure each pair on each of these interfaces or devices,
                      such as mlx5_0,mlx5_1; RDMA tests do so in one job a pair;
                      MPI, TCP and NCCL choose an adapter for a whole job, and
                      take a job for each
  --resident          run all rounds of a rail in one MPI job (pairwise_bw),
                      which is much faster and continues without a host that
                      dies

How (see scripts/check_node_pair.sh --help): --test, --rdma, --gpus, --size,
--min-bandwidth, --timeout, --programs, --launcher, --agent, --mpi-options

Results:
  --records FILE      append every reading to FILE as a line of JSON (default:
                      sweep-DATE.jsonl)
  --resume            continue the sweep in FILE, with its hosts and seed, and
                      with its plan unless a new one is given
  --logs DIR          keep the output of failed jobs in DIR (default: FILE.logs)
  --expect GB/S       required one-way bandwidth, or adapters: {percent}%
                      of the ports' rate, if the records have it (default: hosts
                      are compared with each other)
  --tolerance X       smallest deficit that counts as slow (default:
                      {tolerance})
  --long              report every finding by itself, and every line
  --dry-run           print the commands of the next round or of the job instead
                      of running them
  --help              print this text

Exit status: 0 nothing is slow, 1 failed, 2 usage, 3 something needed is
missing, 6 something is slow, 7 could not be judged, 130 interrupted (all
readings are in FILE).
)";

class SweepCommand {
 public:
  SweepCommand(const CalledAs& called, const std::vector<std::string>& arguments)
      : called_(called), arguments_(arguments) {}

  int run() {
    if (!read_options()) return 0;
    Signals signals;
    try {
      return sweep(signals);
    } catch (const SweepInterrupted&) {
      tell_of_interruption();
      return kInterrupted;
    }
  }

 private:
  bool read_options() {
    CommandOptions options(called_, fmt::format(kUsageOfSweep, fmt::arg("percent", kShareOfPort * 100),
                                                fmt::arg("tolerance", VerdictSettings().tolerance)));
    std::vector<std::string> words = arguments_;
    take_quick(words);
    add_pair_options(options, request_.pairs);
    options.value("-H", [this](const auto&, const auto& list) { hosts_.list = list; });
    options.value("--hosts", [this](const auto&, const auto& list) { hosts_.list = list; });
    options.value("--hostfile", [this](const auto&, const auto& file) { hosts_.hostfile = file; });
    options.value("--exclude", hosts_.exclude);
    options.value("--locality", locality_);
    for (const char* const name : {"--find", "--all-pairs"}) {
      options.flag(name, [this, name] { request_.plan_words.emplace_back(name); });
    }
    for (const char* const name : {"--rounds", "--max-concurrent"}) {
      options.value(name, [this](const auto& option, const auto& text) {
        request_.plan_words.insert(request_.plan_words.end(), {option, std::to_string(whole_number(option, text, 1))});
      });
    }
    options.value("--seed", [this](const auto& option, const auto& text) {
      seed_ = std::to_string(whole_number(option, text, 0));
    });
    options.value("--rails", [this](const auto&, const auto& list) { request_.rails = split_list(list); });
    for (const char* const name : {"--tolerance", "--expect"}) {
      options.value(name, [this](const auto& option, const auto& text) {
        verdict_words_.insert(verdict_words_.end(), {option, text});
        VerdictSettings checked;
        if (option == "--expect") set_expected(text, checked);
        if (option == "--tolerance") request_.plan.tolerance = parse_share(text, option);
      });
    }
    options.flag("--resident", [this] { is_resident_ = true; });
    options.flag("--resume", [this] { is_resumed_ = true; });
    options.flag("--dry-run", [this] { is_dry_run_ = true; });
    options.flag("--begin", [this] { only_begins_ = true; });  // of scripts/sweep_pairs.sh: only writes the first lines
    options.flag("--long", [this] { verdict_words_.emplace_back("--long"); });
    if (!options.read(words)) return false;
    if (!options.words().empty()) options.refuse(options.words().front());
    request_.pairs.more = options.behind();
    check_options();
    return true;
  }

  /// `--find quick` is --find with a limit.
  static void take_quick(std::vector<std::string>& words) {
    if (const auto word = std::find(words.begin(), words.end(), "--find=quick"); word != words.end()) {
      *word = "--find";
      words.insert(word + 1, "quick");
    }
    const auto end = std::find(words.begin(), words.end(), "--");
    for (auto word = words.begin(); word != end && word + 1 != end; ++word) {
      if (*word == "--find" && *(word + 1) == "quick") *(word + 1) = "--rounds=8";
    }
  }

  void check_options() {
    PairSettings& pairs = request_.pairs;
    if (is_resumed_ && pairs.records.empty()) throw UsageError("--resume continues a file; name it with --records");
    if (is_resident_ && !pairs.test.empty() && pairs.test != "pairwise_bw") {
      throw UsageError(fmt::format("--resident runs pairwise_bw; leave --test {} out", pairs.test));
    }
    if (is_resident_) pairs.test = "pairwise_bw";
    if (request_.rails.empty()) request_.rails = {""};
    if (!is_resumed_ && !says_what()) request_.plan_words.emplace_back("--find");
    if (request_.plan.tolerance <= 0) request_.plan.tolerance = VerdictSettings().tolerance;
    request_.size = pairs.size;
    pairs.quiet = true;
    records_ = pairs.records;
    if (records_.empty()) records_ = fmt::format("sweep-{:%Y%m%d-%H%M%S}.jsonl", fmt::localtime(std::time(nullptr)));
    if (pairs.logs.empty()) pairs.logs = records_ + ".logs";
  }

  /// Whether the options contain a plan.
  [[nodiscard]] bool says_what() const {
    return std::any_of(request_.plan_words.begin(), request_.plan_words.end(), [](const std::string& word) {
      return word == "--find" || word == "--rounds" || word == "--all-pairs";
    });
  }

  int sweep(Signals& signals) {
    const WorkFolder folder("sweep");
    if (is_dry_run_ && !is_resumed_) records_ = folder.path() / "records";
    request_.pairs.records = records_;
    const PairBenchmark benchmark(request_.pairs);
    const std::unique_ptr<SweepFile> file = is_resumed_ ? resumed() : begun();
    request_.plan.seed = std::stoull(seed_);
    if (only_begins_) return 0;
    Jobs jobs(signals);
    const SweepWork work{called_, request_, benchmark, *file, folder.path(), jobs};
    if (is_dry_run_) {
      print_commands(work);
      return 0;
    }
    has_begun_ = true;
    warn(called_, fmt::format("{} hosts, seed {}, records in {}", file->hosts().size(), seed_, records_));
    if (is_resident_) sweep_resident(work);
    // The job knew only one rail; questions left open by all readings together are measured pair by pair.
    if (!is_resident_ || request_.plan.find) sweep_rounds(work);
    return verdict();
  }

  std::unique_ptr<SweepFile> resumed() {
    std::error_code error;
    if (!fs::is_regular_file(records_, error) || fs::file_size(records_, error) == 0) {
      throw UsageError(fmt::format("--resume: '{}' does not exist or is empty; leave --resume out to begin", records_));
    }
    auto file = std::make_unique<SweepFile>(records_);
    seed_ = file->seed();
    constexpr std::size_t kMostDigits = 18;
    if (seed_.empty() || seed_.size() > kMostDigits || seed_.find_first_not_of("0123456789") != std::string::npos) {
      throw UsageError(fmt::format("{}: {} is no seed", records_, quoted({seed_})));
    }
    if (says_what()) {
      read_plan();
      return file;
    }
    const std::vector<std::string> words = split_words(file->plan());
    const std::vector<std::string> given = request_.plan_words;  // at most --max-concurrent, which goes first
    for (std::size_t place = 0; place < words.size(); ++place) {
      const std::string& word = words[place];
      if (word == "--find" || word == "--all-pairs") {
        request_.plan_words.push_back(word);
        continue;
      }
      if (word != "--rounds" && word != "--max-concurrent") {
        throw UsageError(fmt::format("{}: {} is no plan of a sweep", records_, quoted({word})));
      }
      const std::string number = ++place < words.size() ? words[place] : "";
      const std::string limit = std::to_string(whole_number(fmt::format("{}: {}", records_, word), number, 1));
      if (word == "--rounds" || given.empty()) {
        request_.plan_words.insert(request_.plan_words.end(), {word, limit});
      }
    }
    read_plan();
    return file;
  }

  std::unique_ptr<SweepFile> begun() {
    std::error_code error;
    if (fs::exists(records_, error) && fs::file_size(records_, error) > 0) {
      throw UsageError(fmt::format("'{}' exists; continue it with --resume, or name another file", records_));
    }
    read_plan();
    const FoundHosts found = find_hosts(hosts_, own_surroundings());
    if (!hosts_.list && !hosts_.hostfile) warn(called_, fmt::format("hosts of {}", found.source));
    if (!found.notice.empty()) warn(called_, found.notice);
    const std::vector<std::string> names = found.hosts.names();
    if (names.size() < 2) {
      throw UsageError(fmt::format("a sweep needs at least two hosts; given: {}", fmt::join(names, " ")));
    }
    constexpr unsigned kSeeds = 1'000'000'000;  // as many as --seed takes
    if (seed_.empty()) seed_ = std::to_string(std::random_device()() % kSeeds);
    const PairSettings& pairs = request_.pairs;
    SweepStartSettings settings{request_.plan_words, seed_, request_.rails, {}};
    if (pairs.launch.launcher != "mpirun") settings.how.launcher = pairs.launch.launcher;
    settings.how.agent = pairs.launch.agent;
    settings.how.mpi_options = fmt::format("{}", fmt::join(pairs.launch.mpi_options, " "));
    settings.how.programs = pairs.programs;
    return std::make_unique<SweepFile>(records_, names, settings, locality_, called_.name);
  }

  void read_plan() {
    PlanRequest& plan = request_.plan;
    const std::vector<std::string>& words = request_.plan_words;
    for (std::size_t place = 0; place < words.size(); ++place) {
      if (words[place] == "--find") plan.find = true;
      if (words[place] == "--all-pairs") plan.all_pairs = true;
      if (words[place] == "--rounds") plan.rounds = std::stoi(words[++place]);
      if (words[place] == "--max-concurrent") plan.concurrent = std::stoi(words[++place]);
    }
    if (plan.all_pairs && plan.rounds > 0) throw UsageError("--all-pairs and --rounds are two plans; give one of them");
  }

  void print_commands(const SweepWork& work) const {
    if (is_resident_) {
      for (const std::string& rail : request_.rails) {
        fmt::print("{}\n", resident_command(work, work.file.hosts(), rail).text());
      }
      return;
    }
    const Sweep sweep = read_sweep("plan_sweep", work.file.hosts(), {work.file.path()}, "");
    const PlannedRound round = next_round(request_.plan, sweep);
    warn(called_, round.why.empty() ? "the sweep is over" : round.why);
    const bool is_joint = share_a_job(work.benchmark.settings().test, request_.rails);
    const std::vector<std::string> joint = {fmt::format("{}", fmt::join(request_.rails, ","))};
    for (const std::string& rail : is_joint ? joint : request_.rails) {
      for (PairJob& pair : pairs_of(round, sweep)) {
        pair.rail = rail;
        fmt::print("{}\n", work.benchmark.command(pair, work.folder).text());
      }
    }
  }

  int verdict() const {
    std::vector<std::string> words = {"find_slow_links"};
    words.insert(words.end(), verdict_words_.begin(), verdict_words_.end());
    words.push_back(records_);
    std::vector<char*> pointers;
    pointers.reserve(words.size());
    for (std::string& word : words) pointers.push_back(word.data());
    const int status =
        run_tool(words.front(), [&] { return find_slow_links(static_cast<int>(pointers.size()), pointers.data()); });
    const std::string page = fs::path(records_).replace_extension(".html");
    warn(called_, fmt::format("draw it with: fabricbench report {}", quoted({records_, "-o", page})));
    return status;
  }

  void tell_of_interruption() const {
    if (is_dry_run_ || !has_begun_) {
      warn(called_, "interrupted; nothing has been measured");
      return;
    }
    std::vector<std::string> words;
    if (!is_resumed_) words.emplace_back("--resume");
    if (std::find(arguments_.begin(), arguments_.end(), "--records") == arguments_.end()) {
      words.insert(words.end(), {"--records", records_});
    }
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    warn(called_, fmt::format("interrupted; all readings are in {}. Judge them with: {}", records_,
                              quoted({find_program("find_slow_links", request_.pairs.programs), records_})));
    warn(called_, fmt::format("continue with: {} {}", called_.call, quoted(words)));
  }

  const CalledAs& called_;
  const std::vector<std::string>& arguments_;
  SweepRequest request_;
  HostOptions hosts_;
  std::string locality_;
  std::string seed_;
  std::string records_;
  std::vector<std::string> verdict_words_;
  bool is_resident_ = false;
  bool is_resumed_ = false;
  bool is_dry_run_ = false;
  bool only_begins_ = false;
  bool has_begun_ = false;
};

}  // namespace

ExitStatus sweep_pairs(const std::vector<std::string>& arguments) {
  const CalledAs called("sweep_pairs");
  return static_cast<ExitStatus>(
      run_tool(called.name, [&] { return static_cast<ExitStatus>(SweepCommand(called, arguments).run()); }));
}

namespace {

/// Removes the readings of other hosts, whose numbers follow the first `hosts`.
void keep_hosts(Sweep& sweep, std::size_t hosts) {
  if (sweep.hosts.size() <= hosts) return;
  sweep.hosts.resize(hosts);
  if (!sweep.leaf_of.empty()) sweep.leaf_of.resize(hosts);
  sweep.reasons.clear();  // not used here
  std::erase_if(sweep.readings, [hosts](const Reading& reading) {
    return static_cast<std::size_t>(std::max(reading.from, reading.to)) >= hosts;
  });
}

}  // namespace

Sweep read_sweep(std::string_view name, const std::vector<std::string>& hosts, const std::vector<std::string>& files,
                 const std::string& locality) {
  RecordReader reader(hosts);
  for (const std::string& path : files) {
    if (path == "-" || std::filesystem::exists(path)) reader.read(path);
  }
  if (!locality.empty()) reader.read_locality(locality);
  Records records = reader.finish();
  for (const std::string& notice : records.notices) fmt::print(stderr, "{}: {}\n", name, notice);
  if (!hosts.empty()) keep_hosts(records.sweep, hosts.size());
  return std::move(records.sweep);
}

PlannedRound next_round(const PlanRequest& request, const Sweep& sweep) {
  SweepPlan plan;
  plan.schedule.endpoints = static_cast<int>(sweep.hosts.size());
  plan.schedule.seed = request.seed;
  plan.schedule.concurrent = request.concurrent;
  plan.find = request.find;
  plan.tolerance = request.tolerance;
  limit_rounds(plan, request.all_pairs ? SweepPlan::kAllPairs : request.rounds);
  VerdictSettings settings;
  settings.tolerance = request.tolerance;
  return Planner(plan).next(sweep, [&] { return judge(sweep, settings); });
}

void print_readings(const Sweep& sweep, std::FILE* file) {
  if (sweep.tests.size() > 1) {
    throw UsageError(
        fmt::format("the records have {} tests, among them {} and {}; a sweep can continue with one test only",
                    sweep.tests.size(), sweep.tests[0], sweep.tests[1]));
  }
  std::string text;
  for (const std::string& host : sweep.hosts) text += fmt::format("host\t{}\n", host);
  for (const Reading& reading : sweep.readings) {
    text += fmt::format("reading\t{}\t{}\t{}\t{}\t", reading.round, reading.concurrent,
                        sweep.hosts[static_cast<std::size_t>(reading.from)],
                        sweep.hosts[static_cast<std::size_t>(reading.to)]);
    switch (reading.outcome) {
      case Outcome::kMeasured: text += fmt::format("{:.9g}\n", reading.rate); break;
      case Outcome::kFailed: text += "failed\n"; break;
      case Outcome::kWrong: text += "wrong\n"; break;
      case Outcome::kNotTried: text += "not_tried\n"; break;
    }
    if (text.size() < (1U << 20)) continue;
    fmt::print(file, "{}", text);
    text.clear();
  }
  fmt::print(file, "{}", text);
}

}  // namespace fabricbench::cluster
