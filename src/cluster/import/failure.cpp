#include "cluster/import/failure.h"

#include <vector>

#include <fmt/format.h>

#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

using Words = std::vector<std::string_view>;

/// In lower case: messages of launchers and perftest about lost processes.
const Words& words_of_an_end() {
  static const Words words = {"segmentation fault", "exited on signal",      "killed",          "aborted",
                              "cancelled",          "completion with error", "failed status",   "time limit",
                              "timed out",          "test failure",          "bad termination", "exited with exit code",
                              "nccl failure",       "error occurred in",     "mpi_err_",        "non-zero"};
  return words;
}

/// Messages of NCCL, perftest, iperf3, ssh and the system about failures.
const Words& words_of_failure() {
  static const Words words = {"failure",   "test timeout", "error",     "unable to", "couldn't",
                              "could not", "cannot",       "failed",    "refused",   "unreachable",
                              "no route",  "no such",      "not found", "denied",    "not permitted"};
  return words;
}

std::string first_line_with(std::string_view log, const Words& words) {
  for (TextLines lines(log); lines.next();) {
    const std::string line = lower(lines.line());
    // A title may have a column of errors; nccl-tests tells its own behind a #. libibverbs, ssh and others warn of what
    // does no harm.
    const bool is_comment = trimmed(line).starts_with('#') && !has(line, "# error");
    if (!is_comment && !has(line, "warning") && has_any(line, words)) return one_line(lines.line());
  }
  return "";
}

}  // namespace

std::string how_it_broke_off(std::string_view log) { return first_line_with(log, words_of_an_end()); }

std::string words_of_failure_in(std::string_view log) {
  std::string line = first_line_with(log, words_of_failure());
  return line.empty() ? first_line_with(log, words_of_an_end()) : line;
}

std::string why_it_failed(std::string_view log) {
  if (std::string line = words_of_failure_in(log); !line.empty()) return line;
  std::string_view last;
  for (TextLines lines(log); lines.next();) {
    if (!trimmed(lines.line()).empty()) last = lines.line();
  }
  if (last.empty()) return "the log is empty";
  return fmt::format("the log ends without a result, after '{}'", one_line(last));
}

}  // namespace fabricbench::cluster
