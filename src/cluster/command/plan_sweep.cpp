// Prints the next pairs of a sweep, from the measurements so far; scripts/sweep_pairs.sh calls it before every round.

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/command/command_options.h"
#include "cluster/command/input_file.h"
#include "cluster/command/sweep.h"
#include "cluster/hosts/host_list.h"
#include "cluster/pairs/verdict.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kName = "plan_sweep";

struct PlanOptions {
  std::string hosts;
  std::vector<std::string> records;
  std::string locality;
  PlanRequest request;
  std::string tolerance = share_text(VerdictSettings().tolerance);
  bool list_readings = false;
};

bool read_options(int argc, char** argv, PlanOptions& options) {
  CLI::App app(
      "Prints the next round of a sweep over pairs of hosts, planned from the readings so far.\n"
      "  plan_sweep --hosts hosts.txt --records records.jsonl --find\n"
      "      measures until every host is judged\n"
      "  plan_sweep --hosts hosts.txt --records records.jsonl --all-pairs\n"
      "      measures every pair once\n"
      "  plan_sweep --records records.jsonl --list-readings\n"
      "      prints the readings, for pairwise_bw --measured\n"
      "A round is a line with # and its purpose, a line with # and the approximate number of rounds left including "
      "this "
      "one, and a line for each pair with its round, the number of pairs to measure at the same time, and both hosts, "
      "separated by tabs. No pairs: the sweep is over. The same records give the same round, so an interrupted sweep "
      "can continue.\n"
      "Exit status: 0 success, also at the end of the sweep; 2 wrong options or hosts, 3 a file is missing, 7 records "
      "cannot be read.",
      kName);
  app.add_option("--hosts", options.hosts, "read the sweep's hosts from FILE; - is standard input")
      ->option_text("FILE");
  app.add_option("--records", options.records, "records so far; may be repeated, and the file may not exist yet")
      ->option_text("FILE")
      ->allow_extra_args(false);
  app.add_option("--locality", options.locality, "read each host's leaf switch or rack from lines HOST LEAF")
      ->option_text("FILE");
  auto* rounds =
      app.add_option("--rounds", options.request.rounds, "number of rounds for all hosts; with --find the maximum [24]")
          ->option_text("K")
          ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--all-pairs", options.request.all_pairs, "measure every pair of hosts; the default without --find")
      ->excludes(rounds);
  auto* find =
      app.add_flag("--find", options.request.find,
                   "measure until every host is judged: more rounds if readings scatter, then suspicious pairs again");
  app.add_option("--max-concurrent", options.request.concurrent,
                 "maximum number of pairs at the same time; 0: no limit [0]")
      ->option_text("M")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--seed", options.request.seed, "seed of the order of hosts; the same throughout a sweep [1]")
      ->option_text("S")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  app.add_option("--tolerance", options.tolerance,
                 fmt::format("with --find: smallest deficit that counts as slow [{}]", options.tolerance))
      ->option_text("SHARE")
      ->needs(find);
  app.add_flag("--list-readings", options.list_readings,
               "print the readings so far for pairwise_bw --measured; without --hosts, of all hosts in the records");
  return read_command_line(app, argc, argv);
}

std::vector<std::string> hosts_of(const PlanOptions& options) {
  if (options.hosts.empty()) {
    if (options.list_readings) return {};
    throw UsageError("--hosts is missing: give the file of the sweep's hosts, such as list_hosts prints it");
  }
  HostList hosts;
  hosts.add_file(text_of_file(options.hosts, "--hosts"), "--hosts " + readable_name(options.hosts));
  if (hosts.hosts().empty()) {
    throw UsageError(fmt::format("--hosts {}: it contains no host", readable_name(options.hosts)));
  }
  return hosts.names();
}

void print_round(const Sweep& sweep, const PlannedRound& round) {
  std::string text = fmt::format("# {}\n", printable(round.why));
  if (round.rounds_left > 0) text += fmt::format("# rounds left: {}\n", round.rounds_left);
  for (const Pair& meeting : round.meetings) {
    text += fmt::format("{}\t{}\t{}\t{}\n", round.number, round.meetings.size(),
                        sweep.hosts[static_cast<std::size_t>(meeting.first)],
                        sweep.hosts[static_cast<std::size_t>(meeting.second)]);
  }
  fmt::print("{}", text);
}

ExitStatus plan_sweep(int argc, char** argv) {
  PlanOptions options;
  if (!read_options(argc, argv, options)) return ExitStatus::kOk;
  options.request.tolerance = parse_share(options.tolerance, "--tolerance");
  const Sweep sweep = read_sweep(kName, hosts_of(options), options.records, options.locality);
  if (options.list_readings) {
    print_readings(sweep, stdout);
    return ExitStatus::kOk;
  }
  print_round(sweep, next_round(options.request, sweep));
  return ExitStatus::kOk;
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  return fabricbench::cluster::run_tool(fabricbench::cluster::kName,
                                        [&] { return fabricbench::cluster::plan_sweep(argc, argv); });
}
