#include "cluster/acceptance/accept_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/acceptance/outputs.h"
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

}  // namespace

AcceptRun::AcceptRun(const AcceptOptions& options, const cluster::CalledAs& called, const JobCommands& commands,
                     RunFolder& folder, fs::path scratch, bool is_new, Clock::time_point began)
    : options_(options),
      called_(called),
      commands_(commands),
      folder_(folder),
      scratch_(std::move(scratch)),
      is_new_(is_new),
      began_(began),
      plan_(folder, options.plan) {}

int AcceptRun::run(bool nagios, bool& told) {
  try {
    measure();
    return finish(false, nagios, told);
  } catch (const Interrupted&) {
    jobs_.end_all();
    if (sweep_) judge_pairs(kBrokenOff);
    warn(called_, fmt::format("interrupted; continue with: {} {} {}", called_.call,
                              cluster::quoted({"--resume", folder_.path().string()}), acting_words(options_)));
    return finish(true, nagios, told);
  } catch (...) {
    jobs_.end_all();
    throw;
  }
}

double AcceptRun::seconds_since(Clock::time_point begin) const {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void AcceptRun::measure() {
  while (true) {
    const Batch batch = plan_.next(options_.time_s - seconds_since(began_));
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

void AcceptRun::leave_out(const Batch& batch) {
  for (const PlannedStep& step : batch.left_out) {
    plan_.add(step_of(step, {Outcome::kNotMeasured, batch.reason}));
    warn(called_, fmt::format("{}: not measured: {}", step.name, batch.reason));
  }
}

void AcceptRun::wait(milliseconds most) {
  if (jobs_.step(most)) throw Interrupted();
}

void AcceptRun::measure_hosts(const Batch& batch) {
  const bool again = batch.steps.front().records.ends_with(kAgain);
  warn(called_, fmt::format("measuring hosts alone{}: {}", again ? ", again" : "", batch.steps.size()));
  const std::size_t at_most = batch.together ? static_cast<std::size_t>(options_.at_once) : 1;
  for (const PlannedStep& step : batch.steps) {
    while (jobs_.running() >= at_most) wait(std::chrono::seconds(1));
    if (options_.time_s > 0 && Clock::now() >= deadline_) break;
    start_job(step, options_.first_program(), options_.limit_s);
  }
  while (jobs_.running() > 0) wait(std::chrono::seconds(1));
  refuse_unknown_hosts();
}

/// Ends a new run whose jobs have all failed for want of an address, and removes the folder that it has made.
void AcceptRun::refuse_unknown_hosts() {
  const std::size_t hosts = folder_.hosts().size();
  if (!is_new_ || std::cmp_not_equal(started_, hosts) || unknown_hosts_.size() != hosts) return;
  fs::remove_all(folder_.path());
  throw Error(ExitStatus::kMissing, fmt::format("none of the {} hosts has an address here, and nothing is kept: {}",
                                                hosts, unknown_hosts_.front()));
}

void AcceptRun::measure_collective(const PlannedStep& step) {
  warn(called_, fmt::format("measuring {} over {} hosts", step.program, step.hosts.size()));
  start_job(step, step.program, options_.limit_s * kLonger);
  while (jobs_.running() > 0) wait(std::chrono::seconds(1));
}

AcceptRun::Limit AcceptRun::limit_of(int usual_s) const {
  if (options_.time_s == 0) return {usual_s, false};
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(deadline_ - Clock::now()).count();
  if (left >= usual_s) return {usual_s, false};
  return {static_cast<int>(std::max<std::int64_t>(left, 1)), true};
}

void AcceptRun::start_job(const PlannedStep& step, const std::string& program, int usual_limit_s) {
  const Limit limit = limit_of(usual_limit_s);
  const fs::path scratch = scratch_ / fmt::format("{:06}", ++started_);
  fs::create_directories(scratch);
  const cluster::Command command = commands_.job(program, step.hosts, limit.seconds, scratch);
  const auto ended = [this, step, program, limit, scratch, text = command.text()](const cluster::JobEnd& end) {
    if (end.broken_off && end.status != 0) return;
    const EndedJob job{
        program, step.hosts, end.status, limit.seconds, text_of(scratch / "out"), text_of(scratch / "err")};
    std::error_code left;  // daemons of mpirun may still be removing their own files there
    fs::remove_all(scratch, left);
    take_job(step, job, text, limit.is_cut, end.seconds);
  };
  jobs_.start(command, scratch / "out", scratch / "err", limit.seconds + commands_.grace_s(limit.seconds), ended);
}

void AcceptRun::take_job(const PlannedStep& step, const EndedJob& job, const std::string& command, bool is_cut,
                         double seconds) {
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
    if (judged.judged.outcome == Outcome::kAccepted && !options_.launches.empty()) compare_with_baseline(judged, job);
    if (!judged.kept.empty()) {
      folder_.replace(step.records, judged.kept);
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

void AcceptRun::tell(const AcceptanceStep& step) const {
  warn(called_, fmt::format("{}: {} in {:.0f} s{}{}", step.name, in_words(step.outcome), step.seconds,
                            step.reason.empty() ? "" : ": ", step.reason));
}

void AcceptRun::keep_log(const PlannedStep& step, const EndedJob& job, const std::string& command) const {
  std::string name = step.name;
  std::replace(name.begin(), name.end(), '/', '-');
  folder_.replace(fs::path("logs") / (file_name(name) + ".log"),
                  fmt::format("$ {}\n{}\n{}", command, job.errors, job.output));
}

void AcceptRun::compare_with_baseline(JudgedJob& judged, const EndedJob& job) const {
  std::vector<std::string> allowed = options_.plan.allowed;
  // Where some are left out, these are other hosts than those of the baseline.
  if (!is_beginning(job.hosts, folder_.hosts())) allowed.emplace_back("hosts");
  const fs::path run = scratch_ / "run.jsonl";
  try {
    write_text(run, judged.kept);
    const std::vector<baseline::Launch> fresh = cluster::launches_in(run.string());
    const auto compare = [&](const std::vector<std::string>& keys) {
      return baseline::compare(options_.launches, fresh, {{}, keys});
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

void AcceptRun::measure_pairs(const PlannedStep& step) {
  warn(called_, fmt::format("measuring pairs of {} hosts", step.hosts.size()));
  const cluster::Command command = commands_.sweep(folder_.path(), step.records, step.hosts);
  sweep_ = RunningSweep{step, command.text(), Clock::now()};
  // Without --time, it ends by itself.
  const int limit_s = options_.time_s == 0 ? 0 : limit_of(std::numeric_limits<int>::max()).seconds;
  jobs_.start(command, scratch_ / "sweep_out", scratch_ / "sweep_err", limit_s,
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
void AcceptRun::tell_of_sweep() {
  const std::string text = text_of(scratch_ / "sweep_err");
  static_cast<void>(std::fwrite(text.data() + sweep_->told, 1, text.size() - sweep_->told, stderr));
  sweep_->told = text.size();
}

/// Judges the readings of the sweep that has just ended, by itself, by --time, or by a signal.
void AcceptRun::judge_pairs(std::string_view ended_early) {
  const PlannedStep& planned = sweep_->step;
  const fs::path records = folder_.path() / planned.records;
  const std::string name = planned.records.substr(0, planned.records.rfind('.'));
  int status = sweep_->status;
  std::string said;
  if (fs::exists(records)) {
    const JudgedReadings judged =
        judge_readings(records, folder_.path() / (name + "-verdict.jsonl"), settings_of(options_));
    said = judged.said;
    if (!ended_early.empty() || is_verdict(status)) {
      status = judged.status;
    } else if (const std::string text = text_of(scratch_ / "sweep_err"); !text.empty()) {
      said = cluster::cleaned_line(cluster::lines_of(text).back());
    }
  }
  AcceptanceStep step = step_of(planned, {}, sweep_->command, seconds_since(sweep_->began));
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

int AcceptRun::finish(bool interrupted, bool nagios, bool& told) {
  const RunVerdict verdict = judge_run(plan_);
  const double seconds = seconds_since(began_);
  const int status = interrupted ? cluster::kInterrupted : verdict.exit_status;
  const auto in_lines = [](const std::vector<std::string>& hosts) {
    return hosts.empty() ? std::string() : fmt::format("{}\n", fmt::join(hosts, "\n"));
  };
  Words drained;
  for (const HostReason& each : verdict.drain.all()) drained.push_back(each.host);
  const std::string summary = summary_of(folder_, verdict, seconds);
  folder_.add(record_of(verdict, seconds, status));
  folder_.replace("summary.txt", summary);
  folder_.replace("junit.xml", junit_of(folder_, verdict, seconds));
  folder_.replace("admit.txt", in_lines(verdict.admit));
  folder_.replace("drain.txt", in_lines(drained));
  folder_.replace("context.jsonl", context_of(folder_));
  if (!options_.prometheus.empty()) {
    baseline::replace_file(options_.prometheus, prometheus_of(folder_, verdict, seconds, std::time(nullptr)));
  }
  const NagiosLine line = nagios_of(verdict, folder_.hosts().size(), seconds, interrupted);
  std::optional<Error> unwritten;
  try {
    OutputFile::standard_output().write(nagios ? line.text : summary);
    told = true;
  } catch (const Error& problem) {
    unwritten = problem;
  }
  draw_report();
  warn(called_, fmt::format("results are in {}", folder_.path().string()));
  if (unwritten) throw *unwritten;
  return nagios ? line.status : status;
}

/// A signal from now on changes no verdict; it only ends the drawing.
void AcceptRun::draw_report() {
  const std::string report = cluster::script_path("report.py");
  if (report.empty()) return;
  const std::string folder = folder_.path().string();
  const fs::path said = scratch_ / "drawing_err";
  int status = static_cast<int>(ExitStatus::kMissing);  // without python3
  try {
    jobs_.start({{}, {report, folder, "-o", folder + "/report.html", "--force"}}, scratch_ / "drawing_out", said, 0,
                [&](const cluster::JobEnd& end) { status = end.status; });
    while (jobs_.running() > 0) {
      if (!jobs_.step(std::chrono::seconds(1))) continue;
      jobs_.end_all();
      for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
        if (entry.path().filename().string().starts_with(".report.html.part")) fs::remove(entry.path());
      }
    }
    fmt::print(stderr, "{}", text_of(said));
  } catch (const Error& problem) {
    warn(called_, problem.what());
  }
  if (status != 0) warn(called_, fmt::format("report.html could not be drawn; everything else is in {}", folder));
}

}  // namespace fabricbench::acceptance
