#include "cluster/import/tool_runs.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "cluster/import/logs.h"
#include "cluster/import/pair_name.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

std::int64_t largest_size_of(const ToolRun& run) {
  std::int64_t largest = ImportedKind::kNoSize;
  for (const SizeRow& row : run.rows) largest = std::max(largest, row.size_bytes);
  return largest;
}

bool has_rows_of_a_pair(const ToolRun& run) { return run.other_test.text.empty() && !run.rows.empty(); }

/// What is wrong with the data of a run; empty where nothing is.
std::string wrong_data_of(const ToolRun& run) {
  const auto wrong = std::ranges::find_if(run.rows, [](const SizeRow& row) { return !row.wrong.empty(); });
  if (wrong != run.rows.end()) return fmt::format("{} at {} B, line {}", wrong->wrong, wrong->size_bytes, wrong->line);
  return run.wrong.text.empty() ? "" : fmt::format("{}, line {}", run.wrong.text, run.wrong.line);
}

class RunsOfPairs {
 public:
  RunsOfPairs(Imported& found, const ImportSource& source, const std::vector<ToolRun>& runs)
      : found_(found), source_(source), runs_(runs), named_(pair_in_name(source.path)) {}

  void add() {
    for (const ToolRun& run : runs_) note_lines_of(run);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].other_test.text.empty()) add(runs_[i], text_of(source_.text, runs_, i));
    }
    for (auto& [run, reading, words] : failed_) {
      const std::size_t first = found_.readings.size();
      found_.add_failed_run(reading, std::move(words));
      add_gpus(*run, first);
    }
  }

 private:
  void note_lines_of(const ToolRun& run) {
    if (!run.other_test.text.empty()) return found_.notes.push_back(run.other_test);
    if (const ImportNote& line = run.unknown_unit; !line.text.empty()) {
      throw UsageError(fmt::format("{}:{}: {}; make a CSV of it, and give --unit", source_.path, line.line, line.text));
    }
    for (const ImportNote& note : run.notes) found_.note(note.line, note.text + ", and is left out");
  }

  void add(const ToolRun& run, std::string_view text) {
    if (run.names_hosts && run.has_ended) tell_of_lost_run(run, text);
    const auto pair = pair_of(run);
    if (!pair) return;
    const std::size_t first = found_.readings.size();
    const bool has_result = !run.rows.empty() && (run.has_ended || !run.names_hosts);
    std::string wrong = wrong_data_of(run);
    std::string words = run.failure;
    if (has_result) {
      words = run.has_ended ? "" : failure_of_program_in(text.substr(run.behind_rows - run.begin));
    } else if (words.empty() && !run.cut_line) {
      words = words_of_failure_in(text);
    }
    if (!wrong.empty()) {
      found_.add_wrong(reading_of(run, *pair), std::move(wrong));
    } else if (!words.empty()) {
      failed_.emplace_back(&run, reading_of(run, *pair), std::move(words));
    } else if (run.cut_line) {
      found_.note(*run.cut_line, "the file ends within this line");
    } else if (has_result) {
      add_rows(run, reading_of(run, *pair));
    } else if (run.names_hosts || std::ranges::none_of(runs_, has_rows_of_a_pair)) {
      found_.note(0, why_it_failed(text));
    }
    add_gpus(run, first);
  }

  /// A run that failed before its first line, behind another one in a log of several pairs: nothing tells which hosts
  /// it is about.
  void tell_of_lost_run(const ToolRun& run, std::string_view text) {
    const std::string words = words_of_failure_in(text.substr(run.closing - run.begin));
    if (words.empty() || named_) return;
    const auto lines = std::count(source_.text.data(), text.data() + text.size(), '\n');
    found_.lose(lines + 1, fmt::format("a run before this line is not understood: {}", words));
  }

  /// The hosts that its lines name, or else the log's name. Nothing where they are no pair, with a note.
  [[nodiscard]] std::optional<PairName> pair_of(const ToolRun& run) {
    std::vector<std::string> hosts;
    for (const ToolRank& rank : run.ranks) {
      if (std::ranges::find(hosts, rank.host) == hosts.end()) hosts.push_back(rank.host);
    }
    std::string why;
    if (run.without_mpi) {
      why = "ranks appear twice, on different hosts: the program was built without MPI, and its runs were apart";
    } else if (named_ && (!run.names_hosts || (hosts.size() < 2 && !run.has_ended))) {
      return named_;
    } else if (hosts.empty()) {
      why = fmt::format("{}its name does not contain the pair; {}",
                        run.names_hosts ? "no line names its hosts, and " : "", kHowToName);
    } else if (hosts.size() == 2) {
      return PairName{hosts[0], hosts[1]};
    } else {
      why = fmt::format("it ran on {} {}, not on a pair of hosts", hosts.size(), hosts.size() == 1 ? "host" : "hosts");
    }
    if (found_.notes.empty() || found_.notes.back().text != why) found_.note(0, why);
    return std::nullopt;
  }

  /// A reading of the run, without an outcome as yet.
  [[nodiscard]] Reading reading_of(const ToolRun& run, const PairName& pair) {
    ImportedKind kind{run.test, largest_size_of(run)};
    if (run.ranks.size() > 2 && !run.test.empty()) kind.test += fmt::format(", {} ranks", run.ranks.size());
    Reading reading =
        run.backwards ? found_.between(pair.to, pair.from, kind) : found_.between(pair.from, pair.to, kind);
    const bool has_gpus = run.ranks.size() == 2;
    reading.from_rail = found_.rail_of(has_gpus ? "gpu" + run.ranks[0].device : run.rail);
    reading.to_rail = found_.rail_of(has_gpus ? "gpu" + run.ranks[1].device : run.rail);
    reading.both_ways = run.both_ways;
    return reading;
  }

  /// Adds the rows of the largest size, of each line the first.
  void add_rows(const ToolRun& run, const Reading& reading) {
    const std::int64_t largest = largest_size_of(run);
    std::int64_t line = -1;
    for (const SizeRow& row : run.rows) {
      if (std::exchange(line, row.line) == row.line && !row.placement.empty()) continue;
      if (row.size_bytes == largest) {
        found_.add(reading, row.rate, row.line);
      } else {
        ++found_.smaller_sizes;
      }
    }
  }

  /// Keeps the GPUs of the readings from `first`.
  void add_gpus(const ToolRun& run, std::size_t first) {
    for (std::size_t place = first; run.ranks.size() == 2 && place < found_.readings.size(); ++place) {
      found_.gpus.push_back({place, run.ranks[0].pci, run.ranks[1].pci});
    }
  }

  Imported& found_;
  const ImportSource& source_;
  const std::vector<ToolRun>& runs_;
  std::optional<PairName> named_;
  std::vector<std::tuple<const ToolRun*, Reading, std::string>> failed_;  // with their words of failure
};

}  // namespace

