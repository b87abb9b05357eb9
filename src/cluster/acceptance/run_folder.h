// The folder of an acceptance run: acceptance.jsonl, which is only appended to, and files of records beside it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/core/ownership.h"
#include "common/record/acceptance.h"
#include "common/record/context.h"
#include "common/record/json.h"
#include "common/record/row.h"

namespace fabricbench::acceptance {

inline constexpr std::string_view kStateFile = "acceptance.jsonl";
inline constexpr std::string_view kCut = "ended by --time";  // begins the reason of a sweep that was ended early
inline constexpr std::string_view kBrokenOff = "interrupted";
inline constexpr std::string_view kAgain = "-again.jsonl";  // ends the file of a second measurement

/// What became of something, and why; an empty reason: nothing to say.
struct Judged {
  Outcome outcome = Outcome::kAccepted;
  std::string reason;
  bool operator==(const Judged&) const = default;
};

[[nodiscard]] Outcome outcome_of_status(int status);

/// Slow or failed.
[[nodiscard]] constexpr bool is_bad(Outcome outcome) {
  return outcome == Outcome::kSlow || outcome == Outcome::kFailed;
}

/// How many of these hosts have to agree for another one to be the exception.
[[nodiscard]] constexpr std::size_t enough(std::size_t hosts) { return (2 * hosts + 2) / 3; }
inline constexpr std::size_t kFewestHosts = 3;  // among which one can be the exception

/// The records of a job, as far as they are read here.
struct JobRecords {
  std::optional<Context> context;  ///< the first one
  std::vector<Row> rows;
  std::optional<Ending> end;         ///< the last one
  std::optional<Judged> comparison;  ///< with a baseline, the last one
  bool any = false;                  ///< whether there is a record
};

/// Leaves out lines that cannot be read. Throws Error (kFailure), with `whose`, for a record that no program writes.
[[nodiscard]] JobRecords records_in(std::string_view text, std::string_view whose);

/// The hosts that a step's name tells, behind its stage: of a sweep, those after whose repair it was made.
[[nodiscard]] std::vector<std::string> hosts_in_name(const std::string& name);

/// Whether words have this one.
template <typename Words>
[[nodiscard]] bool has(const Words& words, std::string_view one) {
  return std::find(words.begin(), words.end(), one) != words.end();
}

/// A name of a file for a host, whatever the host is called.
[[nodiscard]] std::string file_name(std::string_view host);

class RunFolder {
 public:
  /// Makes the folder of a new run in `path`. Throws UsageError if it cannot be made.
  static void begin(const std::filesystem::path& path, const AcceptanceStart& start);

  /// Throws Error (kFailure) if the folder has a link, by which files outside of it would be written, or a pipe, which
  /// has no end.
  static void check(const std::filesystem::path& path);

  /// Takes away a last line that was cut off, so that the next one begins a line of its own.
  static void repair(const std::filesystem::path& path);

  /// Reads what there is; the last line of a step counts. Throws Error (kFailure) for a damaged line; one that was cut
  /// off is left out.
  explicit RunFolder(std::filesystem::path path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const AcceptanceStart& start() const noexcept { return start_; }
  [[nodiscard]] const std::vector<std::string>& hosts() const noexcept { return start_.hosts; }

  /// The step of that name, whatever became of it; null: there is none.
  [[nodiscard]] const AcceptanceStep* find(const std::string& name) const;
  /// The same, and null if it was not measured.
  [[nodiscard]] const AcceptanceStep* measured(const std::string& name) const;
  /// Hosts in their order in the list, others in the order of their last lines.
  [[nodiscard]] std::vector<const AcceptanceStep*> of_stage(Stage stage) const;
  [[nodiscard]] const std::list<AcceptanceStep>& steps() const noexcept { return steps_; }

  void add(AcceptanceStep step);
  void add(const AcceptanceVerdict& verdict);

  /// The file of records of a step; none: an empty text.
  [[nodiscard]] std::string text_of(const AcceptanceStep& step) const;
  /// What is in it.
  [[nodiscard]] JobRecords records_of(const AcceptanceStep& step) const;

  /// Writes a file of the folder as a whole: readers see the old one or the new one.
  void replace(const std::filesystem::path& name, const std::string& text) const;

 private:
  void take(std::string_view text);
  void take_start(const record::Json& line);
  void check_step(const record::Json& line) const;
  void keep(AcceptanceStep step);
  void append(const std::string& line) const;

  std::filesystem::path path_;
  AcceptanceStart start_;
  std::unordered_set<std::string> known_;  // hosts
  std::list<AcceptanceStep> steps_;
  std::unordered_map<std::string, std::list<AcceptanceStep>::iterator> places_;  // by name
};

}  // namespace fabricbench::acceptance
