#include "cluster/acceptance/job_commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/acceptance/plan.h"
#include "cluster/acceptance/stages.h"
#include "cluster/acceptance/verdict.h"
#include "cluster/command/commands.h"
#include "cluster/command/launch_files.h"
#include "cluster/launch/job_output.h"
#include "cluster/run/comparison.h"
#include "cluster/run/file.h"
#include "common/core/error.h"
#include "common/host/files.h"
#include "common/report/output_file.h"

namespace fabricbench::acceptance {
namespace {

namespace fs = std::filesystem;
using cluster::Clock;
using std::chrono::milliseconds;

constexpr milliseconds kLook(200);
constexpr std::array<std::string_view, 4> kNoAddress = {"Could not resolve hostname", "Name or service not known",
                                                        "Unknown host", "No address associated with hostname"};

bool is_verdict(int status) {
  return status == static_cast<int>(ExitStatus::kOk) || status == static_cast<int>(ExitStatus::kTooSlow) ||
         status == static_cast<int>(ExitStatus::kNotJudged);
}

std::string text_of(const fs::path& file) { return host::read_text(file).value_or(""); }

Stage stage_of(const PlannedStep& step) { return *named<Stage>(step.name.substr(0, step.name.find('/'))); }

AcceptanceStep step_of(const PlannedStep& planned, Judged judged, const std::string& command = "", double seconds = 0) {
  AcceptanceStep step;
  step.name = planned.name;
  step.stage = stage_of(planned);
  step.hosts = planned.hosts;
  step.command = command;
  step.outcome = judged.outcome;
  step.reason = std::move(judged.reason);
  step.seconds = std::round(10 * seconds) / 10;
  return step;
}

/// Whether hosts are one, or the first ones of all.
bool is_beginning(const Words& some, const Words& all) {
  return some.size() == 1 || (some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin()));
}

/// What the readings of a sweep say, with the status of the sweep and the messages of their judge.
Judged judged_by(const std::optional<PairsVerdict>& found, int status, const std::string& said) {
  if (!found) {
    const bool is_open =
        status == static_cast<int>(ExitStatus::kOk) || status == static_cast<int>(ExitStatus::kNotJudged);
    return {is_open ? Outcome::kNotJudged : Outcome::kFailed,
            said.empty() ? fmt::format("the sweep ended with status {}", status) : said};
  }
  constexpr std::size_t kMostReasons = 4;
  constexpr std::size_t kMostOpen = 2;
  Words reasons;
  for (const auto& [host, reason] : found->drained.all()) {
    reasons.push_back(fmt::format("{} {}", host, reason.substr(0, reason.find(" ("))));
  }
  for (const PathFinding& finding : found->findings) reasons.push_back(finding.text);
  if (!reasons.empty()) {
    reasons.resize(std::min(reasons.size(), kMostReasons));
    return {Outcome::kSlow, fmt::format("{}", fmt::join(reasons, "; "))};
  }
  if (found->open.empty() && found->undecided.empty() && status != static_cast<int>(ExitStatus::kNotJudged)) {
    return {outcome_of_status(status), ""};
  }
  Words open(found->open.begin(),
             found->open.begin() + static_cast<std::ptrdiff_t>(std::min(found->open.size(), kMostOpen)));
  const std::vector<HostReason>& undecided = found->undecided.all();
  for (std::size_t place = 0; place < std::min(undecided.size(), kMostOpen); ++place) {
    open.push_back(fmt::format("{}: {}", undecided[place].host, undecided[place].reason));
  }
  return {Outcome::kNotJudged, open.empty() ? said : fmt::format("{}", fmt::join(open, "; "))};
}

cluster::VerdictSettings settings_of(const AcceptOptions& options) {
  cluster::VerdictSettings settings;
  settings.tolerance = options.plan.tolerance;
  if (options.expect.empty()) return settings;
  const double share = std::stod(options.expect) / 100;
  if (options.line_rate.empty()) {
    settings.expected_of_port = share;
  } else {
    settings.expected = std::stod(options.line_rate) / 8 * share * 1e9;
  }
  return settings;
}

/// What is measured from here on is judged and kept.
class AcceptRun {
 public:
  explicit AcceptRun(const AcceptWork& work) : work_(work), plan_(work.folder, work.options.plan) {}

