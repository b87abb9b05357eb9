#include "cluster/acceptance/plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::acceptance {
namespace {

constexpr std::size_t kMostAlone = 16;   // hosts that are measured again one by one; more are measured together
constexpr std::size_t kFewestPeers = 6;  // hosts beside which repaired ones are measured
constexpr double kMargin = 1.5;          // of the time of a job, for the next, larger one
constexpr Seconds kShortestJob = 0.1;
constexpr Seconds kFirstJob = 15;  // a collective, before one has been measured
constexpr std::string_view kEnd = ".jsonl";

/// Of --time, the share in which a stage has to end.
double share_until(Stage stage) { return stage == Stage::kHosts ? 0.25 : stage == Stage::kPairs ? 0.7 : 1.0; }

/// `@2` of hosts/node01@2.jsonl, so that the second measurement has a name of its own.
std::string attempt_of(const std::string& records) {
  const std::size_t at = records.find('@');
  return at == std::string::npos ? "" : records.substr(at, records.size() - kEnd.size() - at);
}

}  // namespace

Plan::Plan(RunFolder& folder, PlanSettings settings) : folder_(folder), settings_(std::move(settings)) {
  std::set<std::string> taken;
  for (const std::string& host : folder_.hosts()) {
    const std::string name = file_name(host);
    std::string unique = name;
    for (int number = 2; !taken.insert(unique).second; ++number) unique = fmt::format("{}_{}", name, number);
    files_[host] = unique;
  }
}

const std::vector<std::string>& Plan::scope() const {
  return settings_.recheck.empty() ? folder_.hosts() : settings_.recheck;
}

void Plan::add(AcceptanceStep step, bool again) {
  over_.insert(step.name);
  if (again) repeated_.insert(step.name);
  verdicts_.erase(step.name);
  folder_.add(std::move(step));
}

const AcceptanceStep* Plan::host_step(const std::string& host) const { return folder_.measured("hosts/" + host); }

bool Plan::is_alive(const std::string& host) const {
  const AcceptanceStep* const step = host_step(host);
  return step != nullptr && !(step->outcome == Outcome::kFailed && step->exit_status != 0);
}

bool Plan::passed_alone(const std::string& host) const {
  const AcceptanceStep* const step = host_step(host);
  return step != nullptr && step->outcome == Outcome::kAccepted;
}

bool Plan::was_measured_again(const AcceptanceStep& step) const {
  return repeated_.contains(step.name) || step.records.ends_with(kAgain);
}

std::string Plan::file_of(const std::string& host, const std::string& attempt, bool again) const {
  return fmt::format("hosts/{}{}{}", files_.at(host), attempt, again ? kAgain : kEnd);
}

std::string Plan::next_attempt(const std::string& host) const {
  if (settings_.recheck.empty()) return "";
  const auto exists = [&](const std::string& attempt, bool again) {
    return std::filesystem::exists(folder_.path() / file_of(host, attempt, again));
  };
  int number = 2;
  while (exists(fmt::format("@{}", number), false) || exists(fmt::format("@{}", number), true)) ++number;
  return fmt::format("@{}", number);
}

std::string Plan::pairs_name() const {
  return settings_.recheck.empty() ? "pairs" : fmt::format("pairs/{}", fmt::join(settings_.recheck, ","));
}

/// Hosts of the next sweep. Hosts that are known to be unfit are left out, unless the run keeps going.
std::vector<std::string> Plan::hosts_in_pairs() const {
  const auto is_fit = [&](const std::string& host) {
    return settings_.keeps_going ? is_alive(host) : passed_alone(host);
  };
  std::vector<std::string> chosen;
  std::copy_if(scope().begin(), scope().end(), std::back_inserter(chosen), is_fit);
  if (settings_.recheck.empty() || chosen.empty()) return chosen;
  const std::size_t most = chosen.size() + std::max(kFewestPeers, 2 * chosen.size());
  for (const std::string& host : fit_hosts()) {
    if (chosen.size() < most && !has(chosen, host)) chosen.push_back(host);
  }
  std::vector<std::string> in_order;
  std::copy_if(folder_.hosts().begin(), folder_.hosts().end(), std::back_inserter(in_order),
               [&](const std::string& host) { return has(chosen, host); });
  return in_order;
}

