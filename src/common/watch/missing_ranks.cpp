#include "common/watch/missing_ranks.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/core/wording.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostAsked = 8;
constexpr const char* kAllWait = "nobody is missing: data are lost, or take longer than the limit allows";
constexpr double kAwake = 0.02;  // MPI polls while it waits, so a rank that uses less processor time is not in MPI

/// What the reports of a group have in common.
struct Comparison {
  std::uint64_t furthest = 0;  // the most steps
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  int with_least = 0;  // so many have these steps
  Seconds longest_stuck = 0;
  bool somebody_polls = false;
  bool somebody_is_silent = false;
};

Comparison compare(const std::map<int, ProcessReport>& reports, std::size_t processes) {
  Comparison comparison;
  for (const auto& [process, report] : reports) {
    comparison.longest_stuck = std::max(comparison.longest_stuck, report.stuck_s);
    if (report.resting) continue;
    comparison.furthest = std::max(comparison.furthest, report.steps);
    if (report.steps < comparison.least) comparison.with_least = 0;
    comparison.least = std::min(comparison.least, report.steps);
    if (report.steps == comparison.least) ++comparison.with_least;
    comparison.somebody_polls = comparison.somebody_polls || report.busy >= kAwake;
  }
  comparison.somebody_is_silent = reports.size() < processes;
  return comparison;
}

/// Of a rank without a report. One that was heard while others were already stuck is not dead.
std::string unreported_text(int rank, const std::map<int, Seconds>& silences, Seconds longest_stuck) {
  const auto since = silences.find(rank);
  if (since == silences.end() || since->second >= longest_stuck / 2) return silent_text(rank, silences);
  return fmt::format("heard {} ago, and is not stuck in the same step", readable_seconds(since->second));
}

/// Whether it has nothing to do, so that nobody waits for it.
bool is_at_rest(const ProcessReport& report) { return report.resting && report.stuck_s == 0; }

/// Why the others may wait for this process; empty: it waits for others.
std::string why_missing(const ProcessReport& report, const Comparison& all) {
  if (report.resting) return "stuck";
  const bool sleeps = all.somebody_polls && report.busy < kAwake;
  if (report.steps < all.furthest) {
    // Operations of some collectives end earlier on some ranks, so that who is silent stops others at different ones,
    // and of several that are behind each may wait for another.
    const bool is_last = report.steps == all.least && all.with_least == 1 && !all.somebody_is_silent;
    return sleeps || is_last ? "has not arrived" : "behind, and may wait too";
  }
  return sleeps ? "sleeps, as in a call that does not return" : "";
}

/// Whether it reports, but hears nothing of the first process, which answers all that it hears.
bool is_deaf(const ProcessReport& report, const Comparison& all) {
  return report.deaf_s > 0 && report.deaf_s >= all.longest_stuck / 2;
}

/// `missing`: how many they wait for.
std::string waiting_line(const std::vector<int>& waiting, std::size_t missing, const std::string& first) {
  const char* whom = missing == 0 ? "" : missing == 1 ? " for it" : " for them";
  return fmt::format("{} wait{}{}, the first is {}", counted(waiting.size(), "rank"), waiting.size() == 1 ? "s" : "",
                     whom, first);
}

std::string line_of(int process, const std::vector<std::string>& names, const std::string& what) {
  return fmt::format("{}: {}", names[static_cast<std::size_t>(process)], what);
}

}  // namespace

std::string silent_text(int rank, const std::map<int, Seconds>& silences) {
  const auto since = silences.find(rank);
  const std::string time = since == silences.end() ? "" : fmt::format(" for {}", readable_seconds(since->second));
  return fmt::format("silent{}: stopped, dead or out of reach", time);
}

std::vector<std::string> who_is_missing(const std::map<int, ProcessReport>& reports,
                                        const std::vector<std::string>& names, const std::map<int, Seconds>& silences) {
  const Comparison all = compare(reports, names.size());
  std::vector<std::string> missing;
  std::vector<int> waiting;
  for (int process = 0; process < static_cast<int>(names.size()); ++process) {
    const auto found = reports.find(process);
    if (found == reports.end()) {
      missing.push_back(line_of(process, names, unreported_text(process, silences, all.longest_stuck)));
      continue;
    }
    const ProcessReport& report = found->second;
    if (is_at_rest(report)) continue;
    if (is_deaf(report, all)) {
      missing.push_back(
          line_of(process, names,
                  fmt::format("its reports arrive here, but it has heard nothing of {} for {}: what is sent "
                              "to it may be lost",
                              names.front(), readable_seconds(report.deaf_s))));
    } else if (const std::string why = why_missing(report, all); why.empty()) {
      waiting.push_back(process);
    } else {
      missing.push_back(line_of(process, names,
                                fmt::format("{}: {} for {}", why, report.activity, readable_seconds(report.stuck_s))));
    }
  }
  const std::size_t count = missing.size();
  std::vector<std::string> lines = shortened(std::move(missing), kMostNamed, "more");
  if (!waiting.empty()) {
    const int first = waiting.front();
    lines.push_back(waiting_line(waiting, count, line_of(first, names, reports.at(first).activity)));
  }
  if (count == 0 && waiting.size() > 1) lines.emplace_back(kAllWait);
  return lines;
}

std::vector<int> ranks_to_ask(const std::map<int, ProcessReport>& reports) {
  const Comparison all = compare(reports, reports.size());
  std::vector<int> stuck;
  std::vector<int> waiting;
  for (const auto& [process, report] : reports) {
    if (is_at_rest(report)) continue;
    (why_missing(report, all).empty() ? waiting : stuck).push_back(process);
  }
  std::vector<int>& asked = stuck.empty() ? waiting : stuck;
  asked.resize(std::min(asked.size(), kMostAsked));
  return asked;
}

}  // namespace fabricbench
