#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cluster/command/commands.h"
#include "cluster/command/launch_files.h"
#include "cluster/run/comparison.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/core/units.h"
#include "common/options/command_line.h"
#include "common/record/json.h"
#include "common/report/output_file.h"

namespace fabricbench::cluster {
namespace {

using baseline::BaselineComparison;
using baseline::ComparisonSettings;
using baseline::Launch;

struct CompareOptions {
  std::vector<std::string> files;
  std::vector<std::string> old_files;
  std::vector<std::string> allowed;
  std::string wanted = "5";
  std::string json_file;
  bool force = false;
};

std::vector<Launch> launches_in_all(const std::vector<std::string>& files) {
  std::vector<Launch> all;
  for (const std::string& file : files) {
    std::vector<Launch> launches = launches_in(file);
    std::move(launches.begin(), launches.end(), std::back_inserter(all));
  }
  return all;
}

/// The launches of each program, in the order of their first launches.
std::vector<std::vector<Launch>> by_program(std::vector<Launch> launches) {
  const auto program_of = [](const Launch& launch) {
    for (const auto& [key, value] : launch.start.identity) {
      if (key == "program") return value;
    }
    return std::string();
  };
  std::vector<std::vector<Launch>> groups;
  for (Launch& launch : launches) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return program_of(group.front()) == program_of(launch); });
    (known == groups.end() ? groups.emplace_back() : *known).push_back(std::move(launch));
  }
  return groups;
}

void write(OutputFile& file, const BaselineComparison& comparison) {
  for (const baseline::RowComparison& row : comparison.rows) file.write(record::json_line(record::to_json(row)));
  for (const baseline::HistoryChange& each : comparison.changes) file.write(record::json_line(record::to_json(each)));
  file.write(record::json_line(record::to_json(comparison)));
}

/// Something slow outweighs what could not be judged.
int worse(int status, int other) {
  if (status == 0 || other == 0) return std::max(status, other);
  return std::min(status, other);
}

/// Splits the files into old and new ones. Throws UsageError if there is no new one, or an output is among them.
void sort_files(CompareOptions& options) {
  if (options.old_files.empty()) {
    if (options.files.size() < 2) {
      throw UsageError(
          fmt::format("'{}' is the baseline, and there is no run; give its file as well", options.files[0]));
    }
    options.old_files.push_back(options.files.front());
    options.files.erase(options.files.begin());
  }
  for (const auto* inputs : {&options.files, &options.old_files}) {
    for (const std::string& input : *inputs) {
      if (!same_file(options.json_file, input)) continue;
      throw UsageError(fmt::format("--json '{}' would overwrite a file that is compared; give another", input));
    }
  }
}

/// Nothing if --help or --version was given, and is printed.
std::optional<CompareOptions> read_options(const std::vector<std::string>& arguments) {
  CompareOptions options;
  CLI::App app(
      "Compares runs with baselines or with other runs, row by row: same, faster, slower or undecided.\n"
      "  fabricbench compare results/site.jsonl today.jsonl\n"
      "      a run that --json wrote, beside the launches of a baseline\n"
      "  fabricbench compare results/site.jsonl run1.jsonl run2.jsonl run3.jsonl\n"
      "      three launches of one run: smaller slowdowns are seen, and one unlucky launch does not matter\n"
      "  fabricbench compare --old monday.jsonl --old tuesday.jsonl today.jsonl --allow library\n"
      "      runs of two days as the baseline, although the library was updated\n"
      "Exit status: 0 as fast, 2 wrong command line, 3 a file is missing, 6 a row is slower, 7 it cannot be judged.",
      "fabricbench compare");
  app.add_option("FILE", options.files, "the baseline, and files of the run; with --old, files of the run only")
      ->required()
      ->option_text("...");
  app.add_option("--old", options.old_files, "file to compare with; may be given several times")
      ->allow_extra_args(false)
      ->option_text("FILE");
  app.add_option("--allow", options.allowed, "compare although these differ, such as hosts,library")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("KEYS");
  app.add_option("--detect", options.wanted, "slowdown of all rows that must not be missed, in percent (5)")
      ->option_text("PERCENT");
  app.add_option("--json", options.json_file, "write the comparison as JSON Lines to FILE")->option_text("FILE");
  app.add_flag("--force", options.force, "overwrite an existing file");
  if (const std::string text = read_arguments(app, arguments); !text.empty()) {
    fmt::print("{}", text);
    return std::nullopt;
  }
  sort_files(options);
  return options;
}

}  // namespace

ExitStatus compare_files(const std::vector<std::string>& arguments) {
  const std::optional<CompareOptions> given = read_options(arguments);
  if (!given) return ExitStatus::kOk;
  const CompareOptions& options = *given;
  const std::vector<Launch> recorded = launches_in_all(options.old_files);
  ComparisonSettings settings;
  settings.judgement.wanted = parse_number(options.wanted, "--detect", 0.1, 1000) / 100;
  for (std::string key : options.allowed) {
    key.erase(0, key.find_first_not_of(' '));
    settings.allowed.push_back(std::move(key));
  }
  std::optional<OutputFile> json;
  if (!options.json_file.empty()) json.emplace(options.json_file, options.force);
  int status = 0;
  for (const std::vector<Launch>& fresh : by_program(launches_in_all(options.files))) {
    const BaselineComparison comparison = baseline::compare(recorded, fresh, settings);
    for (const std::string& line : lines_of(comparison, fmt::format("{}", fmt::join(options.old_files, ", ")))) {
      fmt::print("{}\n", printable(line));
    }
    if (json) write(*json, comparison);
    status = worse(status, comparison.exit_status);
  }
  if (json) {
    json->sync();
    json->close();
  }
  return static_cast<ExitStatus>(status);
}

}  // namespace fabricbench::cluster