std::optional<PairsVerdict> Plan::read_meaning(const AcceptanceStep& sweep) const {
  if (sweep.records.empty()) return std::nullopt;
  const std::string name = sweep.records.substr(0, sweep.records.size() - kEnd.size());
  const auto verdict = read_verdict(folder_.path() / (name + "-verdict.jsonl"));
  if (!verdict) return std::nullopt;
  return meaning_of(*verdict, settings_.tolerance, has(settings_.allowed, "groups"));
}

std::vector<Sweep> Plan::sweeps() const {
  std::vector<Sweep> found;
  for (const AcceptanceStep* const step : folder_.of_stage(Stage::kPairs)) {
    if (step->outcome == Outcome::kNotMeasured) continue;
    const auto [known, is_new] = verdicts_.try_emplace(step->name);
    if (is_new) known->second = read_meaning(*step);
    found.push_back({step, known->second ? &*known->second : nullptr});
  }
  return found;
}

std::map<std::string, Sweep> Plan::deciding_sweeps() const {
  std::map<std::string, Sweep> found;
  for (const Sweep& sweep : sweeps()) {
    const std::vector<std::string> repaired = hosts_in_name(sweep.step->name);
    for (const std::string& host : sweep.step->hosts) {
      const bool blames_it = sweep.verdict != nullptr && sweep.verdict->drained.find(host) != nullptr;
      if (repaired.empty() || blames_it || has(repaired, host)) found[host] = sweep;
    }
  }
  return found;
}

std::vector<Finding> Plan::findings() const {
  std::vector<Finding> found;
  for (const Sweep& sweep : sweeps()) {
    const std::vector<std::string> repaired = hosts_in_name(sweep.step->name);
    std::erase_if(found, [&](const Finding& finding) {
      const std::vector<std::string>& hosts = finding.what.hosts;
      return !hosts.empty() &&
             std::all_of(hosts.begin(), hosts.end(), [&](const auto& each) { return has(repaired, each); });
    });
    if (sweep.verdict == nullptr) continue;
    for (const PathFinding& finding : sweep.verdict->findings) found.push_back({sweep.step, finding});
  }
  return found;
}

/// Hosts without a finding so far that were measured alone and in pairs: what collectives run on.
std::vector<std::string> Plan::fit_hosts() const {
  std::vector<std::string> found;
  const std::map<std::string, Sweep> deciding = deciding_sweeps();
  for (const std::string& host : folder_.hosts()) {
    const auto sweep = deciding.find(host);
    if (!passed_alone(host) || sweep == deciding.end() || sweep->second.verdict == nullptr) continue;
    if (sweep->second.verdict->fine.contains(host)) found.push_back(host);
  }
  return found;
}

std::string Plan::next_pairs_file() const {
  if (settings_.recheck.empty()) return "pairs.jsonl";
  int number = 2;
  while (std::filesystem::exists(folder_.path() / fmt::format("pairs-{}-verdict.jsonl", number))) ++number;
  return fmt::format("pairs-{}.jsonl", number);
}

std::vector<PlannedStep> Plan::collectives() const {
  const std::vector<std::string> hosts = fit_hosts();
  std::vector<PlannedStep> jobs;
  for (std::size_t power = 2; hosts.size() > 1; power *= 2) {
    const std::size_t size = std::min(power, hosts.size());
    for (const std::string& program : settings_.programs) {
      const std::string name = fmt::format("collectives/{}-{}", program, size);
      jobs.push_back(
          {name, name + ".jsonl", {hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(size)}, program});
    }
    if (size == hosts.size()) break;
  }
  return jobs;
}

bool Plan::is_measured(const PlannedStep& job, const PlannedStep& last) const {
  const AcceptanceStep* const step = folder_.measured(job.name);
  if (step == nullptr) return false;
  return job.hosts.size() < last.hosts.size() ||
         std::set(step->hosts.begin(), step->hosts.end()) == std::set(job.hosts.begin(), job.hosts.end());
}

