#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/pair_runs.h"
#include "cluster/import/rate_units.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

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

/// `# Size      Bandwidth (MB/s)`: the unit has to be the one that is expected.
void check_unit(const ImportSource& source, const TextLines& lines) {
  if (has(lines.line(), "(MB/s)") || has(lines.line(), " MB/s")) return;
  throw UsageError(fmt::format("{}:{}: '{}' does not name MB/s as the unit; make a CSV of it, and give --unit",
                               source.path, lines.number(), one_line(lines.line())));
}

class OsuReader {
 public:
  explicit OsuReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) take(lines);
    if (runs_.empty() && !other_test_) runs_.emplace_back();
    if (!runs_.empty()) add_pair_runs(found_, source_, runs_);
    return std::move(found_);
  }

 private:
  void take(const TextLines& lines) {
    const std::string_view line = trimmed(lines.line());
    if (line.starts_with("# OSU ")) {
      begin_run(lines);
    } else if (line.starts_with("# Size") && lines.is_whole() && !other_test_) {
      check_unit(source_, lines);
      if (runs_.empty()) runs_.emplace_back();
      in_table_ = true;
    } else if (in_table_ && !line.starts_with('#')) {
      take_row(lines, words_of(line));
    }
  }

  void begin_run(const TextLines& lines) {
    const std::string test = osu_test_of(lines.line());
    in_table_ = false;
    other_test_ = test.empty();
    if (other_test_) {
      return found_.note(lines.number(), fmt::format("'{}' is neither osu_bw nor osu_bibw", one_line(lines.line())));
    }
    PairRun run;
    run.test = test;
    run.both_ways = test.ends_with("bibw");
    run.backwards = test == "osu_get_bw";  // the first process gets what the second one has
    run.begin = runs_.empty() ? 0 : lines.begin();
    runs_.push_back(std::move(run));
  }

  void take_row(const TextLines& lines, const std::vector<std::string_view>& words) {
    PairRun& run = runs_.back();
    const auto size = words.empty() ? std::nullopt : integer_in(words[0]);
    if (!size) return;  // what the launcher says
    run.behind_rows = lines.end();
    const auto rate = words.size() < 2 ? std::nullopt : number_in(words[1]);
    if (!lines.is_whole()) {
      run.cut_line = lines.number();
    } else if (!rate) {
      found_.note(lines.number(), "a row of the table has no bandwidth, and is left out");
    } else {
      const bool wrong = words.back() == "Fail";
      run.rows.push_back({*size, lines.number(), *rate * kMegabyte, wrong ? "the check says Fail" : ""});
    }
  }

  const ImportSource& source_;
  Imported found_;
  std::vector<PairRun> runs_;
  bool in_table_ = false;
  bool other_test_ = false;  ///< the current one
};

}  // namespace

Imported read_osu(const ImportSource& source) { return OsuReader(source).read(); }

}  // namespace fabricbench::cluster
