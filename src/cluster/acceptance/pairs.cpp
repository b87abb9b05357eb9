#include "cluster/acceptance/stages.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/record_file.h"
#include "cluster/launch/job_output.h"
#include "cluster/pairs/attribution/attribution.h"
#include "cluster/run/file.h"
#include "common/core/error.h"
#include "common/host/files.h"

namespace fabricbench::acceptance {
namespace {

using cluster::Blame;
using cluster::FindingRecord;
using cluster::QuestionRecord;
using cluster::VerdictRecord;
using FindingsOfHosts = std::map<std::string, std::vector<const FindingRecord*>>;

bool is_decided(const FindingRecord& finding) { return finding.blame != Blame::kUndecided; }

/// Whether it is about two hosts and what is between them.
bool is_path(const FindingRecord& finding) {
  return finding.hosts.size() == 2 && finding.blame != Blame::kDevice && finding.blame != Blame::kCutOff;
}

/// Whether its hosts explain it.
bool is_on_hosts(const FindingRecord& finding) { return !finding.hosts.empty() && !is_path(finding); }

std::string with_rates(const FindingRecord& finding, const std::string& text) {
  if (!(finding.rate > 0) || !(finding.expected > 0)) return text;
  return fmt::format("{}: {:.3g} of {:.3g} GB/s", text, finding.rate / 1e9, finding.expected / 1e9);
}

std::string_view way_of(cluster::Direction direction) {
  switch (direction) {
    case cluster::Direction::kSends: return "slow to send";
    case cluster::Direction::kReceives: return "slow to receive";
    default: return "slow";
  }
}

/// Why a host is in a list, by the first finding that its hosts explain.
std::string reason_of(std::string_view list, const std::vector<const FindingRecord*>& findings) {
  const auto own = std::find_if(findings.begin(), findings.end(),
                                [](const auto* each) { return is_decided(*each) && is_on_hosts(*each); });
  if (own == findings.end()) return std::string(list);
  const FindingRecord& finding = **own;
  std::string in_short(list);
  if (list == "slow") {
    in_short = fmt::format("{}{}{}", way_of(finding.direction), finding.rail.empty() ? "" : " over ", finding.rail);
  }
  return fmt::format("{} ({}{}{})", with_rates(finding, in_short), finding.text, finding.reason.empty() ? "" : "; ",
                     finding.reason);
}

void add_drained(PairsVerdict& meaning, const cluster::ListsRecord& lists, FindingsOfHosts& about) {
  for (const auto& [words, list] : {std::pair<std::string_view, const cluster::HostSet*>{"slow", &lists.slow},
                                    {"dead", &lists.dead},
                                    {"cut off", &lists.cut_off},
                                    {"wrong data", &lists.wrong_data},
                                    {"unsteady", &lists.unsteady}}) {
    for (const std::string& host : list->hosts) meaning.drained.add(host, reason_of(words, about[host]));
  }
}

void add_undecided(PairsVerdict& meaning, const VerdictRecord& verdict, FindingsOfHosts& about) {
  std::map<std::string, std::string> questions;
  for (const QuestionRecord& question : verdict.questions) {
    for (const std::string& host : {question.host, question.other_host}) questions.try_emplace(host, question.why);
  }
  for (const auto& [words, list] :
       {std::pair<std::string_view, const cluster::HostSet*>{"suspect", &verdict.lists.suspect},
        {"not judged", &verdict.lists.not_judged}}) {
    for (const std::string& host : list->hosts) {
      const auto& findings = about[host];
      const auto open =
          std::find_if(findings.begin(), findings.end(), [](const auto* each) { return !is_decided(*each); });
      std::string more = open == findings.end() ? questions[host] : (*open)->text;
      if (more.empty() && list == &verdict.lists.not_judged) more = verdict.headline;
      meaning.undecided.add(host, fmt::format("pairs: {}{}{}", words, more.empty() ? "" : ": ", more));
    }
  }
  for (const QuestionRecord& question : verdict.questions) {  // about a path between two hosts that are fine
    if (question.host.empty() || question.other_host.empty()) continue;
    if (meaning.undecided.find(question.host) != nullptr || meaning.undecided.find(question.other_host) != nullptr)
      continue;
    meaning.open.push_back(fmt::format("{} and {}: {}", question.host, question.other_host, question.why));
  }
}

/// Groups of hosts with slower paths between them: only the site knows whether these are meant.
void add_open_groups(PairsVerdict& meaning, const VerdictRecord& verdict, double tolerance) {
  constexpr std::size_t kMostGroups = 4;  // named in a sentence
  for (const cluster::GroupingRecord& grouping : verdict.groupings) {
    if (grouping.across >= 1 - tolerance || grouping.groups.size() < 2) continue;
    std::vector<std::string> names;
    for (const cluster::NamedHosts& group : grouping.groups) {
      if (names.size() < kMostGroups) names.push_back(group.set.folded);
    }
    meaning.open.push_back(
        fmt::format("{} groups of hosts ({}{}) have {:.0f} % of the bandwidth between them that they have within; {}",
                    grouping.groups.size(), fmt::join(names, "; "), grouping.groups.size() > kMostGroups ? "; ..." : "",
                    100 * grouping.across,
                    grouping.is_given ? "if they are meant to, say --allow groups"
                                      : "--locality tells leaves from slow uplinks, and --allow groups accepts them"));
  }
}

void add_kinds(PairsVerdict& meaning, const VerdictRecord& verdict) {
  if (!verdict.kinds || verdict.kinds->empty()) return;
  std::vector<std::string> kinds;
  for (const cluster::HostKindRecord& kind : *verdict.kinds) {
    kinds.push_back(kind.rate > 0 ? fmt::format("{} with {:.3g} GB/s", kind.set.folded, kind.rate / 1e9)
                                  : fmt::format("{} with unknown", kind.set.folded));
  }
  meaning.open.push_back(
      fmt::format("there are two kinds of hosts, {}: readings alone cannot tell which is as it should be",
                  fmt::join(kinds, " and ")));
}

}  // namespace

void Reasons::add(const std::string& host, std::string reason) {
  if (places_.try_emplace(host, all_.size()).second) all_.push_back({host, std::move(reason)});
}

const std::string* Reasons::find(const std::string& host) const {
  const auto found = places_.find(host);
  return found == places_.end() ? nullptr : &all_[found->second].reason;
}

PairsVerdict meaning_of(const VerdictRecord& verdict, double tolerance, bool groups_are_meant) {
  PairsVerdict meaning;
  FindingsOfHosts about;
  for (const FindingRecord& finding : verdict.findings) {
    for (const std::string& host : finding.hosts) about[host].push_back(&finding);
    if (!is_decided(finding) || is_on_hosts(finding)) continue;
    meaning.findings.push_back(
        {finding.hosts, finding.text.substr(0, finding.text.find(':')), with_rates(finding, finding.text)});
  }
  add_drained(meaning, verdict.lists, about);
  meaning.fine.insert(verdict.lists.fine.hosts.begin(), verdict.lists.fine.hosts.end());
  add_undecided(meaning, verdict, about);
  // Findings explain the groups.
  if (!groups_are_meant && meaning.findings.empty()) add_open_groups(meaning, verdict, tolerance);
  add_kinds(meaning, verdict);
  if (verdict.judged == cluster::Judged::kUnknown && meaning.undecided.empty() && meaning.open.empty()) {
    meaning.open.push_back(verdict.headline);
  }
  return meaning;
}

JudgedReadings judge_readings(const std::filesystem::path& records, const std::filesystem::path& verdict,
                              const cluster::VerdictSettings& settings) {
  try {
    cluster::RecordReader reader;
    reader.read(records.string());
    const cluster::Records read = reader.finish();
    if (read.sweep.readings.empty()) throw Error(ExitStatus::kNotJudged, "there are no readings");
    const bool has_ports = std::any_of(read.sweep.routes.begin(), read.sweep.routes.end(),
                                       [](const cluster::Route& route) { return route.port_rate > 0; });
    if (settings.expected_of_port > 0 && !has_ports) {
      throw Error(ExitStatus::kNotJudged,
                  "no record of the pairs has the rate of a port; give the rate of a host's network by --line-rate");
    }
    const cluster::VerdictRecord made =
        cluster::record_of(read.sweep, cluster::judge(read.sweep, settings), settings, read.notices);
    baseline::replace_file(verdict.string(), record::json_line(record::to_json(made)));
    const bool is_slow = made.judged == cluster::Judged::kSlow;
    const ExitStatus unless_clean = is_slow ? ExitStatus::kTooSlow : ExitStatus::kNotJudged;
    return {static_cast<int>(made.judged == cluster::Judged::kClean ? ExitStatus::kOk : unless_clean),
            cluster::cleaned_line(fmt::format("{}", fmt::join(read.notices, " ")))};
  } catch (const Error& problem) {
    return {static_cast<int>(problem.status()), cluster::cleaned_line(problem.what())};
  }
}

std::optional<VerdictRecord> read_verdict(const std::filesystem::path& file) {
  std::optional<VerdictRecord> verdict;
  cluster::for_each_record(host::read_text(file).value_or(""),
                           [&](const std::string& kind, record::LineReader& reader) {
                             if (kind == "slow_links" && !verdict) verdict = reader.read<VerdictRecord>();
                           });
  return verdict;
}

}  // namespace fabricbench::acceptance
