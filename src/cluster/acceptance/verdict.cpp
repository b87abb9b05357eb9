#include "cluster/acceptance/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/acceptance/stages.h"
#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench::acceptance {
namespace {

constexpr std::size_t kMostNamed = 3;
constexpr std::array<std::string_view, 5> kStates = {"slow", "dead", "failed", "unsteady", "cut off"};  // behind a name

/// all_reduce_perf of collectives/all_reduce_perf-8.
std::string program_of(const AcceptanceStep& step) {
  const std::size_t begin = step.name.find('/') + 1;
  return step.name.substr(begin, step.name.rfind('-') - begin);
}

/// The beginning of a reason: without figures behind a colon, and what stands in brackets.
std::string in_short(std::string_view reason) {
  const std::string_view text = reason.substr(0, reason.find(" ("));
  const std::size_t colon = text.rfind(": ");
  const bool has_figures = colon != std::string_view::npos && colon > 0 && colon + 2 < text.size() &&
                           text[colon + 2] >= '0' && text[colon + 2] <= '9';
  return in_one_line(has_figures ? text.substr(0, colon) : text);
}

/// Makes the parts of a verdict, one after the other.
class Judge {
 public:
  explicit Judge(Plan& plan) : compared_(plan.judge_hosts()), plan_(plan), deciding_(plan.deciding_sweeps()) {}

  RunVerdict judge() {
    for (const Finding& finding : plan_.findings()) add_finding(finding.what.text, finding.what.in_short);
    made_.open = compared_.split();
    if (!has(plan_.settings().allowed, "carried_by")) used_nics_ = unusual_nics(plan_.folder());
    if (!used_nics_.split.empty()) made_.open.push_back(used_nics_.split);
    judge_collectives();
    for (const std::string& host : plan_.folder().hosts()) judge_host(host);
    judge_sweeps();
    list_unmeasured();
    add_notes();
    for (const std::string& host : plan_.folder().hosts()) {
      if (made_.drain.find(host) == nullptr && made_.undecided.find(host) == nullptr) made_.admit.push_back(host);
    }
    made_.exit_status = static_cast<int>(status());
    made_.headline = headline();
    return std::move(made_);
  }

 private:
  void add_finding(const std::string& text, const std::string& in_short) {
    made_.findings.push_back(text);
    in_short_.push_back(in_short);
  }

  /// Such as `not measured alone: no time was left`.
  [[nodiscard]] std::string why_not(const std::string& name, const std::string& words) const {
    const AcceptanceStep* const step = plan_.folder().find(name);
    return step == nullptr || step->reason.empty() ? words : fmt::format("{}: {}", words, step->reason);
  }

  void judge_host(const std::string& host) {
    const AcceptanceStep* const alone = plan_.host_step(host);
    const auto deciding = deciding_.find(host);
    const Sweep sweep = deciding == deciding_.end() ? Sweep() : deciding->second;
    const std::string* const blamed = sweep.verdict == nullptr ? nullptr : sweep.verdict->drained.find(host);
    if (alone != nullptr && is_bad(alone->outcome)) {
      const std::string_view state = plan_.is_alive(host)                    ? ""
                                     : plan_.folder().records_of(*alone).any ? "failed alone: "
                                                                             : "dead: ";
      made_.drain.add(host, fmt::format("{}{}", state, alone->reason.empty() ? "failed alone" : alone->reason));
    } else if (blamed != nullptr) {
      made_.drain.add(host, *blamed);
    } else if (const auto odd = used_nics_.of_hosts.find(host); odd != used_nics_.of_hosts.end()) {
      made_.drain.add(host, odd->second);
    } else if (std::string why = why_undecided(host, alone, sweep); !why.empty()) {
      made_.undecided.add(host, why);
    }
  }

  /// Empty: it is accepted.
  [[nodiscard]] std::string why_undecided(const std::string& host, const AcceptanceStep* alone,
                                          const Sweep& sweep) const {
    if (alone == nullptr) return why_not("hosts/" + host, "not measured alone");
    if (alone->outcome == Outcome::kNotJudged) {
      return alone->reason.empty() ? "could not be judged alone" : alone->reason;
    }
    if (sweep.step == nullptr) return why_not(plan_.pairs_name(), "not measured with other hosts");
    const std::string& reason = sweep.step->reason;
    if (sweep.verdict == nullptr) return fmt::format("pairs: {}", reason.empty() ? "no verdict" : reason);
    if (!sweep.verdict->fine.contains(host)) {
      const std::string* const known = sweep.verdict->undecided.find(host);
      std::string why = known == nullptr ? "not measured with other hosts" : *known;
      for (const std::string_view early : {kCut, kBrokenOff}) {
        if (reason.starts_with(early)) why += fmt::format("; the pairs were {}", early);
      }
      return why;
    }
    const auto suspect = suspects_.find(host);
    return suspect == suspects_.end() ? "" : suspect->second;
  }

  /// Hosts of a collective that failed, if it never succeeded with them, are suspects.
  void judge_collectives() {
    std::set<std::string> planned;
    for (const PlannedStep& job : plan_.collectives()) planned.insert(job.name);
    std::vector<const AcceptanceStep*> steps = plan_.folder().of_stage(Stage::kCollectives);
    std::erase_if(steps, [&](const AcceptanceStep* step) { return !planned.contains(step->name); });
    std::map<std::string, std::set<std::string>> well;  // hosts, by program
    for (const AcceptanceStep* const step : steps) {
      if (step->outcome == Outcome::kAccepted) well[program_of(*step)].insert(step->hosts.begin(), step->hosts.end());
    }
    for (const AcceptanceStep* const step : steps) {
      const std::string what = fmt::format("{} over {} hosts", program_of(*step), step->hosts.size());
      const std::string words =
          fmt::format("{}: {}", what, step->reason.empty() ? name(step->outcome) : std::string_view(step->reason));
      if (step->outcome == Outcome::kNotJudged) made_.open.push_back(words);
      if (!is_bad(step->outcome)) continue;
      add_finding(words, words);
      for (const std::string& host : step->hosts) {
        if (well[program_of(*step)].contains(host)) continue;
        suspects_.try_emplace(host, fmt::format("{} {}, and never succeeded with it", what,
                                                step->outcome == Outcome::kSlow ? "was slow" : "failed"));
      }
    }
  }

