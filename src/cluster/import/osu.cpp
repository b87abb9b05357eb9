#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/text.h"
#include "cluster/import/tool_runs.h"

namespace fabricbench::cluster {
namespace {

/// The program by its title, such as `# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.4` or `# OSU MPI_Get Bandwidth
/// Test`; empty where it is another one.
std::string osu_test_of(std::string_view title) {
  const std::string name = lower(title);
  if (!has(name, " bandwidth test") || has(name, "multiple bandwidth")) return "";
  const char* one_sided = has(name, "mpi_put") ? "put_" : has(name, "mpi_get") ? "get_" : "";
  return fmt::format("osu_{}{}", one_sided, has(name, "bi-directional") ? "bibw" : "bw");
}

class OsuReader {
 public:
  explicit OsuReader(std::string_view text) : lines_(text) {}

  std::vector<ToolRun> read() {
    while (lines_.next()) take(trimmed(lines_.line()));
    if (runs_.empty()) runs_.emplace_back();
    return std::move(runs_);
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("# OSU ")) {
      begin_run(line);
    } else if (line.starts_with("# Datatype") && !runs_.empty()) {
      runs_.back().settings.emplace_back("datatype", one_line(words_of(line).back()));
    } else if (line.starts_with("# Size") && lines_.is_whole()) {
      begin_table(line);
    } else if (column_.place > 0 && !line.starts_with('#')) {
      take_row(runs_.back(), lines_, column_);
    }
  }

  void begin_run(std::string_view line) {
    column_ = {};
    ToolRun run;
    run.program = one_line(line.substr(2));
    run.test = osu_test_of(line);
    if (run.test.empty()) {
      run.other_test = {lines_.number(), fmt::format("'{}' is neither osu_bw nor osu_bibw", one_line(line))};
    }
    run.both_ways = run.test.ends_with("bibw");
    run.backwards = run.test == "osu_get_bw";  // the first process gets what the second one has
    run.begin = runs_.empty() ? 0 : lines_.begin();
    runs_.push_back(std::move(run));
  }

  /// `# Size      Bandwidth (MB/s)`, or `Latency (us)`, `Avg Latency(us)`.
  void begin_table(std::string_view line) {
    if (runs_.empty()) runs_.emplace_back();
    const bool is_rate = has(line, "(MB/s)") || has(line, " MB/s");
    if (!is_rate && !has(line, "(us)")) {
      runs_.back().unknown_unit = {lines_.number(), fmt::format("'{}' names neither MB/s nor us", one_line(line))};
    }
    column_ = {1, is_rate ? kMegabyte : kMicrosecond, is_rate};
  }

  TextLines lines_;
  std::vector<ToolRun> runs_;
  FigureColumn column_;  ///< in the table of the current run
};

}  // namespace

std::vector<ToolRun> osu_runs(std::string_view text) { return OsuReader(text).read(); }

}  // namespace fabricbench::cluster
