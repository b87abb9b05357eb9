#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cluster/command/commands.h"
#include "cluster/command/input_file.h"
#include "cluster/command/record_file.h"
#include "common/core/error.h"
#include "common/core/heat_map.h"
#include "common/core/names.h"
#include "common/core/plain_text.h"
#include "common/core/version.h"
#include "common/options/command_line.h"
#include "common/options/known_options.h"
#include "common/record/read.h"
#include "common/report/banner.h"
#include "common/report/file_sinks.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench::cluster {
namespace {

struct TableOptions {
  std::string file;
  std::string form = "table";
  bool stats = false;
  bool quiet = false;
};

/// Of the options of a run, those that its tables depend on.
void take_options(Context& context, const TableOptions& wanted) {
  Options& options = context.options;
  for (const auto& [key, value] : context.option_values) set_if_it_shapes_tables(key, value, options);
  options.rdma.perftest_table = wanted.form == "perftest";
  options.output.stats = wanted.stats;
  options.output.quiet = true;
}

/// Hands the lines of a record to the sinks of a run, in the same order as the run did.
class Replay {
 public:
  explicit Replay(const TableOptions& options) : options_(options), name_(readable_name(options.file)) {}

  void take(const Line& line) {
    number_ = line.number;
    if (is_blank(line.text)) return;
    has_lines_ = true;
    std::string kind;
    try {
      kind = lines_.open(line.text, line.capacity);
      take_kind(kind);
    } catch (const std::invalid_argument& problem) {
      if (!line.complete) return;  // the run was killed while it wrote this one
      if (take_after_half_a_line(line.text)) return;
      fail(fmt::format("this {} ({})", kind.empty() ? "is no record" : "record is broken", problem.what()));
    }
  }

  void finish() {
    if (outputs_) abandon("the record has no end: the run was killed, or is still running");
    if (runs_ == 0) fail(has_lines_ ? "the file has no run" : "the file is empty");
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ExitStatus::kNotJudged, fmt::format("{}{}: {}; give a file that a program has written with --json",
                                                    name_, number_ > 0 ? fmt::format(":{}", number_) : "", problem));
  }

  /// A run that was killed has left half a line, and the next run's record was appended to it.
  bool take_after_half_a_line(std::string_view text) {
    const std::size_t next = text.rfind(R"({"kind":"context",)");
    if (!outputs_ || next == 0 || next == std::string_view::npos) return false;
    lines_.open(text.substr(next));
    begin();
    return true;
  }

  /// Of a run that ended while it was set up.
  [[noreturn]] void refuse_unbegun(const Ending& ending) const {
    throw Error(ExitStatus::kNotJudged,
                fmt::format("{}: the run ended before it had measured anything: {}", name_, ending.reason));
  }

  void take_kind(const std::string& kind) {
    if (kind == "context") return begin();
    if (!outputs_ && kind == "end") refuse_unbegun(lines_.read<Ending>());
    if (!outputs_) fail(fmt::format("a line of kind '{}' stands before any context", kind));
    if (kind == "epoch") return outputs_->record(checked(lines_.read<EpochRecord>()));
    if (kind == "row") return outputs_->record(checked(lines_.read<Row>()));
    if (kind == "copy") return add_copy(lines_.read<CopyRow>());
    if (kind == "endpoint") return add_endpoint(checked(lines_.read<EndpointSummary>()));
    if (kind == "connection_step") return add_step(lines_.read<ConnectionStep>());
    if (kind == "reading") return add_reading(checked(lines_.read<PairReading>()));
    if (kind == "end") return end(lines_.read<Ending>());
    lines_.check();
  }

  template <typename Record>
  Record checked(Record record) const {
    if constexpr (std::is_same_v<Record, Row> || std::is_same_v<Record, PairReading>) check_hosts(record);
    numbers_->check(record);
    return record;
  }

  void begin() {
    if (const std::string why = why_unreadable(lines_.read<ContextVersion>()); !why.empty()) fail(why);
    auto context = lines_.read<Context>();
    check_hosts(context);
    numbers_.emplace(context);
    begin(std::move(context));
  }

  void begin(Context context) {
    if (outputs_) abandon("the record has no end");
    take_options(context, options_);
    const RowKind row_kind = context.row_kind;
    if (options_.form == "perftest" && !is_of_pairs(row_kind)) {
      throw UsageError(
          fmt::format("{} has no table in perftest's form, which is for messages between two ranks; leave "
                      "out --form perftest",
                      context.program));
    }
    if (options_.form == "csv" && row_kind == RowKind::kConnections) {
      throw UsageError(fmt::format("{} has no CSV; leave out --form csv", context.program));
    }
    outputs_.emplace();
    if (options_.form == "csv") {
      outputs_->add(std::make_unique<CsvSink>(OutputFile::standard_output()));
    } else {
      outputs_->add(make_table(row_kind, context.options, OutputFile::standard_output(), false));
    }
    if (runs_++ > 0) fmt::print("\n");
    if (options_.form == "table" && !options_.quiet) print_heading(context);
    endpoints_ = row_kind == RowKind::kSweep ? static_cast<int>(context.ranks.size()) : 0;
    received_.clear();
    has_whole_sweep_ = false;
    outputs_->begin(context);
  }

