// Reads the records of a sweep over pairs of hosts, and reports the slow host, NIC, path or switch.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "cluster/command/imported_files.h"
#include "cluster/command/record_file.h"
#include "cluster/command/verdict_record.h"
#include "cluster/pairs/attribution/attribution.h"
#include "cluster/pairs/report/verdict_text.h"
#include "common/core/error.h"
#include "common/core/ownership.h"
#include "common/core/plain_text.h"
#include "common/core/script_command.h"
#include "common/core/units.h"
#include "common/record/json.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kFindSlowLinks = "find_slow_links";

[[noreturn]] void refuse(ExitStatus status, const std::string& path, std::string_view what) {
  const std::string name = path == "-" ? "standard output" : fmt::format("{} '{}'", what, path);
  throw Error(status, fmt::format("cannot write {}: {}; check the path, its permissions and the free space", name,
                                  std::system_category().message(errno)));
}

/// Writes a file, replacing existing contents, or to standard output for `-`. `what` is the source of the name in
/// messages, such as `--json`. Throws Error if the text cannot be written completely.
void write_text_file(const std::string& path, std::string_view text, std::string_view what) {
  Handle<std::FILE, &std::fclose> owned(path == "-" ? nullptr : std::fopen(path.c_str(), "w"));
  if (!owned && path != "-") refuse(ExitStatus::kMissing, path, what);
  std::FILE* const file = owned ? owned.get() : stdout;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!written || std::fflush(file) != 0) refuse(ExitStatus::kFailure, path, what);
  if (owned && std::fclose(owned.release()) != 0) refuse(ExitStatus::kFailure, path, what);
}

struct Asked {
  std::vector<std::string> files;
  std::string import;
  std::string unit;
  std::string convert;
  std::string locality;
  std::string json;
  std::string tolerance = share_text(VerdictSettings().tolerance);
  std::string false_alarm = "1%";
  std::string expected;
  bool quiet = false;
  bool map = false;
  bool all = false;
};

void declare(CLI::App& app, Asked& asked) {
  app.add_option("FILE", asked.files,
                 "records of sweep_pairs, check_node_pair or pairwise_bw --json; - is standard input")
      ->option_text("...");
  CLI::Option* import = app.add_option("--import", asked.import,
                                       "read results of another tool from each FILE or folder: auto, " +
                                           import_kind_names() + "; name logs by their pair, such as node01_node02.log")
                            ->option_text("KIND")
                            ->type_name("auto|" + import_kind_names("|"));  // for --describe-options
  app.add_option("--unit", asked.unit, "unit of files that name none: GB/s, Gb/s, MiB/s...")
      ->option_text("UNIT")
      ->needs(import);
  app.add_option("--convert", asked.convert,
                 "write the imported records to FILE (- is standard output), without a verdict")
      ->option_text("FILE")
      ->needs(import);
  app.add_option("--locality", asked.locality, "read each host's leaf switch or rack from lines HOST LEAF")
      ->option_text("FILE");
  app.add_option("--tolerance", asked.tolerance,
                 fmt::format("smallest deficit that counts as slow [{}]", asked.tolerance))
      ->option_text("SHARE");
  app.add_option(
         "--expect", asked.expected,
         "required one-way bandwidth between near hosts, such as 24; adapters: 90% of the rate of the pair's "
         "slower port, if the records have it; adapters:95%: another share. Hosts may miss it by the tolerance. "
         "It decides which of two kinds of hosts is slow; a minority of slower hosts is slow even above it")
      ->option_text("GB/s|adapters");
  app.add_option("--false-alarm", asked.false_alarm,
                 "maximum probability that a sweep of healthy hosts blames one of them [1%]")
      ->option_text("SHARE");
  app.add_option("--json", asked.json, "write the whole verdict as JSON to FILE (- is standard output)")
      ->option_text("FILE");
  app.add_flag("--map", asked.map, "draw the matrix of up to 64 hosts");
  CLI::Option* quiet =
      app.add_flag("--quiet", asked.quiet, "print only the lists of hosts and paths, such as Slow: node[07,12]");
  app.get_option("--map")->excludes(quiet);
  app.add_flag("--long", asked.all, "print every finding by itself, and every line")->excludes(quiet);
}

bool knows_ports(const Sweep& sweep) {
  return std::any_of(sweep.routes.begin(), sweep.routes.end(), [](const Route& route) { return route.port_rate > 0; });
}

/// Whether standard output may have colours: it is a terminal, and NO_COLOR (https://no-color.org) is not set.
bool wants_colour() {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(STDOUT_FILENO) != 0;
}

void say(const std::vector<std::string>& notices) {
  for (const std::string& notice : notices) fmt::print(stderr, "{}: {}\n", kFindSlowLinks, printable(notice));
}

ImportedFiles import_all(const Asked& asked) {
  ImportRequest request;
  request.kind = parse_import_kind(asked.import);
  if (!asked.unit.empty()) request.unit = parse_rate_unit(asked.unit);
  return import_files(asked.files, request);
}

/// Reads a file of records; a file of another tool gets a hint.
void read_records(RecordReader& reader, const std::string& file) {
  try {
    reader.read(file);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kNotJudged) throw;
    throw Error(error.status(), error.what() + import_hint(file));
  }
}

