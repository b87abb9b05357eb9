// The verdict of an acceptance run: hosts to admit, to drain, and undecided ones, in one sentence and one exit status.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/acceptance/plan.h"
#include "cluster/launch/job_output.h"

namespace fabricbench::acceptance {

/// Everything that the outputs say.
struct RunVerdict {
  std::vector<std::string> admit;
  Reasons drain;
  Reasons undecided;
  std::vector<std::string> findings;  ///< that no host explains
  std::vector<std::string> open;
  std::vector<std::string> unmeasured;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;  ///< those of the notes that tell of differences
  int exit_status = 0;
  std::string headline;
};

/// Judges the run as it is. Adds a line for each host about which the comparison of all hosts says something new.
[[nodiscard]] RunVerdict judge_run(Plan& plan);

/// The verdict's record. `exit_status`: of the run, which may have been interrupted.
[[nodiscard]] AcceptanceVerdict record_of(const RunVerdict& verdict, double seconds, int exit_status);

/// `a, b, c and 2 more`.
[[nodiscard]] std::string enumerated(const std::vector<std::string>& words, std::size_t most);

/// Without control characters and line ends.
[[nodiscard]] inline std::string in_one_line(std::string_view text) {
  return cluster::cleaned_line(text, std::string_view::npos);
}

}  // namespace fabricbench::acceptance