  static void print_heading(const Context& context) {
    std::string command;
    for (const std::string& word : context.command_line) command += (command.empty() ? "" : " ") + word;
    fmt::print("# {}; ranks: {}, hosts: {}; {}\n", printable(command), context.ranks.size(), context.host_facts.size(),
               printable(context.library));
    std::fflush(stdout);
  }

  void add_copy(const CopyRow& row) {
    check_hosts(row);
    outputs_->record(row);
  }

  /// One row has several steps, one line each.
  void add_step(const ConnectionStep& step) {
    numbers_->check(step.row);
    if (connections_ && connections_->pair != step.row.pair) end_connections();
    if (!connections_) connections_ = step.row;
    connections_->steps.push_back(step.times);
  }

  void end_connections() {
    if (connections_) outputs_->record(*std::exchange(connections_, std::nullopt));
  }

  /// The matrix is no part of the record: it has the last reading of each pair.
  void add_reading(const PairReading& reading) {
    outputs_->record(reading);
    constexpr auto kNone = std::numeric_limits<float>::quiet_NaN();
    auto& row = received_[reading.to];
    row.resize(std::max(row.size(), static_cast<std::size_t>(endpoints_)), kNone);
    if (static_cast<std::size_t>(reading.from) < row.size()) {
      row[static_cast<std::size_t>(reading.from)] = static_cast<float>(reading.bandwidth);
    }
  }

  void add_endpoint(const EndpointSummary& summary) {
    outputs_->record(summary);
    has_whole_sweep_ = !summary.cut_short;
  }

  /// Whether the run came to its end. A sweep does although pairs of it were too slow to be measured.
  [[nodiscard]] bool is_whole(const Ending& ending) const {
    constexpr std::array kWithFigures = {ExitStatus::kOk, ExitStatus::kWrongData, ExitStatus::kTooSlow,
                                         ExitStatus::kNotJudged, ExitStatus::kMissing};
    return has_whole_sweep_ || std::any_of(kWithFigures.begin(), kWithFigures.end(), [&](ExitStatus status) {
             return static_cast<int>(status) == ending.exit_status;
           });
  }

  void end(const Ending& ending) {
    end_connections();
    if (is_whole(ending)) {
      for (const auto& [receiver, bandwidths] : received_) outputs_->record(MatrixRow{receiver, bandwidths});
      outputs_->end(ending);
    } else {
      outputs_->abandon(ending);
    }
    outputs_.reset();
  }

  void abandon(const std::string& reason) {
    end_connections();
    Ending ending;
    ending.reason = reason;
    outputs_->abandon(ending);
    outputs_.reset();
  }

  const TableOptions& options_;
  std::string name_;
  record::LineReader lines_;
  std::int64_t number_ = 0;
  std::int64_t runs_ = 0;
  bool has_lines_ = false;
  std::optional<Outputs> outputs_;  // of the current run, as the following ones
  std::optional<RecordNumbers> numbers_;
  std::optional<ConnectRow> connections_;
  int endpoints_ = 0;                           // of a sweep
  std::map<int, std::vector<float>> received_;  // by receiving endpoint: from each
  bool has_whole_sweep_ = false;
};

}  // namespace

ExitStatus print_table(const std::vector<std::string>& arguments) {
  TableOptions options;
  CLI::App app(
      "Prints the table of a run from its record, whole or broken off.\n"
      "Exit status: 0 success, 2 wrong options, 3 the file is missing, 7 it is no record of a run.",
      "fabricbench table");
  app.add_option("FILE", options.file, "what a program has written with --json; -: standard input")->required();
  app.add_option("--form", options.form, "as the program prints it (default), as CSV, or as ib_write_bw prints it")
      ->option_text("table|csv|perftest");
  app.add_flag("--stats", options.stats, "print the statistics of every row below the table");
  app.add_flag("--quiet", options.quiet, "leave out the line with the command");
  const std::string text = read_arguments(app, arguments);
  fmt::print("{}", text);
  if (!text.empty()) return ExitStatus::kOk;
  if (options.form != "table" && options.form != "csv" && options.form != "perftest") {
    throw UsageError(fmt::format("'{}' is not a form; choose table, csv or perftest", options.form));
  }
  LineSource lines(options.file, record::LineReader::kSpare);
  Replay replay(options);
  for (Line line; lines.next(line);) replay.take(line);
  replay.finish();
  return ExitStatus::kOk;
}

}  // namespace fabricbench::cluster
