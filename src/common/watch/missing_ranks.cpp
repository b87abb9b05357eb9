#include "common/watch/missing_ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "common/core/shortened_list.h"
#include "common/core/units.h"
#include "common/core/wording.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostAsked = 8;
constexpr double kAwake = 0.02;  // MPI polls while it waits, so a rank that uses less processor time is not in MPI

enum class Standing { kWaiting, kBehind, kAsleep, kResting, kStuckAtRest };

/// How the ranks that report stand to each other.
class Standings {
 public:
  explicit Standings(const std::map<int, ProcessReport>& reports) {
    for (const auto& [process, report] : reports) {
      if (report.resting) continue;
      furthest_ = std::max(furthest_, report.steps);
      somebody_polls_ = somebody_polls_ || report.busy >= kAwake;
    }
  }

  [[nodiscard]] Standing of(const ProcessReport& report) const {
    if (report.resting) return report.stuck_s > 0 ? Standing::kStuckAtRest : Standing::kResting;
    if (report.steps < furthest_) return Standing::kBehind;
    return somebody_polls_ && report.busy < kAwake ? Standing::kAsleep : Standing::kWaiting;
  }

 private:
  std::uint64_t furthest_ = 0;
  bool somebody_polls_ = false;
};

const char* words_for(Standing standing) {
  switch (standing) {
    case Standing::kBehind: return "has not arrived";
    case Standing::kAsleep: return "asleep while others poll";
    default: return "stuck";
  }
}

std::string line_of(int process, const std::vector<std::string>& names, const std::string& what) {
  return fmt::format("{}: {}", names[static_cast<std::size_t>(process)], what);
}

}  // namespace

std::vector<std::string> who_is_missing(const std::map<int, ProcessReport>& reports,
                                        const std::vector<std::string>& names) {
  const Standings standings(reports);
  std::vector<std::string> missing;
  std::vector<int> waiting;
  for (int process = 0; process < static_cast<int>(names.size()); ++process) {
    const auto report = reports.find(process);
    if (report == reports.end()) {
      missing.push_back(line_of(process, names, kSilent));
      continue;
    }
    const Standing standing = standings.of(report->second);
    if (standing == Standing::kWaiting) waiting.push_back(process);
    if (standing == Standing::kWaiting || standing == Standing::kResting) continue;
    missing.push_back(line_of(process, names,
                              fmt::format("{}: {} for {}", words_for(standing), report->second.activity,
                                          readable_seconds(report->second.stuck_s))));
  }
  missing = shortened(std::move(missing), kMostNamed, "more");
  if (!waiting.empty()) {
    const ProcessReport& first = reports.at(waiting.front());
    missing.push_back(fmt::format("{} wait{}, the first is {}", counted(waiting.size(), "rank"),
                                  waiting.size() == 1 ? "s" : "", line_of(waiting.front(), names, first.activity)));
  }
  return missing;
}

std::vector<int> ranks_to_ask(const std::map<int, ProcessReport>& reports) {
  const Standings standings(reports);
  std::vector<int> stuck;
  std::vector<int> waiting;
  for (const auto& [process, report] : reports) {
    const Standing standing = standings.of(report);
    if (standing == Standing::kResting) continue;
    (standing == Standing::kWaiting ? waiting : stuck).push_back(process);
  }
  waiting.resize(std::min<std::size_t>(waiting.size(), 1));
  stuck.resize(std::min(stuck.size(), kMostAsked));
  return stuck.empty() ? waiting : stuck;
}

}  // namespace fabricbench