  [[nodiscard]] int run(bool nagios, bool& told) {
    try {
      measure();
      return finish(false, nagios, told);
    } catch (const Interrupted&) {
      jobs_.end_all();
      if (sweep_) judge_pairs(kBrokenOff);
      warn(work_.called,
           fmt::format("interrupted; continue with: {} {} {}", work_.called.call,
                       cluster::quoted({"--resume", work_.folder.path().string()}), acting_words(work_.options)));
      return finish(true, nagios, told);
    } catch (...) {
      jobs_.end_all();
      throw;
    }
  }

 private:
  struct Interrupted {};
  struct Limit {
    int seconds = 0;
    bool is_cut = false;  ///< --time leaves less than a job may usually take
  };
  /// A sweep that is under way.
  struct RunningSweep {
    PlannedStep step;
    std::string command;
    cluster::Clock::time_point began;
    int status = 0;
    std::size_t told = 0;  // bytes of its messages that were passed on
  };

  void measure() {
    while (true) {
      const Batch batch = plan_.next(work_.options.plan.time_s - cluster::seconds_since(work_.began));
      leave_out(batch);
      if (batch.steps.empty() && batch.left_out.empty()) return;
      if (!batch.stage) continue;
      deadline_ = Clock::now() + std::chrono::seconds(batch.limit_s.value_or(0));
      switch (*batch.stage) {
        case Stage::kHosts: measure_hosts(batch); break;
        case Stage::kPairs: measure_pairs(batch.steps.front()); break;
        case Stage::kCollectives: measure_collective(batch.steps.front()); break;
      }
    }
  }

  void leave_out(const Batch& batch) {
    for (const PlannedStep& step : batch.left_out) {
      plan_.add(step_of(step, {Outcome::kNotMeasured, batch.reason}));
      warn(work_.called, fmt::format("{}: not measured: {}", step.name, batch.reason));
    }
  }

  void measure_hosts(const Batch& batch) {
    const bool again = batch.steps.front().records.ends_with(kAgain);
    warn(work_.called, fmt::format("measuring hosts alone{}: {}", again ? ", again" : "", batch.steps.size()));
    const std::size_t at_most = batch.together ? static_cast<std::size_t>(work_.options.at_once) : 1;
    for (const PlannedStep& step : batch.steps) {
      while (jobs_.running() >= at_most) wait(std::chrono::seconds(1));
      if (work_.options.plan.time_s > 0 && Clock::now() >= deadline_) break;
      start_job(step, work_.options.first_program(), work_.options.limit_s);
    }
    while (jobs_.running() > 0) wait(std::chrono::seconds(1));
    refuse_unknown_hosts();
  }

  void measure_collective(const PlannedStep& step) {
    warn(work_.called, fmt::format("measuring {} over {} hosts", step.program, step.hosts.size()));
    start_job(step, step.program, work_.options.limit_s * kLonger);
    while (jobs_.running() > 0) wait(std::chrono::seconds(1));
  }

  void measure_pairs(const PlannedStep& step) {
    warn(work_.called, fmt::format("measuring pairs of {} hosts", step.hosts.size()));
    const cluster::Command command = work_.commands.sweep(work_.folder.path(), step.records, step.hosts);
    sweep_ = RunningSweep{step, command.text(), Clock::now()};
    // Without --time, it ends by itself.
    const int limit_s = work_.options.plan.time_s == 0 ? 0 : limit_of(std::numeric_limits<int>::max()).seconds;
    jobs_.start(command, work_.scratch / "sweep_out", work_.scratch / "sweep_err", limit_s,
                [this](const cluster::JobEnd& end) { sweep_->status = end.status; });
    while (jobs_.running() > 0) {
      wait(kLook);
      tell_of_sweep();
    }
    const auto status = static_cast<ExitStatus>(sweep_->status);
    if (status == ExitStatus::kUsage || status == ExitStatus::kMissing) {
      throw Error(status, "pairs cannot be measured; see the message above");
    }
    judge_pairs(cluster::is_timed_out(sweep_->status) ? kCut : "");
    sweep_.reset();
  }

