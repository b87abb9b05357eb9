#include "cluster/import/pair_runs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cluster/import/failure.h"
#include "cluster/import/pair_name.h"

namespace fabricbench::cluster {
namespace {

std::int64_t largest_size_of(const PairRun& run) {
  std::int64_t largest = ImportedKind::kNoSize;
  for (const SizeRow& row : run.rows) largest = std::max(largest, row.size_bytes);
  return largest;
}

/// A reading of the run, without an outcome as yet.
Reading reading_of(Imported& found, const PairName& pair, const PairRun& run) {
  const ImportedKind kind{run.test, largest_size_of(run)};
  Reading reading = run.backwards ? found.between(pair.to, pair.from, kind) : found.between(pair.from, pair.to, kind);
  reading.from_rail = reading.to_rail = found.rail_of(run.rail);
  reading.both_ways = run.both_ways;
  return reading;
}

/// Adds the rows of the largest size, or that data were wrong.
void add_rows(Imported& found, const PairRun& run, const Reading& reading) {
  if (!run.wrong.empty()) return found.add_wrong(reading, run.wrong);
  const auto wrong =
      std::find_if(run.rows.begin(), run.rows.end(), [](const SizeRow& row) { return !row.wrong.empty(); });
  if (wrong != run.rows.end()) {
    return found.add_wrong(reading, fmt::format("{} at {} B, line {}", wrong->wrong, wrong->size_bytes, wrong->line));
  }
  const std::int64_t largest = largest_size_of(run);
  for (const SizeRow& row : run.rows) {
    if (row.size_bytes == largest) {
      found.add(reading, row.rate, row.line);
    } else {
      ++found.smaller_sizes;
    }
  }
}

/// The words on why a run, which printed this text, has no result; empty where there are none.
std::string failure_of(const PairRun& run, std::string_view text) {
  if (run.rows.empty() && !run.failure.empty()) return run.failure;
  if (run.rows.empty()) return run.cut_line ? "" : words_of_failure_in(text);
  return run.has_ended ? "" : failure_of_program_in(text.substr(run.behind_rows - run.begin));
}

}  // namespace

void add_pair_runs(Imported& found, const ImportSource& source, const std::vector<PairRun>& runs) {
  const auto pair = pair_in_name(source.path);
  if (!pair) return found.note(0, fmt::format("its name does not contain the pair; {}", kHowToName));
  std::vector<std::pair<const PairRun*, std::string>> failed;
  const bool any = std::any_of(runs.begin(), runs.end(), [](const PairRun& run) { return !run.rows.empty(); });
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const PairRun& run = runs[i];
    const std::size_t end = i + 1 < runs.size() ? runs[i + 1].begin : source.text.size();
    const std::string_view text = source.text.substr(run.begin, end - run.begin);
    if (std::string words = failure_of(run, text); !words.empty() && run.wrong.empty()) {
      failed.emplace_back(&run, std::move(words));
    } else if (run.cut_line) {
      found.note(*run.cut_line, "the file ends within this line");
    } else if (run.rows.empty() && run.wrong.empty()) {
      if (!any) found.note(0, why_it_failed(text));
    } else {
      add_rows(found, run, reading_of(found, *pair, run));
    }
  }
  for (auto& [run, words] : failed) found.add_failed_run(reading_of(found, *pair, *run), std::move(words));
}

}  // namespace fabricbench::cluster
