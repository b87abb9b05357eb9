#include "cluster/command/launch_files.h"

#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/input_file.h"
#include "cluster/command/record_file.h"
#include "cluster/hosts/host_list.h"
#include "cluster/import/import.h"
#include "cluster/import/logs.h"
#include "cluster/import/tool_runs.h"
#include "cluster/run/comparison.h"
#include "cluster/run/file.h"
#include "cluster/run/launch_recorder.h"
#include "common/core/error.h"
#include "common/core/statistics.h"
#include "common/core/wording.h"
#include "common/record/read.h"

namespace fabricbench::cluster {
namespace {

using baseline::Launch;
using baseline::LaunchRecorder;
using baseline::RowTimes;

void add(Launch& launch, std::string key, std::string value) {
  if (!value.empty()) launch.start.identity.emplace_back(std::move(key), std::move(value));
}

void add_ranks(Launch& launch, const std::vector<ToolRank>& ranks) {
  if (ranks.empty()) return;
  std::set<std::string> hosts;
  std::map<std::string, int> models;
  for (const ToolRank& rank : ranks) {
    hosts.insert(rank.host);
    if (!rank.model.empty()) ++models[rank.model];
  }
  std::vector<std::string> gpus;
  gpus.reserve(models.size());
  for (const auto& [model, count] : models) gpus.push_back(fmt::format("{} x {}", count, model));
  add(launch, "ranks", fmt::format("{}", ranks.size()));
  add(launch, "hosts", fold_hosts(std::vector(hosts.begin(), hosts.end())));
  add(launch, "gpus", fmt::format("{}", fmt::join(gpus, ", ")));
}

/// Rows that were printed several times, as with `-N`, become one with their median.
void merge_rows(Launch& launch) {
  std::map<baseline::RowKey, std::size_t> place_of;
  std::vector<RowTimes> rows;
  for (RowTimes& row : launch.rows) {
    const auto [known, is_new] = place_of.try_emplace(row.key, rows.size());
    if (is_new) rows.push_back(row);
    rows[known->second].epochs.push_back(row.time);
  }
  for (RowTimes& row : rows) {
    const Seconds first = row.time;
    row.time = median(row.epochs);
    row.busbw *= first / row.time;
    if (row.epochs.size() == 1) row.epochs.clear();
  }
  launch.rows = std::move(rows);
}

class LaunchLog {
 public:
  explicit LaunchLog(std::string name) : name_(std::move(name)) {}

  /// Line 0: the log as a whole.
  [[noreturn]] void fail(std::int64_t line, const std::string& problem) const {
    throw Error(ExitStatus::kNotJudged, fmt::format("{}{}: {}; give the log of a run that ended well", name_,
                                                    line > 0 ? fmt::format(":{}", line) : "", problem));
  }

  /// `text`: what the run has printed.
  [[nodiscard]] Launch launch_of(const ToolRun& run, std::string_view text) const {
    check(run);
    check_end(run, text);
    Launch launch;
    add(launch, "program", run.program);
    for (const auto& [key, value] : run.settings) add(launch, key, value);
    add(launch, "device", run.rail);
    add_ranks(launch, run.ranks);
    for (const SizeRow& row : run.rows) add_row(launch, row);
    if (launch.rows.empty()) {
      fail(0, "cputime is the host's, and no bandwidth has three digits to tell the time of the operation");
    }
    merge_rows(launch);
    launch.text_hash = std::hash<std::string_view>()(text);
    launch.start.rows = static_cast<std::int64_t>(launch.rows.size());
    return launch;
  }

 private:
  void check(const ToolRun& run) const {
    for (const SizeRow& row : run.rows) {
      if (!row.wrong.empty()) fail(row.line, "the data was wrong: " + row.wrong);
    }
    if (!run.wrong.text.empty()) fail(run.wrong.line, "the data was wrong: " + run.wrong.text);
    if (const ImportNote& rank = run.repeated_rank; !rank.text.empty()) {
      fail(rank.line, fmt::format("rank {} appears twice: the program was built without MPI", rank.text));
    }
    if (!run.unknown_unit.text.empty()) fail(run.unknown_unit.line, run.unknown_unit.text);
    if (!run.notes.empty()) fail(run.notes.front().line, run.notes.front().text);
    if (run.cut_line) fail(*run.cut_line, "the file ends within this line");
    if (!run.failure.empty()) fail(0, run.failure);
  }