void take_row(ToolRun& run, const TextLines& lines, std::optional<SizeRow> row) {
  run.behind_rows = lines.end();
  if (!lines.is_whole()) {
    run.cut_line = lines.number();
  } else if (!row) {
    run.notes.push_back({lines.number(), "a row of the table has no figure"});
  } else {
    row->line = lines.number();
    run.rows.push_back(*std::move(row));
  }
}

void take_row(ToolRun& run, const TextLines& lines, const FigureColumn& column) {
  const auto words = words_of(lines.line());
  const auto size = words.empty() ? std::nullopt : integer_in(words[0]);
  if (!size || (words.size() < 2 && lines.is_whole())) return;  // a launcher's
  const auto figure = column.place < words.size() ? number_in(words[column.place]) : std::nullopt;
  if (!figure) return take_row(run, lines, std::nullopt);
  SizeRow row{.size_bytes = *size, .wrong = words.back().starts_with("Fail") ? "the check says Fail" : ""};
  const double value = *figure * column.worth;
  row.time_s = value;
  if (column.is_rate) {
    row.rate = value;
    row.time_s = value > 0 ? static_cast<double>(*size) / value : 0;
  }
  take_row(run, lines, std::move(row));
}

std::string_view text_of(std::string_view log, const std::vector<ToolRun>& runs, std::size_t place) {
  const std::size_t begin = runs[place].begin;
  return log.substr(begin, place + 1 < runs.size() ? runs[place + 1].begin - begin : std::string_view::npos);
}

void add_runs(Imported& found, const ImportSource& source, const std::vector<ToolRun>& runs) {
  RunsOfPairs(found, source, runs).add();
}

}  // namespace fabricbench::cluster