/// Whether a repaired host takes part that has not taken part in it well.
bool Plan::can_clear(const PlannedStep& job) const {
  std::vector<std::string> repaired;
  std::copy_if(settings_.recheck.begin(), settings_.recheck.end(), std::back_inserter(repaired),
               [&](const std::string& host) { return has(job.hosts, host); });
  const AcceptanceStep* const step = folder_.measured(job.name);
  const bool was_well =
      step != nullptr && step->outcome == Outcome::kAccepted &&
      std::all_of(repaired.begin(), repaired.end(), [&](const auto& each) { return has(step->hosts, each); });
  return !repaired.empty() && !was_well;
}

/// After a finding that no host explains, measuring more would only repeat it.
std::string Plan::why_stopped() const {
  if (settings_.keeps_going || !settings_.recheck.empty()) return "";
  const auto after = [](const AcceptanceStep& step) {
    return fmt::format("not run after the finding of {}; --keep-going runs it", step.name);
  };
  for (const Sweep& sweep : sweeps()) {
    if (sweep.verdict == nullptr && sweep.step->outcome == Outcome::kFailed) return after(*sweep.step);
  }
  if (const std::vector<Finding> found = findings(); !found.empty()) return after(*found.front().step);
  for (const AcceptanceStep* const step : folder_.of_stage(Stage::kCollectives)) {
    if (is_bad(step->outcome)) return after(*step);
  }
  return "";
}

std::optional<int> Plan::time_for(Stage stage, double left_s) const {
  if (settings_.time_s == 0) return std::nullopt;
  return static_cast<int>(left_s - settings_.time_s * (1 - share_until(stage)));
}

/// Without time, the steps are left out.
Batch Plan::batch_of(Stage stage, std::vector<PlannedStep> steps, std::optional<int> limit_s) const {
  Batch batch;
  if (limit_s && *limit_s < 1) {
    batch.left_out = std::move(steps);
    batch.reason = fmt::format("no time was left of --time {} s", settings_.time_s);
  } else {
    batch.stage = stage;
    batch.steps = std::move(steps);
    batch.limit_s = limit_s;
  }
  return batch;
}

Batch Plan::next(double left_s) {
  Batch batch = next_hosts(left_s);
  if (batch.steps.empty() && batch.left_out.empty()) batch = next_pairs(left_s);
  if (batch.steps.empty() && batch.left_out.empty()) batch = next_collective(left_s);
  return batch;
}

Batch Plan::next_hosts(double left_s) {
  const std::optional<int> limit_s = time_for(Stage::kHosts, left_s);
  std::vector<PlannedStep> steps;
  for (const std::string& host : scope()) {
    const std::string name = "hosts/" + host;
    if (is_over(name) || (settings_.recheck.empty() && host_step(host) != nullptr)) continue;
    steps.push_back({name, file_of(host, next_attempt(host), false), {host}, ""});
  }
  if (!steps.empty()) return batch_of(Stage::kHosts, std::move(steps), limit_s);
  const bool are_judged = is_over(pairs_name()) || (settings_.recheck.empty() && folder_.measured("pairs") != nullptr);
  if (are_judged) return {};
  judge_hosts();
  return repeated_hosts(limit_s);
}

/// A host that failed or was slow is measured again, a slow one without others beside it: one launch may be unlucky.
Batch Plan::repeated_hosts(std::optional<int> limit_s) const {
  std::vector<std::string> dead;
  std::vector<std::string> slow;
  for (const std::string& host : scope()) {
    const AcceptanceStep* const step = host_step(host);
    if (step == nullptr || was_measured_again(*step)) continue;
    if (!is_alive(host)) {
      dead.push_back(host);
    } else if (step->outcome == Outcome::kSlow || step->outcome == Outcome::kNotJudged) {
      slow.push_back(host);
    }
  }
  if ((dead.empty() && slow.empty()) || (limit_s && *limit_s < 1)) return {};
  std::vector<PlannedStep> steps;
  for (const std::string& host : dead.empty() ? slow : dead) {
    const AcceptanceStep& step = *host_step(host);
    steps.push_back({step.name, file_of(host, attempt_of(step.records), true), {host}, ""});
  }
  Batch batch = batch_of(Stage::kHosts, std::move(steps), limit_s);
  batch.together = !dead.empty() || slow.size() > kMostAlone;
  return batch;
}

