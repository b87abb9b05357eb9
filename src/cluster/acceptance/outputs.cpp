#include "cluster/acceptance/verdict.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_list.h"
#include "cluster/launch/job_output.h"
#include "common/core/error.h"
#include "common/report/junit.h"

namespace fabricbench::acceptance {
namespace {

constexpr std::size_t kMostInALine = 8;  // hosts

std::string_view title_of(Stage stage) {
  switch (stage) {
    case Stage::kHosts: return "Hosts alone";
    case Stage::kPairs: return "Pairs";
    default: return "Collectives";
  }
}

constexpr std::array kStages = {Stage::kHosts, Stage::kPairs, Stage::kCollectives};

std::vector<std::string> hosts_in(const Reasons& reasons) {
  std::vector<std::string> hosts;
  hosts.reserve(reasons.all().size());
  for (const HostReason& each : reasons.all()) hosts.push_back(each.host);
  return hosts;
}

std::string stage_in_words(const RunFolder& folder, Stage stage) {
  const std::vector<const AcceptanceStep*> steps = folder.of_stage(stage);
  if (steps.empty()) return "not measured";
  if (stage == Stage::kPairs && steps.size() > 1) {  // after a repair, with other hosts
    return fmt::format("{}, in the last of {} sweeps", in_words(steps.back()->outcome), steps.size());
  }
  std::map<Outcome, int> counts;
  for (const AcceptanceStep* const step : steps) ++counts[step->outcome];
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [outcome, number] : counts) parts.push_back(fmt::format("{} {}", number, in_words(outcome)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// A line for all hosts of a list, and one for each reason, with its hosts.
std::string list_in_words(std::string_view title, const Reasons& reasons) {
  if (reasons.empty()) return "";
  std::string text = fmt::format("{}: {}\n", title, cluster::fold_hosts(hosts_in(reasons)));
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const auto& [host, reason] : reasons.all()) {
    const std::string line = in_one_line(reason);
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.first == line; });
    (known == groups.end() ? groups.emplace_back(line, std::vector<std::string>()) : *known).second.push_back(host);
  }
  for (const auto& [reason, hosts] : groups) text += fmt::format("  {}: {}\n", enumerated(hosts, kMostInALine), reason);
  return text;
}

/// What is unknown is an error, and not skipped: it is not ok.
JunitCase case_of(std::string name, double seconds, Outcome outcome, const std::string& reason) {
  if (outcome == Outcome::kAccepted) return {std::move(name), seconds};
  return {std::move(name), seconds, is_bad(outcome) ? JunitOutcome::kFailure : JunitOutcome::kError,
          std::string(fabricbench::name(outcome)), in_one_line(reason)};
}

Outcome outcome_of_run(int status) {
  if (status == static_cast<int>(ExitStatus::kOk)) return Outcome::kAccepted;
  return status == static_cast<int>(ExitStatus::kTooSlow) ? Outcome::kFailed : Outcome::kNotJudged;
}

/// Metrics in Prometheus' text format.
class Metrics {
 public:
  void begin(std::string_view metric, std::string_view meaning) {
    metric_ = fmt::format("fabricbench_acceptance_{}", metric);
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", metric_, meaning);
  }
  /// `labels`: such as `{host="node1"}`
  void add(const std::string& labels, const std::string& value) {
    text_ += fmt::format("{}{} {}\n", metric_, labels, value);
  }
  void add(const std::string& labels, std::size_t value) { add(labels, std::to_string(value)); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string metric_;
  std::string text_;
};

}  // namespace

std::string in_words(Outcome outcome) {
  std::string words(name(outcome));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string summary_of(const RunFolder& folder, const RunVerdict& verdict, double seconds) {
  std::string text = fmt::format("{}\n\nHeld against: {}\nTook: {:.0f} s\n", verdict.headline,
                                 in_one_line(folder.start().held_against), seconds);
  for (const Stage stage : kStages) text += fmt::format("{}: {}\n", title_of(stage), stage_in_words(folder, stage));
  if (!verdict.admit.empty()) text += fmt::format("\nAdmit: {}\n", cluster::fold_hosts(verdict.admit));
  text += list_in_words("Drain", verdict.drain);
  text += list_in_words("Undecided", verdict.undecided);
  for (const auto& [title, lines] : {std::pair("Slow or failed", &verdict.findings),
                                     {"Not judged", &verdict.open},
                                     {"Not measured", &verdict.unmeasured},
                                     {"Note", &verdict.notes}}) {
    for (const std::string& line : *lines) text += fmt::format("{}: {}\n", title, in_one_line(line));
  }
  return text;
}

std::string junit_of(const RunFolder& folder, const RunVerdict& verdict, double seconds) {
  std::string suites;
  for (const Stage stage : kStages) {
    std::vector<JunitCase> cases;
    for (const AcceptanceStep* const step : folder.of_stage(stage)) {
      const std::size_t slash = step->name.find('/');
      cases.push_back(case_of(slash == std::string::npos ? std::string(name(stage)) : step->name.substr(slash + 1),
                              step->seconds, step->outcome,
                              step->reason.empty() ? in_words(step->outcome) : step->reason));
    }
    suites += junit_suite(fmt::format("acceptance.{}", name(stage)), cases);
  }
  std::vector<JunitCase> hosts;
  for (const std::string& host : verdict.admit) hosts.push_back(case_of(host, 0, Outcome::kAccepted, ""));
  for (const auto& [host, reason] : verdict.drain.all()) hosts.push_back(case_of(host, 0, Outcome::kFailed, reason));
  for (const auto& [host, reason] : verdict.undecided.all()) {
    hosts.push_back(case_of(host, 0, Outcome::kNotJudged, reason));
  }
  suites += junit_suite("acceptance.verdict", hosts);
  suites +=
      junit_suite("acceptance.run", {case_of("run", seconds, outcome_of_run(verdict.exit_status), verdict.headline)});
  return junit_document("fabricbench acceptance", suites);
}

std::string prometheus_of(const RunFolder& folder, const RunVerdict& verdict, double seconds, std::time_t finished) {
  Metrics metrics;
  metrics.begin("exit_status", "0 accepted, 6 slow or failed, 7 could not be judged");
  metrics.add("", std::to_string(verdict.exit_status));
  const std::array lists = {std::tuple("admitted", ExitStatus::kOk, verdict.admit),
                            std::tuple("drained", ExitStatus::kTooSlow, hosts_in(verdict.drain)),
                            std::tuple("undecided", ExitStatus::kNotJudged, hosts_in(verdict.undecided))};
  metrics.begin("hosts", "number of hosts by verdict");
  for (const auto& [list, status, hosts] : lists) metrics.add(fmt::format(R"({{verdict="{}"}})", list), hosts.size());
  metrics.begin("host_status", "0 admitted, 6 drained, 7 undecided");
  for (const auto& [list, status, hosts] : lists) {
    // A host's name has nothing that a label would have to escape.
    for (const std::string& host : hosts) {
      metrics.add(fmt::format(R"({{host="{}"}})", host), std::to_string(static_cast<int>(status)));
    }
  }
  metrics.begin("steps", "number of steps by stage and outcome");
  std::map<std::pair<Stage, Outcome>, std::size_t> counts;
  for (const AcceptanceStep& step : folder.steps()) ++counts[{step.stage, step.outcome}];
  for (const std::string_view stage : names_of(Stage())) {
    for (const std::string_view outcome : names_of(Outcome())) {
      metrics.add(fmt::format(R"({{stage="{}",outcome="{}"}})", stage, outcome),
                  counts[{*named<Stage>(stage), *named<Outcome>(outcome)}]);
    }
  }
  metrics.begin("findings", "number of findings that no host explains");
  metrics.add("", verdict.findings.size());
  metrics.begin("duration_seconds", "duration of the run");
  metrics.add("", fmt::format("{:.1f}", seconds));
  metrics.begin("finished_timestamp_seconds", "when the run ended");
  metrics.add("", std::to_string(finished));
  return metrics.text();
}

NagiosLine nagios_of(const RunVerdict& verdict, std::size_t hosts, double seconds, bool interrupted) {
  constexpr std::array<std::string_view, 4> kStates = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
  NagiosLine line;
  std::string words = verdict.headline;
  if (interrupted || verdict.exit_status == static_cast<int>(ExitStatus::kNotJudged)) {
    line.status = 3;
  } else if (verdict.exit_status == static_cast<int>(ExitStatus::kTooSlow)) {
    line.status = 2;
  } else if (!verdict.warnings.empty()) {
    line.status = 1;
    words += "; " + verdict.warnings.front();
  }
  words = in_one_line(words);
  std::replace(words.begin(), words.end(), '|', '/');
  line.text =
      fmt::format("ACCEPTANCE {} - {} | admitted={};;;0;{n} drained={};;;0;{n} undecided={};;;0;{n} time={:.0f}s\n",
                  kStates[static_cast<std::size_t>(line.status)], words, verdict.admit.size(),
                  verdict.drain.all().size(), verdict.undecided.all().size(), seconds, fmt::arg("n", hosts));
  return line;
}

std::string context_of(const RunFolder& folder) {
  const AcceptanceStep* best = nullptr;
  for (const Stage stage : {Stage::kHosts, Stage::kCollectives}) {
    for (const AcceptanceStep* const step : folder.of_stage(stage)) {
      if (step->records.empty() || step->outcome == Outcome::kNotMeasured) continue;
      if (best == nullptr || step->hosts.size() >= best->hosts.size()) best = step;
    }
  }
  const std::string text = best == nullptr ? "" : folder.text_of(*best);
  for (const std::string_view line : cluster::lines_of(text)) {
    if (line.starts_with(R"({"kind":"context")") || line.starts_with(R"({"kind": "context")")) {
      return fmt::format("{}\n", line);
    }
  }
  return "";
}

}  // namespace fabricbench::acceptance
