// The verdict of an acceptance run: hosts to admit, to drain, and undecided ones, in one sentence and one exit status;
// and its files: summary.txt, junit.xml, a textfile for Prometheus, and the line of a Nagios plugin.
#pragma once

#include <ctime>
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

/// `not judged`
[[nodiscard]] std::string in_words(Outcome outcome);

[[nodiscard]] std::string summary_of(const RunFolder& folder, const RunVerdict& verdict, double seconds);

[[nodiscard]] std::string junit_of(const RunFolder& folder, const RunVerdict& verdict, double seconds);

/// Metrics for the textfile collector of node_exporter.
[[nodiscard]] std::string prometheus_of(const RunFolder& folder, const RunVerdict& verdict, double seconds,
                                        std::time_t finished);

/// With its status.
struct NagiosLine {
  int status = 0;
  std::string text;
};
[[nodiscard]] NagiosLine nagios_of(const RunVerdict& verdict, std::size_t hosts, double seconds, bool interrupted);

/// The context of the run: that of the job over most hosts; an empty text without one.
[[nodiscard]] std::string context_of(const RunFolder& folder);

/// Without control characters and line ends.
[[nodiscard]] inline std::string in_one_line(std::string_view text) {
  return cluster::cleaned_line(text, std::string_view::npos);
}

}  // namespace fabricbench::acceptance