/// Reads results of other tools, and the records among them. Returns notices on what was left out.
std::vector<std::string> read_imported(RecordReader& reader, const Asked& asked) {
  ImportedFiles imported = import_all(asked);
  for (const std::string& file : imported.records) reader.read(file);
  if (imported.files.empty() && imported.not_understood == 0) return std::move(imported.notices);
  reader.begin_file("results of other tools");
  try {
    for_each_record(imported, [&](const auto& record) { reader.take(record); });
  } catch (const std::invalid_argument& problem) {
    throw Error(ExitStatus::kNotJudged, fmt::format("--import: {}; give fewer files at once", problem.what()));
  }
  return std::move(imported.notices);
}

ExitStatus convert(const Asked& asked) {
  const ImportedFiles imported = import_all(asked);
  say(imported.notices);
  if (!imported.records.empty()) {
    throw UsageError(fmt::format("--convert: '{}' is a file of records already", imported.records.front()));
  }
  std::string text;
  for_each_record(imported, [&](const auto& record) { text += record::json_line(record::to_json(record)); });
  write_text_file(asked.convert, text, "--convert");
  return ExitStatus::kOk;
}

std::string why_no_readings(const std::vector<std::string>& files) {
  std::error_code problem;  // of what is no file
  const bool is_empty = files.size() == 1 && std::filesystem::file_size(files.front(), problem) == 0;
  return is_empty ? fmt::format("'{}' is empty", files.front()) : "there are no readings";
}

Records read_judged(const Asked& asked) {
  RecordReader reader;
  std::vector<std::string> notices;
  if (asked.import.empty()) {
    for (const std::string& file : asked.files) read_records(reader, file);
  } else {
    notices = read_imported(reader, asked);
  }
  if (!asked.locality.empty()) reader.read_locality(asked.locality);
  Records records = reader.finish();
  records.notices.insert(records.notices.begin(), notices.begin(), notices.end());
  say(records.notices);
  if (records.sweep.readings.empty()) {
    throw Error(ExitStatus::kNotJudged,
                fmt::format("{}; measure some with {}", why_no_readings(asked.files), script_command("sweep_pairs")));
  }
  return records;
}

ExitStatus status_for(Judged judged) {
  switch (judged) {
    case Judged::kClean: return ExitStatus::kOk;
    case Judged::kSlow: return ExitStatus::kTooSlow;
    case Judged::kUnknown: break;
  }
  return ExitStatus::kNotJudged;
}

}  // namespace

void set_expected(const std::string& text, VerdictSettings& settings) {
  constexpr std::string_view kAdapters = "adapters";
  if (text.empty()) return;
  if (text == kAdapters) {
    settings.expected_of_port = kShareOfPort;
  } else if (text.starts_with(fmt::format("{}:", kAdapters))) {
    settings.expected_of_port = parse_share(text.substr(kAdapters.size() + 1), "--expect adapters:");
  } else if (text.find_first_not_of("0123456789.eE+-") != std::string::npos) {
    throw UsageError(
        fmt::format("--expect '{}' is neither a rate in GB/s nor adapters, or adapters:SHARE", printable(text)));
  } else {
    settings.expected = parse_number(text, "--expect", 1e-6, 1e6) * 1e9;
  }
}

ExitStatus find_slow_links(int argc, char** argv) {
  Asked asked;
  CLI::App app(
      "Names the slow host, NIC, path or switch, with its deficit, evidence, certainty and next step.\n"
      "  find_slow_links run.jsonl\n"
      "      judges the sweep that pairwise_bw --json run.jsonl recorded\n"
      "  find_slow_links --locality leaves.txt --map results/sweep/records.jsonl\n"
      "      knows each host's leaf switch, and draws the matrix\n"
      "  find_slow_links --import osu logs/\n"
      "      judges the logs of osu_bw in a folder\n"
      "Exit status: 0 nothing is slow, 2 wrong options, 3 a file is missing, 6 something is slow, 7 could "
      "not be judged.",
      kFindSlowLinks);
  declare(app, asked);
  if (!read_command_line(app, argc, argv)) return ExitStatus::kOk;
  if (asked.json == "-" && (asked.quiet || asked.map)) {
    throw UsageError("--json - writes only the JSON to standard output; leave out --quiet and --map");
  }
  if (asked.files.empty()) throw UsageError("no file of records is given; --help says which files it reads");
  if (!asked.convert.empty()) return convert(asked);
  VerdictSettings settings;
  settings.tolerance = parse_share(asked.tolerance, "--tolerance");
  set_expected(asked.expected, settings);
  settings.false_alarm = parse_share(asked.false_alarm, "--false-alarm");

  const Records records = read_judged(asked);
  if (settings.expected_of_port > 0 && !knows_ports(records.sweep)) {
    throw Error(ExitStatus::kNotJudged,
                "--expect adapters: no record has the rate of a port (from_port_gb_per_s); give the rate in GB/s");
  }
  const Verdict verdict = judge(records.sweep, settings);
  if (!asked.json.empty()) {
    const VerdictRecord record = record_of(records.sweep, verdict, settings, records.notices);
    write_text_file(asked.json, record::json_line(record::to_json(record)), "--json");
  }
  if (asked.json != "-") {
    const std::string text =
        asked.quiet ? verdict_lines(records.sweep, verdict)
                    : verdict_text(records.sweep, verdict, settings, {wants_colour(), asked.map, asked.all});
    write_text_file("-", text, "");
  }
  return status_for(verdict.judged);
}

}  // namespace fabricbench::cluster
