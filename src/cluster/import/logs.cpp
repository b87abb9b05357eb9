#include "cluster/import/logs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

/// Words with which tools begin lines, but for blanks.
constexpr std::array<std::string_view, 20> kBeginnings = {"# nccl-tests version",
                                                          "# rccl-tests version",
                                                          "# Collective test starting",
                                                          "# nThread ",
                                                          "# Using devices",
                                                          "# OSU ",
                                                          "# Size ",
                                                          "#bytes ",
                                                          "RDMA_Write ",
                                                          "RDMA_Read ",
                                                          "Send BW Test",
                                                          "Send Bidirectional",
                                                          "[ ID] Interval",
                                                          "Connecting to host ",
                                                          "Client connecting to",
                                                          "Server listening on",
                                                          "START mpiGraph",
                                                          "# Intel(R) MPI Benchmarks",
                                                          "# Benchmarking ",
                                                          "\"start\":"};

bool is_blank(char letter) { return letter == ' ' || letter == '\t'; }
bool is_word(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

/// Without the escape sequences of terminals (ECMA-48): ESC [ ... letter, and ESC with one letter.
std::string without_colours(std::string_view text) {
  constexpr char kEscape = '\x1b';
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != kEscape) {
      plain += text[at];
      continue;
    }
    if (++at < text.size() && text[at] == '[') {
      while (at + 1 < text.size() && text[at + 1] >= ' ' && text[at + 1] < '@') ++at;
      ++at;
    }
  }
  return plain;
}

/// What a program printed of which all lines are entries of a log; the text itself where it is none of these.
std::string without_json(std::string_view text) {
  std::string plain;
  for (TextLines lines(text); lines.next();) {
    const auto printed = printed_in(lines.line());
    if (!printed) return std::string(text);
    plain += *printed;
  }
  return plain;
}

/// What stands before the first line that a tool is known to begin, without blanks around it; empty where there is
/// nothing.
std::string_view before_first_line(std::string_view text) {
  for (TextLines lines(text); lines.next();) {
    for (const std::string_view beginning : kBeginnings) {
      const std::size_t at = lines.line().find(beginning);
      if (at == std::string_view::npos) continue;
      std::string_view before = trimmed(lines.line().substr(0, at));
      if (before.ends_with('{')) before.remove_suffix(1);  // of JSON
      return trimmed(before);
    }
  }
  return "";
}

/// The length of a label of this form at the beginning of a line; nothing where there is none.
std::optional<std::size_t> length_of_label(std::string_view line, std::string_view form) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < form.size();) {
    const bool word = is_word(form[i]);
    if (!word && !is_blank(form[i])) {
      if (at == line.size() || line[at] != form[i]) return std::nullopt;
      ++at;
      ++i;
      continue;
    }
    const auto alike = [word](char letter) { return word ? is_word(letter) : is_blank(letter); };
    const std::size_t begin = at;
    while (at < line.size() && alike(line[at])) ++at;
    while (i < form.size() && alike(form[i])) ++i;
    if (at == begin) return std::nullopt;
  }
  const bool open = at < line.size() && is_word(form.back()) && !is_blank(line[at]);
  return open ? std::nullopt : std::optional(at);
}

/// In lower case: messages of programs and of MPI about their own failure.
constexpr auto kOfPrograms =
    std::to_array<std::string_view>({"segmentation fault", "completion with error", "failed status", "test failure",
                                     "nccl failure", "error occurred in", "mpi_err_"});

/// Messages of launchers about lost processes, which may have been ended when all was done.
constexpr auto kOfLaunchers =
    std::to_array<std::string_view>({"exited on signal", "killed", "aborted", "cancelled", "time limit", "timed out",
                                     "bad termination", "non-zero", "exited with exit code"});

/// Messages of NCCL, perftest, iperf3, ssh and the system about failures.
constexpr auto kOfFailure =
    std::to_array<std::string_view>({"failure", "test timeout", "error", "unable to", "couldn't", "could not", "cannot",
                                     "failed", "refused", "unreachable", "no route", "no such", "not found", "denied",
                                     "not permitted", "connection reset", "connection closed"});

std::string first_line_with(std::string_view log, Wanted words) {
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

std::optional<std::string> printed_in(std::string_view line) {
  constexpr std::string_view kLogfmt = " msg=";
  const std::size_t logfmt = line.find(kLogfmt);
  if (!line.starts_with('{') && logfmt == std::string_view::npos) return std::nullopt;
  // The text of logfmt is quoted as a string of JSON is.
  nlohmann::json entry;
  if (line.starts_with('{')) {
    entry = nlohmann::json::parse(line, nullptr, false);
  } else {
    const std::string_view quoted = line.substr(0, line.rfind('"') + 1);
    const std::string_view text = quoted.substr(std::min(logfmt + kLogfmt.size(), quoted.size()));
    entry["msg"] = nlohmann::json::parse(text, nullptr, false);
    if (!entry["msg"].is_string() && text.size() > 1) entry["msg"] = text.substr(1, text.size() - 2);  // with a raw tab
  }
  for (const char* key : {"log", "line", "msg", "message", "MESSAGE"}) {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_string()) continue;
    const bool keeps_end = key == std::string_view("log");  // docker
    return found->get<std::string>() + (keeps_end ? "" : "\n");
  }
  return std::nullopt;
}

PlainLog without_labels(std::string_view text) {
  PlainLog log{without_colours(without_json(text)), ""};
  const std::string form(before_first_line(log.text));
  if (form.empty() || form.starts_with('{')) {  // not all lines are JSON
    log.label = one_line(form);
    return log;
  }
  std::string plain;
  for (TextLines lines(log.text); lines.next();) {
    std::string_view line = std::string_view(log.text).substr(lines.begin(), lines.end() - lines.begin());
    const std::string_view indented = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (const auto label = length_of_label(indented, form)) line = indented.substr(*label);
    plain += line;
  }
  if (before_first_line(plain).empty()) {
    log.text = std::move(plain);
  } else {
    log.label = one_line(form);
  }
  return log;
}

std::string failure_of_program_in(std::string_view log) { return first_line_with(log, kOfPrograms); }

std::string how_it_broke_off(std::string_view log) {
  std::string line = failure_of_program_in(log);
  return line.empty() ? first_line_with(log, kOfLaunchers) : line;
}

std::string words_of_failure_in(std::string_view log) {
  std::string line = first_line_with(log, kOfFailure);
  return line.empty() ? how_it_broke_off(log) : line;
}

std::string wrong_data_in(std::string_view log) {
  return first_line_with(log, {"validation: failed", "data validation error"});
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
