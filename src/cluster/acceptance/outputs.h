// The files of a verdict: summary.txt, junit.xml, a textfile for Prometheus, and the line of a Nagios plugin.
#pragma once

#include <ctime>
#include <string>

#include "cluster/acceptance/run_folder.h"
#include "cluster/acceptance/verdict.h"

namespace fabricbench::acceptance {

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

}  // namespace fabricbench::acceptance