  /// Passes on what the sweep says.
  void tell_of_sweep() {
    const std::string text = text_of(work_.scratch / "sweep_err");
    static_cast<void>(std::fwrite(text.data() + sweep_->told, 1, text.size() - sweep_->told, stderr));
    sweep_->told = text.size();
  }

  void wait(milliseconds most) {
    if (jobs_.step(most)) throw Interrupted();
  }

  /// Ends a new run whose jobs have all failed for want of an address, and removes the folder that it has made.
  void refuse_unknown_hosts() {
    const std::size_t hosts = work_.folder.hosts().size();
    if (!work_.is_new || std::cmp_not_equal(started_, hosts) || unknown_hosts_.size() != hosts) return;
    fs::remove_all(work_.folder.path());
    throw Error(ExitStatus::kMissing, fmt::format("none of the {} hosts has an address here, and nothing is kept: {}",
                                                  hosts, unknown_hosts_.front()));
  }

  [[nodiscard]] Limit limit_of(int usual_s) const {
    if (work_.options.plan.time_s == 0) return {usual_s, false};
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(deadline_ - Clock::now()).count();
    if (left >= usual_s) return {usual_s, false};
    return {static_cast<int>(std::max<std::int64_t>(left, 1)), true};
  }

  void start_job(const PlannedStep& step, const std::string& program, int usual_limit_s) {
    const Limit limit = limit_of(usual_limit_s);
    const fs::path scratch = work_.scratch / fmt::format("{:06}", ++started_);
    fs::create_directories(scratch);
    const cluster::Command command = work_.commands.job(program, step.hosts, limit.seconds, scratch);
    const auto ended = [this, step, program, limit, scratch, text = command.text()](const cluster::JobEnd& end) {
      if (end.broken_off && end.status != 0) return;
      const EndedJob job{
          program, step.hosts, end.status, limit.seconds, text_of(scratch / "out"), text_of(scratch / "err")};
      std::error_code left;  // daemons of mpirun may still be removing their own files there
      fs::remove_all(scratch, left);
      take_job(step, job, text, limit.is_cut, end.seconds);
    };
    jobs_.start(command, scratch / "out", scratch / "err", limit.seconds + work_.commands.grace_s(limit.seconds),
                ended);
  }

  void take_job(const PlannedStep& step, const EndedJob& job, const std::string& command, bool is_cut, double seconds) {
    const bool is_of_hosts = stage_of(step) == Stage::kHosts;
    const std::array<std::string_view, 2> texts = {job.errors, job.output};
    if (job.status == static_cast<int>(ExitStatus::kUsage)) {  // as it would every time
      const std::string said = cluster::first_complaint(job.program, texts);
      throw UsageError(fmt::format("{}: {}", step.name, said.empty() ? "the options were refused" : said));
    }
    for (const std::string_view line : cluster::lines_of(job.errors)) {
      if (std::none_of(kNoAddress.begin(), kNoAddress.end(),
                       [&](std::string_view words) { return line.find(words) != std::string_view::npos; })) {
        continue;
      }
      unknown_hosts_.emplace_back(line);
      break;
    }
    AcceptanceStep made = step_of(step, {Outcome::kNotMeasured, std::string(kCut)}, command, seconds);
    if (!is_cut || job.status == 0) {
      JudgedJob judged = judge_job(job);
      if (judged.judged.outcome == Outcome::kAccepted && !work_.options.launches.empty())
        compare_with_baseline(judged, job);
      if (!judged.kept.empty()) {
        work_.folder.replace(step.records, judged.kept);
        made.records = step.records;
      }
      made.outcome = judged.judged.outcome;
      made.reason = judged.judged.reason;
      made.exit_status = job.status;
      if (job.status == 0 && made.outcome != Outcome::kAccepted && (!is_of_hosts || made.outcome == Outcome::kFailed)) {
        made.exit_status = static_cast<int>(made.outcome == Outcome::kFailed      ? ExitStatus::kFailure
                                            : made.outcome == Outcome::kNotJudged ? ExitStatus::kNotJudged
                                                                                  : ExitStatus::kTooSlow);
      }
      if (is_bad(made.outcome) || !is_verdict(job.status)) keep_log(step, job, command);
    }
    plan_.add(made, step.records.ends_with(kAgain));
    if (made.outcome != Outcome::kAccepted || !is_of_hosts) tell(made);
  }