Batch Plan::next_pairs(double left_s) const {
  if (is_over(pairs_name())) return {};
  const std::vector<std::string> hosts = hosts_in_pairs();
  if (hosts.size() < 2) {
    Batch batch;
    batch.left_out = {{pairs_name(), "", hosts.empty() ? scope() : hosts, ""}};
    batch.reason = settings_.recheck.empty() ? "fewer than two hosts are left" : "no repaired host is fit for it";
    return batch;
  }
  const AcceptanceStep* const step = folder_.measured(pairs_name());
  const bool is_whole = step != nullptr && !step->reason.starts_with(kCut) && !step->reason.starts_with(kBrokenOff);
  if (is_whole && settings_.recheck.empty()) return {};
  return batch_of(Stage::kPairs, {{pairs_name(), next_pairs_file(), hosts, ""}}, time_for(Stage::kPairs, left_s));
}

Batch Plan::next_collective(double left_s) const {
  std::vector<PlannedStep> jobs = collectives();
  if (jobs.empty()) return {};
  const PlannedStep last = jobs.back();
  std::erase_if(jobs, [&](const PlannedStep& job) {
    const bool is_wanted =
        settings_.recheck.empty() ? !is_measured(job, last) : job.hosts.size() == last.hosts.size() && can_clear(job);
    return !is_wanted || is_over(job.name);
  });
  if (jobs.empty()) return {};
  if (const std::string stopped = why_stopped(); !stopped.empty()) {
    Batch batch;
    batch.left_out = std::move(jobs);
    batch.reason = stopped;
    return batch;
  }
  const std::optional<int> limit_s = time_for(Stage::kCollectives, left_s);
  if (!limit_s) return batch_of(Stage::kCollectives, {jobs.front()}, limit_s);
  const std::vector<PlannedStep> chosen = affordable(jobs, *limit_s);
  std::erase_if(jobs, [&](const PlannedStep& job) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const PlannedStep& each) { return each.name == job.name; });
  });
  if (!jobs.empty()) return batch_of(Stage::kCollectives, std::move(jobs), 0);
  return batch_of(Stage::kCollectives, {chosen.front()}, limit_s);
}

/// The jobs for which the time is expected to suffice: those over all hosts first, then from the smallest up. In their
/// own order.
std::vector<PlannedStep> Plan::affordable(const std::vector<PlannedStep>& jobs, int limit_s) const {
  double longest_s = kFirstJob;
  for (const AcceptanceStep* const step : folder_.of_stage(Stage::kCollectives)) {
    if (step->outcome != Outcome::kNotMeasured) longest_s = kMargin * std::max(step->seconds, kShortestJob);
  }
  auto left = limit_s < 1 ? 0 : static_cast<std::ptrdiff_t>(limit_s / longest_s);
  const auto is_largest = [&](const PlannedStep& job) { return job.hosts.size() == jobs.back().hosts.size(); };
  const auto largest = std::count_if(jobs.begin(), jobs.end(), is_largest);
  std::ptrdiff_t of_largest = std::min(left, largest);
  left -= of_largest;
  std::vector<PlannedStep> chosen;
  for (const PlannedStep& job : jobs) {
    std::ptrdiff_t& count = is_largest(job) ? of_largest : left;
    if (count-- > 0) chosen.push_back(job);
  }
  return chosen;
}

HostComparison Plan::judge_hosts() {
  HostComparison compared(folder_, settings_.allowed, settings_.tolerance);
  std::vector<AcceptanceStep> changed;
  for (const AcceptanceStep* const step : folder_.of_stage(Stage::kHosts)) {
    const std::string& host = step->hosts.front();
    if (!is_alive(host) || step->outcome == Outcome::kNotMeasured) continue;
    std::optional<Judged> before = folder_.records_of(*step).comparison;  // by launches of the baseline on this host
    if (before && before->outcome != Outcome::kAccepted && before->outcome != Outcome::kSlow) before.reset();
    std::optional<Judged> judged = compared.judge(host, before.has_value());
    if (!judged) judged = before;
    if (!judged && step->exit_status != 0) continue;  // as the program itself said
    if (!judged) judged = Judged{};
    if (*judged == Judged{step->outcome, step->reason}) continue;
    AcceptanceStep& made = changed.emplace_back(*step);
    made.outcome = judged->outcome;
    made.reason = judged->reason;
  }
  for (AcceptanceStep& step : changed) folder_.add(std::move(step));
  return compared;
}

}  // namespace fabricbench::acceptance