  void check_end(const ToolRun& run, std::string_view text) const {
    if (run.must_end && !run.has_ended) fail(0, "the run has no end: " + why_it_failed(text));
    if (run.rows.empty()) fail(0, "there is no row of results: " + why_it_failed(text));
    const std::string broken = how_it_broke_off(text.substr(run.behind_rows - run.begin));
    if (!broken.empty()) fail(0, broken);
  }

  void add_row(Launch& launch, const SizeRow& row) const {
    if (!row.time_s) return;
    if (!(*row.time_s > 0)) fail(row.line, "the row has no figure");
    RowTimes times;
    times.key.size = static_cast<Bytes>(row.size_bytes);
    times.key.datatype = row.datatype;
    times.key.reduction = row.reduction;
    times.key.root = row.root;
    times.key.placement = row.placement;
    times.time = *row.time_s;
    times.busbw = row.rate;
    launch.rows.push_back(std::move(times));
  }

  std::string name_;
};

std::vector<ToolRun> runs_in(std::string_view text) {
  switch (recognise(text).value_or(ImportKind::kCsv)) {
    case ImportKind::kNcclTests: return nccl_tests_runs(text);
    case ImportKind::kOsu: return osu_runs(text);
    case ImportKind::kPerftest: return perftest_runs(text);
    default: return {};
  }
}

/// What the last line of a run has to say.
struct EndStatus {
  std::int64_t exit_status = 0;
};

template <typename Visitor, record::Of<EndStatus> Record>
void describe(Visitor& visitor, Record& end) {
  visitor("exit_status", end.exit_status, "");
}

/// Exit statuses of runs whose figures are right: they were compared with something, or are slower than required.
bool has_figures(int exit_status) {
  return exit_status == static_cast<int>(ExitStatus::kOk) || exit_status == static_cast<int>(ExitStatus::kTooSlow) ||
         exit_status == static_cast<int>(ExitStatus::kNotJudged);
}

bool has_wrong_data(const Row& row) {
  const auto is_wrong = [](const std::optional<Measurement>& each) { return each && each->wrong.value_or(0) > 0; };
  return is_wrong(row.out_of_place) || is_wrong(row.in_place);
}
bool has_wrong_data(const PairReading& reading) { return reading.wrong.value_or(0) > 0; }
bool has_wrong_data(const CopyRow& row) { return row.wrong.value_or(0) > 0; }

/// Takes the lines that a program wrote with --json, of one run or of several.
class RunReader {
 public:
  explicit RunReader(std::string name) : name_(std::move(name)) {}

  void take(const Line& line) {
    number_ = line.number;
    if (is_blank(line.text)) return;
    std::string kind;
    try {
      kind = lines_.open(line.text, line.capacity);
      take_kind(kind);
    } catch (const std::invalid_argument& problem) {
      fail(fmt::format("this {} ({})", kind.empty() ? "is no record" : "record is broken", problem.what()));
    }
  }

  [[nodiscard]] std::vector<Launch> finish() {
    if (recorder_) fail("the run has no `end` line: it was killed, or is still running");
    if (launches_.empty()) fail(number_ > 0 ? "the file has no run" : "the file is empty");
    return std::move(launches_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ExitStatus::kNotJudged,
                fmt::format("{}{}: {}; give a baseline, or a file that a program has written with --json", name_,
                            number_ > 0 ? fmt::format(":{}", number_) : "", problem));
  }

  void take_kind(const std::string& kind) {
    if (kind == "context") {
      begin();
    } else if (!recorder_) {
      fail(fmt::format("a line of kind '{}' stands before any context", kind));
    } else if (kind == "row") {
      take_figures(lines_.read<Row>());
    } else if (kind == "reading") {
      take_figures(lines_.read<PairReading>());
    } else if (kind == "copy") {
      take_figures(lines_.read<CopyRow>());
    } else if (kind == "connection_step") {
      const auto step = lines_.read<ConnectionStep>();
      recorder_->take(step.row.pair, step.times);
    } else if (kind == "end") {
      static_cast<void>(lines_.read_whole<EndStatus>());
      end(lines_.read<Ending>());
    } else {
      lines_.check();
    }
  }

  template <typename Record>
  void take_figures(const Record& record) {
    check_hosts(record);
    if (wrong_data_ == 0 && has_wrong_data(record)) wrong_data_ = number_;
    recorder_->take(record);
  }