  void judge_sweeps() {
    for (const Sweep& sweep : plan_.sweeps()) {
      const std::string words = fmt::format("pairs: {}", sweep.step->reason);
      if (sweep.verdict != nullptr) {
        const std::vector<std::string>& open = sweep.verdict->open;
        made_.open.insert(made_.open.end(), open.begin(), open.end());
      } else if (sweep.step->outcome == Outcome::kFailed) {
        add_finding(words, words);
      } else if (sweep.step->outcome == Outcome::kNotJudged) {
        made_.open.push_back(words);
      }
    }
  }

  void list_unmeasured() {
    const auto add = [&](const std::string& step) { made_.unmeasured.push_back(why_not(step, step)); };
    for (const std::string& host : plan_.folder().hosts()) {
      if (plan_.host_step(host) == nullptr) add("hosts/" + host);
    }
    if (plan_.sweeps().empty()) add("pairs");
    const std::vector<PlannedStep> jobs = plan_.collectives();
    for (const PlannedStep& job : jobs) {
      if (!plan_.is_measured(job, jobs.back())) add(job.name);
    }
    if (jobs.empty()) made_.unmeasured.emplace_back("collectives: fewer than two hosts have passed the pairs");
  }

  /// Differences that are only told, which are warnings, and what was compared with nothing.
  void add_notes() {
    made_.warnings = compared_.noted();
    made_.notes = made_.warnings;
    if (plan_.folder().start().held_against != "each other") return;
    if (plan_.folder().hosts().size() == 2) {
      made_.notes.emplace_back("two hosts cannot tell which of them is as it should be; --expect or more hosts can");
    }
    const std::vector<const AcceptanceStep*> steps = plan_.folder().of_stage(Stage::kCollectives);
    if (std::any_of(steps.begin(), steps.end(), [](const auto* each) { return each->outcome == Outcome::kAccepted; })) {
      made_.notes.emplace_back(
          "collectives ran correctly, and their speed was compared with nothing; "
          "--baseline, --preset or --expect judges it");
    }
  }

  [[nodiscard]] ExitStatus status() const {
    if (!made_.drain.empty() || !made_.findings.empty()) return ExitStatus::kTooSlow;
    const bool is_clear = made_.undecided.empty() && made_.open.empty() && made_.unmeasured.empty();
    return is_clear ? ExitStatus::kOk : ExitStatus::kNotJudged;
  }

  [[nodiscard]] std::string undecided_in_words() const {
    std::set<std::string> reasons;
    std::vector<std::string> names;
    for (const HostReason& each : made_.undecided.all()) {
      reasons.insert(each.reason);
      names.push_back(each.host);
    }
    if (reasons.size() == 1) names = {*reasons.begin()};
    return fmt::format("{} undecided ({})", made_.undecided.all().size(), enumerated(names, kMostNamed));
  }

  [[nodiscard]] std::string headline() const {
    std::vector<std::string> parts = {
        fmt::format("{} of {} hosts accepted", made_.admit.size(), plan_.folder().hosts().size())};
    std::vector<std::string> named;
    for (const HostReason& each : made_.drain.all()) {
      const bool has_state = std::any_of(kStates.begin(), kStates.end(),
                                         [&](std::string_view state) { return each.reason.starts_with(state); });
      named.push_back(fmt::format("{}{} {}", each.host, has_state ? "" : ":", in_short(each.reason)));
    }
    if (!named.empty()) parts.push_back(enumerated(named, kMostNamed));
    for (std::size_t place = 0; place < std::min(in_short_.size(), kMostNamed); ++place)
      parts.push_back(in_short_[place]);
    if (!made_.undecided.empty()) {
      parts.push_back(undecided_in_words());
    } else if (!made_.open.empty()) {
      parts.push_back(made_.open.front());
    }
    if (!made_.unmeasured.empty())
      parts.push_back(fmt::format("{} not measured", counted(made_.unmeasured.size(), "step")));
    return in_one_line(fmt::format("{}", fmt::join(parts, "; ")));
  }

  HostComparison compared_;
  const Plan& plan_;
  std::map<std::string, Sweep> deciding_;
  UnusualNics used_nics_;
  std::map<std::string, std::string> suspects_;
  std::vector<std::string> in_short_;  // of the findings
  RunVerdict made_;
};

std::vector<HostReason> in_lines(const Reasons& reasons) {
  std::vector<HostReason> all = reasons.all();
  for (HostReason& each : all) each.reason = in_one_line(each.reason);
  return all;
}

}  // namespace

RunVerdict judge_run(Plan& plan) { return Judge(plan).judge(); }

AcceptanceVerdict record_of(const RunVerdict& verdict, double seconds, int exit_status) {
  return {exit_status,
          verdict.headline,
          verdict.admit,
          in_lines(verdict.drain),
          in_lines(verdict.undecided),
          std::round(10 * seconds) / 10};
}

std::string enumerated(const std::vector<std::string>& words, std::size_t most) {
  if (words.size() <= most) return fmt::format("{}", fmt::join(words, ", "));
  return fmt::format("{} and {} more",
                     fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(most), ", "),
                     words.size() - most);
}

}  // namespace fabricbench::acceptance
