#include "cluster/import/failure.h"

#include <vector>

#include <fmt/format.h>

#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

using Words = std::vector<std::string_view>;

/// In lower case: messages of programs and of MPI about their own failure.
const Words& words_of_program() {
  static const Words words = {"segmentation fault", "completion with error", "failed status", "test failure",
                              "nccl failure",       "error occurred in",     "mpi_err_"};
  return words;
}

/// Messages of launchers about lost processes, which may have been ended when all was done.
const Words& words_of_launcher() {
  static const Words words = {"exited on signal", "killed",     "aborted",
                              "cancelled",        "time limit", "timed out",
                              "bad termination",  "non-zero",   "exited with exit code"};
  return words;
}

/// Messages of NCCL, perftest, iperf3, ssh and the system about failures.
const Words& words_of_failure() {
  static const Words words = {"failure",          "test timeout",     "error",     "unable to", "couldn't",
                              "could not",        "cannot",           "failed",    "refused",   "unreachable",
                              "no route",         "no such",          "not found", "denied",    "not permitted",
                              "connection reset", "connection closed"};
  return words;
}

std::string first_line_with(std::string_view log, const Words& words) {
  for (TextLines lines(log); lines.next();) {
    const std::string line = lower(lines.line());
    // A title may have a column of errors, and a legend speak of them; nccl-tests tells its own behind a #. libibverbs,
    // ssh and others warn of what does no harm, and NCCL tells what it has looked for.
    const bool is_comment = trimmed(line).starts_with('#') && (!has(line, "# error") || has(line, "# errors with"));
    const bool is_notice = has_any(line, {"warning", " nccl info "});
    if (!is_comment && !is_notice && has_any(line, words)) return one_line(lines.line());
  }
  return "";
}

}  // namespace

std::string failure_of_program_in(std::string_view log) { return first_line_with(log, words_of_program()); }

std::string how_it_broke_off(std::string_view log) {
  std::string line = failure_of_program_in(log);
  return line.empty() ? first_line_with(log, words_of_launcher()) : line;
}

std::string words_of_failure_in(std::string_view log) {
  std::string line = first_line_with(log, words_of_failure());
  return line.empty() ? how_it_broke_off(log) : line;
}

std::string wrong_data_in(std::string_view log) {
  static const Words words = {"validation: failed", "data validation error"};
  return first_line_with(log, words);
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