  void begin() {
    if (recorder_) fail("a run begins before the one above has ended");
    if (const std::string why = why_unreadable(lines_.read<ContextVersion>()); !why.empty()) fail(why);
    const auto context = lines_.read<Context>();
    check_hosts(context);
    recorder_.emplace();
    recorder_->begin(context);
  }

  void end(const Ending& ending) {
    if (!has_figures(ending.exit_status)) {
      fail(fmt::format("the run failed with exit status {}: {}", ending.exit_status, ending.reason));
    }
    if (ending.wrong_checks > 0) fail(counted(ending.wrong_checks, "check") + " found wrong elements");
    if (wrong_data_ > 0)
      fail(fmt::format("line {} has wrong elements, whatever exit status the run says", wrong_data_));
    launches_.push_back(recorder_->finish());
    for (const baseline::RowTimes& row : launches_.back().rows) {
      const std::string problem = contradiction_in(row);
      if (!problem.empty()) fail(fmt::format("{}: {}", baseline::size_and_words_of(row.key), problem));
    }
    recorder_.reset();
  }

  std::string name_;
  std::int64_t number_ = 0;
  std::int64_t wrong_data_ = 0;  // first line with wrong elements; 0: none
  record::LineReader lines_;
  std::optional<LaunchRecorder> recorder_;
  std::vector<Launch> launches_;
};

/// What a file holds.
enum class Visitor { kRuns, kBaseline, kLog };

/// By the first line. Records are lines of JSON, and logs are not, but for containers' logs.
Visitor form_of(std::string_view line) {
  if (baseline::is_first_line(line)) return Visitor::kBaseline;
  return line.starts_with('{') && !printed_in(line) ? Visitor::kRuns : Visitor::kLog;
}

[[noreturn]] void refuse_log(const std::string& path, bool is_empty = false) {
  if (is_empty) throw Error(ExitStatus::kNotJudged, fmt::format("{}: the file is empty", readable_name(path)));
  throw Error(ExitStatus::kNotJudged,
              fmt::format("{}: it is neither a baseline, nor what a program has written with --json, nor a log of "
                          "nccl-tests, OSU or perftest; give one of these",
                          readable_name(path)));
}

std::vector<Launch> launches_of_log(const std::string& text, const std::string& path) {
  struct stat facts {};
  const bool known = path != "-" && ::stat(path.c_str(), &facts) == 0;
  std::vector<Launch> launches =
      launches_in_log(text, readable_name(path), known ? facts.st_mtime : std::time(nullptr));
  if (launches.empty()) refuse_log(path, text.find_first_not_of(" \t\r\n") == std::string::npos);
  return launches;
}

}  // namespace

std::vector<Launch> launches_in_log(std::string_view text, const std::string& name, std::time_t written) {
  const PlainLog plain = without_labels(text);
  const LaunchLog log(name);
  if (!plain.label.empty()) log.fail(1, fmt::format("'{}' stands before lines, which is no known label", plain.label));
  const std::vector<ToolRun> runs = runs_in(plain.text);
  std::vector<Launch> launches;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    launches.push_back(log.launch_of(runs[i], text_of(plain.text, runs, i)));
    launches.back().start.began = written;
  }
  return launches;
}

std::vector<Launch> launches_in(const std::string& path) {
  std::error_code error;
  if (path != "-" && std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    throw Error(ExitStatus::kMissing, fmt::format("'{}' is no regular file; give one, or - for standard input", path));
  }
  LineSource lines(path, record::LineReader::kSpare);
  RunReader runs(readable_name(path));
  Visitor visitor = Visitor::kRuns;
  std::string whole;
  Line line;
  while (lines.next(line)) {
    if (line.number == 1) visitor = form_of(line.text);
    if (visitor == Visitor::kRuns) {
      runs.take(line);
      continue;
    }
    if (whole.size() > kMostText && visitor == Visitor::kLog) refuse_log(path);
    whole.append(line.text);
    if (line.complete) whole.push_back('\n');
  }
  if (visitor == Visitor::kRuns) return runs.finish();
  if (visitor == Visitor::kLog) return launches_of_log(whole, path);
  std::vector<Launch> launches = baseline::read_launches(whole, readable_name(path));
  if (launches.empty()) throw Error(ExitStatus::kNotJudged, fmt::format("{}: it has no launch", readable_name(path)));
  return launches;
}

}  // namespace fabricbench::cluster
