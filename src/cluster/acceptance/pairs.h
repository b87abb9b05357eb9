// What the verdict on the pairs means for an acceptance run.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/acceptance/run_folder.h"
#include "cluster/command/verdict_record.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::acceptance {

/// Hosts with a reason each, in the order in which they were added; the first reason counts.
class Reasons {
 public:
  void add(const std::string& host, std::string reason);
  /// Null: there is none.
  [[nodiscard]] const std::string* find(const std::string& host) const;
  [[nodiscard]] const std::vector<HostReason>& all() const noexcept { return all_; }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

 private:
  std::vector<HostReason> all_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Something slow that no host explains.
struct PathFinding {
  std::vector<std::string> hosts;  ///< none: it is about leaves or rails
  std::string in_short;
  std::string text;
};

struct PairsVerdict {
  Reasons drained;
  Reasons undecided;
  std::set<std::string> fine;
  std::vector<PathFinding> findings;
  std::vector<std::string> open;  ///< what the readings leave open
};

/// `groups_are_meant`: whether hosts may be in groups with slower paths between them.
[[nodiscard]] PairsVerdict meaning_of(const cluster::VerdictRecord& verdict, double tolerance, bool groups_are_meant);

/// Judges the readings in a file, and writes the verdict to another one.
struct JudgedReadings {
  int status = 0;    ///< as of find_slow_links
  std::string said;  ///< its messages, in one line
};
[[nodiscard]] JudgedReadings judge_readings(const std::filesystem::path& records, const std::filesystem::path& verdict,
                                            const cluster::VerdictSettings& settings);

/// The verdict in a file; none without one.
[[nodiscard]] std::optional<cluster::VerdictRecord> read_verdict(const std::filesystem::path& file);

}  // namespace fabricbench::acceptance
