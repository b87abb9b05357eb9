#include "cluster/tools/launch_files.h"

#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cluster/baseline/comparison_text.h"
#include "cluster/baseline/file.h"
#include "cluster/baseline/launch_recorder.h"
#include "cluster/import/logs.h"
#include "cluster/tools/context_version.h"
#include "cluster/tools/input_file.h"
#include "cluster/tools/launch_logs.h"
#include "cluster/tools/line_source.h"
#include "cluster/tools/record_numbers.h"
#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/record/read.h"

namespace fabricbench::cluster {
namespace {

using baseline::Launch;
using baseline::LaunchRecorder;

/// What the last line of a run has to say.
struct EndStatus {
  std::int64_t exit_status = 0;
};

template <typename Form, record::Of<EndStatus> Record>
void describe(Form& form, Record& end) {
  form("exit_status", end.exit_status, "");
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
    if (is_blank(line)) return;
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
enum class Form { kRuns, kBaseline, kLog };

/// By the first line. Records are lines of JSON, and logs are not, but for containers' logs.
Form form_of(std::string_view line) {
  if (baseline::is_first_line(line)) return Form::kBaseline;
  return line.starts_with('{') && !printed_in(line) ? Form::kRuns : Form::kLog;
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

std::vector<Launch> launches_in(const std::string& path) {
  std::error_code error;
  if (path != "-" && std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    throw Error(ExitStatus::kMissing, fmt::format("'{}' is no regular file; give one, or - for standard input", path));
  }
  LineSource lines(path, record::LineReader::kSpare);
  RunReader runs(readable_name(path));
  Form form = Form::kRuns;
  std::string whole;
  Line line;
  while (lines.next(line)) {
    if (line.number == 1) form = form_of(line.text);
    if (form == Form::kRuns) {
      runs.take(line);
      continue;
    }
    if (whole.size() > kMostText && form == Form::kLog) refuse_log(path);
    whole.append(line.text);
    if (line.complete) whole.push_back('\n');
  }
  if (form == Form::kRuns) return runs.finish();
  if (form == Form::kLog) return launches_of_log(whole, path);
  std::vector<Launch> launches = baseline::read_launches(whole, readable_name(path));
  if (launches.empty()) throw Error(ExitStatus::kNotJudged, fmt::format("{}: it has no launch", readable_name(path)));
  return launches;
}

}  // namespace fabricbench::cluster
