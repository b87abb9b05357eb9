#include "cluster/tools/launch_logs.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_folding.h"
#include "cluster/import/import.h"
#include "cluster/import/logs.h"
#include "cluster/import/tool_runs.h"
#include "common/core/error.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

using baseline::Launch;
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

}  // namespace fabricbench::cluster
