// Reads what a sweep over pairs of hosts has written, and says which host, NIC, path or switch is slow.

#include <unistd.h>

#include <algorithm>
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
#include "common/core/units.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kName = "find_slow_links";

struct Asked {
  std::vector<std::string> files;
  std::string locality;
  std::string json;
  std::string tolerance = "5%";
  std::string false_alarm = "1%";
  std::string expected;
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
         "--expect", asked.expected,
         "what a direction of a pair of near hosts has to reach, such as 24; adapters: 90% of what the slower port of "
         "the "
         "pair carries, where the records tell it; adapters:95% another share; else hosts are held against each other")
      ->option_text("GB/s|adapters");
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

/// Sets one of both expectations; of an empty text none.
void set_expected(const std::string& text, VerdictSettings& settings) {
  constexpr std::string_view kAdapters = "adapters";
  constexpr double kShareOfPort = 0.9;
  if (text.empty()) return;
  if (text == kAdapters) {
    settings.expected_of_port = kShareOfPort;
  } else if (text.starts_with(fmt::format("{}:", kAdapters))) {
    settings.expected_of_port = parse_share(text.substr(kAdapters.size() + 1), "--expect adapters:");
  } else {
    settings.expected = parse_number(text, "--expect", 1e-6, 1e6) * 1e9;
  }
}

bool knows_ports(const Sweep& sweep) {
  return std::any_of(sweep.routes.begin(), sweep.routes.end(), [](const Route& route) { return route.port_rate > 0; });
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
  for (const std::string& notice : records.notices) fmt::print(stderr, "{}: {}\n", kName, notice);
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
  set_expected(asked.expected, settings);
  settings.false_alarm = parse_share(asked.false_alarm, "--false-alarm");

  const Records records = read_all(asked);
  if (settings.expected_of_port > 0 && !knows_ports(records.sweep)) {
    throw Error(ExitStatus::kNotJudged,
                "--expect adapters: no record tells what a port carries (from_port_gb_per_s); name the rate in GB/s");
  }
  const Verdict verdict = judge(records.sweep, settings);
  if (!asked.json.empty()) {
    write_text_file(asked.json, verdict_json(records.sweep, verdict, settings, records.notices).dump() + "\n",
                    "--json");
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