  void compare_with_baseline(JudgedJob& judged, const EndedJob& job) const {
    std::vector<std::string> allowed = work_.options.plan.allowed;
    // Where some are left out, these are other hosts than those of the baseline.
    if (!is_beginning(job.hosts, work_.folder.hosts())) allowed.emplace_back("hosts");
    const fs::path run = work_.scratch / "run.jsonl";
    try {
      cluster::write_text(run, judged.kept);
      const std::vector<baseline::Launch> fresh = cluster::launches_in(run.string());
      const auto compare = [&](const std::vector<std::string>& keys) {
        return baseline::compare(work_.options.launches, fresh, {{}, keys});
      };
      std::erase_if(allowed, [&](const std::string& key) {  // some are of hosts, or of other launches
        try {
          static_cast<void>(compare({key}));
          return false;
        } catch (const UsageError&) {
          return true;
        }
      });
      const baseline::BaselineComparison comparison = compare(allowed);
      const auto keep = [&](const auto& made) { judged.kept += record::json_line(record::to_json(made)); };
      std::for_each(comparison.rows.begin(), comparison.rows.end(), keep);
      std::for_each(comparison.changes.begin(), comparison.changes.end(), keep);
      keep(comparison);
      judged.judged = {outcome_of_status(comparison.exit_status), cluster::cleaned_line(comparison.headline)};
    } catch (const Error& problem) {
      judged.judged = {Outcome::kNotJudged, cluster::cleaned_line(problem.what())};
    }
  }

  void keep_log(const PlannedStep& step, const EndedJob& job, const std::string& command) const {
    std::string name = step.name;
    std::replace(name.begin(), name.end(), '/', '-');
    work_.folder.replace(fs::path("logs") / (file_name(name) + ".log"),
                         fmt::format("$ {}\n{}\n{}", command, job.errors, job.output));
  }

  /// Judges the readings of the sweep that has just ended, by itself, by --time, or by a signal.
  void judge_pairs(std::string_view ended_early) {
    const PlannedStep& planned = sweep_->step;
    const fs::path records = work_.folder.path() / planned.records;
    const std::string name = planned.records.substr(0, planned.records.rfind('.'));
    int status = sweep_->status;
    std::string said;
    if (fs::exists(records)) {
      const JudgedReadings judged =
          judge_readings(records, work_.folder.path() / (name + "-verdict.jsonl"), settings_of(work_.options));
      said = judged.said;
      if (!ended_early.empty() || is_verdict(status)) {
        status = judged.status;
      } else if (const std::string text = text_of(work_.scratch / "sweep_err"); !text.empty()) {
        said = cluster::cleaned_line(cluster::lines_of(text).back());
      }
    }
    AcceptanceStep step = step_of(planned, {}, sweep_->command, cluster::seconds_since(sweep_->began));
    step.records = planned.records;
    step.exit_status = status;
    const std::optional<PairsVerdict> found = is_verdict(status) ? plan_.read_meaning(step) : std::nullopt;
    if (ended_early == kBrokenOff && !found) return;  // before the first reading
    const Judged judged = judged_by(found, status, said);
    step.outcome = judged.outcome;
    step.reason =
        fmt::format("{}{}{}", ended_early, ended_early.empty() || judged.reason.empty() ? "" : "; ", judged.reason);
    plan_.add(step);
    tell(step);
  }

