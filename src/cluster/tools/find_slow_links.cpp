// Reads what a sweep over pairs of hosts has written, and says which host, NIC, path or switch is slow.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cluster/attribution/attribution.h"
#include "cluster/report/verdict_text.h"
#include "cluster/tools/record_file.h"
#include "cluster/tools/share.h"
#include "cluster/tools/text_file.h"
#include "cluster/tools/tool.h"
#include "cluster/tools/verdict_json.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kName = "find_slow_links";

struct Asked {
  std::vector<std::string> files;
  std::string locality;
  std::string json;
  std::string tolerance = "5%";
  std::string false_alarm = "1%";
  double expected_gb_per_s = 0;
  bool quiet = false;
  bool map = false;
};

void declare(CLI::App& app, Asked& asked) {
  app.add_option(
         "FILE", asked.files,
         "records of scripts/sweep_pairs.sh, scripts/check_node_pair.sh or pairwise_bw --json; - is standard input")
      ->option_text("...");
  app.add_option("--locality", asked.locality, "lines HOST LEAF: the leaf switch or rack of each host")
      ->option_text("FILE");
  app.add_option("--tolerance", asked.tolerance, "what is slower by less than this share is not slow [5%]")
      ->option_text("SHARE");
  app.add_option(
         "--expect", asked.expected_gb_per_s,
         "what a direction of a pair of near hosts has to reach, such as 24; else hosts are held against each other")
      ->option_text("GB/s")
      ->check(CLI::Range(1e-6, 1e6));
  app.add_option("--false-alarm", asked.false_alarm,
                 "chance, at most, that a sweep of healthy hosts ends with anything blamed [1%]")
      ->option_text("SHARE");
  app.add_option("--json", asked.json, "write the whole verdict to FILE; - is standard output, without the text")
      ->option_text("FILE");
  app.add_flag("--map", asked.map, "draw the matrix of up to 64 hosts");
  CLI::Option* quiet =
      app.add_flag("--quiet", asked.quiet, "print only the lists of hosts and paths: Slow: node[07,12]");
  app.get_option("--map")->excludes(quiet);
}

/// Standard output may have colours: it is a terminal, and NO_COLOR (https://no-color.org) is not set.
bool wants_colour() {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(STDOUT_FILENO) != 0;
}

Records read_all(const Asked& asked) {
  RecordReader reader;
  for (const std::string& file : asked.files) reader.read(file);
  if (!asked.locality.empty()) reader.read_locality(asked.locality);
  Records records = reader.finish();
  for (const std::string& notice : records.notices) fmt::print(stderr, "{}: {}\n", kName, printable(notice));
  if (records.sweep.readings.empty()) {
    throw Error(ExitStatus::kNotJudged, "there is no reading to judge by; let scripts/sweep_pairs.sh measure some");
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

ExitStatus find_slow_links(int argc, char** argv) {
  Asked asked;
  CLI::App app(
      "Says which host, NIC, path or switch is slow, how bad it is, on what that rests, how sure it is, and what to do "
      "next.\nExit status: 0 nothing is slow, 2 usage, 3 a file is not there, 6 something is slow, 7 could not be "
      "judged.",
      kName);
  declare(app, asked);
  if (!read_command_line(app, argc, argv)) return ExitStatus::kOk;
  if (asked.json == "-" && (asked.quiet || asked.map)) {
    throw UsageError("--json - writes to standard output, and nothing else goes there; leave out --quiet and --map");
  }
  if (asked.files.empty()) throw UsageError("no file of records is named; --help says which may be");
  VerdictSettings settings;
  settings.tolerance = parse_share(asked.tolerance, "--tolerance");
  settings.expected = asked.expected_gb_per_s * 1e9;
  settings.false_alarm = parse_share(asked.false_alarm, "--false-alarm");

  const Records records = read_all(asked);
  const Verdict verdict = judge(records.sweep, settings);
  if (!asked.json.empty()) {
    const auto json = verdict_json(records.sweep, verdict, settings, records.notices);
    write_text_file(asked.json, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", "--json");
  }
  if (asked.json != "-") {
    const std::string text = asked.quiet ? verdict_lines(records.sweep, verdict)
                                         : verdict_text(records.sweep, verdict, settings, {wants_colour(), asked.map});
    write_text_file("-", text, "");
  }
  return status_for(verdict.judged);
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  return fabricbench::cluster::run_tool(fabricbench::cluster::kName,
                                        [&] { return fabricbench::cluster::find_slow_links(argc, argv); });
}