  void tell(const AcceptanceStep& step) const {
    warn(work_.called, fmt::format("{}: {} in {:.0f} s{}{}", step.name, in_words(step.outcome), step.seconds,
                                   step.reason.empty() ? "" : ": ", step.reason));
  }

  int finish(bool interrupted, bool nagios, bool& told) {
    const RunVerdict verdict = judge_run(plan_);
    const double seconds = cluster::seconds_since(work_.began);
    const int status = interrupted ? cluster::kInterrupted : verdict.exit_status;
    const auto in_lines = [](const std::vector<std::string>& hosts) {
      return hosts.empty() ? std::string() : fmt::format("{}\n", fmt::join(hosts, "\n"));
    };
    Words drained;
    for (const HostReason& each : verdict.drain.all()) drained.push_back(each.host);
    const std::string summary = summary_of(work_.folder, verdict, seconds);
    work_.folder.add(record_of(verdict, seconds, status));
    work_.folder.replace("summary.txt", summary);
    work_.folder.replace("junit.xml", junit_of(work_.folder, verdict, seconds));
    work_.folder.replace("admit.txt", in_lines(verdict.admit));
    work_.folder.replace("drain.txt", in_lines(drained));
    work_.folder.replace("context.jsonl", context_of(work_.folder));
    if (!work_.options.prometheus.empty()) {
      baseline::replace_file(work_.options.prometheus,
                             prometheus_of(work_.folder, verdict, seconds, std::time(nullptr)));
    }
    const NagiosLine line = nagios_of(verdict, work_.folder.hosts().size(), seconds, interrupted);
    std::optional<Error> unwritten;
    try {
      OutputFile::standard_output().write(nagios ? line.text : summary);
      told = true;
    } catch (const Error& problem) {
      unwritten = problem;
    }
    draw_report();
    warn(work_.called, fmt::format("results are in {}", work_.folder.path().string()));
    if (unwritten) throw *unwritten;
    return nagios ? line.status : status;
  }

  /// A signal from now on changes no verdict; it only ends the drawing.
  void draw_report() {
    const std::string report = cluster::script_path("report.py");
    if (report.empty()) return;
    const std::string folder = work_.folder.path().string();
    const fs::path said = work_.scratch / "drawing_err";
    int status = static_cast<int>(ExitStatus::kMissing);  // without python3
    try {
      jobs_.start({{}, {report, folder, "-o", folder + "/report.html", "--force"}}, work_.scratch / "drawing_out", said,
                  0, [&](const cluster::JobEnd& end) { status = end.status; });
      while (jobs_.running() > 0) {
        if (!jobs_.step(std::chrono::seconds(1))) continue;
        jobs_.end_all();
        for (const fs::directory_entry& entry : fs::directory_iterator(work_.folder.path())) {
          if (entry.path().filename().string().starts_with(".report.html.part")) fs::remove(entry.path());
        }
      }
      fmt::print(stderr, "{}", text_of(said));
    } catch (const Error& problem) {
      warn(work_.called, problem.what());
    }
    if (status != 0)
      warn(work_.called, fmt::format("report.html could not be drawn; everything else is in {}", folder));
  }

  const AcceptWork& work_;
  Plan plan_;
  cluster::Signals signals_;
  cluster::Jobs jobs_{signals_};
  cluster::Clock::time_point deadline_;     // of the stage; read with --time only
  int started_ = 0;                         // jobs
  std::vector<std::string> unknown_hosts_;  // what jobs on hosts without an address have said
  std::optional<RunningSweep> sweep_;
};

}  // namespace

int run_acceptance(const AcceptWork& work, bool nagios, bool& told) { return AcceptRun(work).run(nagios, told); }

}  // namespace fabricbench::acceptance
