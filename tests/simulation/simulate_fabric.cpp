// Sweeps over a simulated fabric: writes records as a real sweep would, or counts over many sweeps how many faults are
// found and how many healthy parts are blamed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/command/command_options.h"
#include "cluster/pairs/report/verdict_text.h"
#include "common/core/error.h"
#include "common/core/random.h"
#include "common/record/json.h"
#include "common/record/reading.h"
#include "simulation/fabric.h"
#include "simulation/simulation.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kName = "simulate_fabric";
constexpr std::int64_t kSize = 4 << 20;  // of the simulated messages

struct SimulationOptions {
  FabricPlan fabric;
  double rate_gb_per_s = 25;
  double outlier_size = 0.2;
  std::vector<std::string> faults;
  bool usual_faults = false;
  bool hide_leaves = false;
  int rounds = 12;
  bool all_pairs = false;
  bool find = false;
  bool batches = false;
  int concurrent = 0;
  std::optional<int> extra_rounds;
  double tolerance = VerdictSettings{}.tolerance;
  std::string records;
  int runs = 0;
  bool json = false;
};

void add_fabric_options(CLI::App& app, SimulationOptions& options) {
  FabricPlan& fabric = options.fabric;
  const CLI::Range share(0.0, 0.99);
  const auto number = [&](const char* name, auto& value, const char* text, const char* unit, const auto& range) {
    app.add_option(name, value, text)->option_text(unit)->check(range)->group("Fabric");
  };
  number("--hosts", fabric.hosts, "number of hosts [16]", "N", CLI::Range(1, 1 << 20));
  number("--leaf-size", fabric.leaf_size, "hosts behind each leaf switch; 0: one leaf for all [0]", "N",
         CLI::Range(0, 1 << 20));
  number("--spines", fabric.spines, "switches above the leaves; a hash assigns each flow to one [4]", "N",
         CLI::Range(1, 1024));
  number("--rails", fabric.rails, "NICs per host, all measured at once [1]", "N", CLI::Range(1, 64));
  number("--rate", options.rate_gb_per_s, "rate of a healthy NIC in each direction [25]", "GB/s",
         CLI::Range(1e-6, 1e6));
  number("--sigma", fabric.sigma, "relative standard deviation of readings [0.01]", "SHARE", share);
  number("--outliers", fabric.outliers, "share of readings that are slow by chance [0.01]", "SHARE", share);
  number("--outlier-size", options.outlier_size, "deficit of these readings [0.2]", "SHARE", share);
  number("--spread", fabric.spread, "relative standard deviation between healthy hosts [0]", "SHARE", share);
  number("--drift", fabric.drift, "amplitude of a drift of all rates with a period of 30 rounds [0]", "SHARE", share);
  number("--oversubscription", fabric.oversubscription, "rate of a leaf's hosts relative to its uplinks [1]", "RATIO",
         CLI::Range(1.0, 1000.0));
  number("--crossing", fabric.crossing, "rate between leaves relative to that within one [1]", "RATIO",
         CLI::Range(0.01, 100.0));
  number("--missing", fabric.missing, "share of measurements that fail by chance [0]", "SHARE", share);
  app.add_flag("--collisions", fabric.collisions, "assign flows to uplinks by hash instead of evenly")->group("Fabric");
  app.add_flag("--hide-leaves", options.hide_leaves, "hide the leaf of each host from the verdict")->group("Fabric");
  app.add_flag("--both-ways", fabric.both_ways, "record the sum of both directions as one figure")->group("Fabric");
  auto* faults =
      app.add_option("--fault", options.faults,
                     "a fault; may be repeated: host:3:0.9 (factor of its rate; append :sends or :receives for one "
                     "direction), nic:HOST:RAIL:0.8, pair:HOST:HOST:0.7, leaf:LEAF:0.5, "
                     "leaf-pair:LEAF:LEAF:0.5, spine:LEAF:SPINE:0.5, rail:RAIL:0.8, dead:HOST, dead-pair:HOST:HOST, "
                     "flapping:HOST:0.7:0.3 (0.3: share of affected meetings)")
          ->option_text("FAULT")
          ->allow_extra_args(false)
          ->group("Fabric");
  app.add_flag(
         "--usual-faults", options.usual_faults,
         "plant random faults in each sweep: a host at -10 %, a NIC at -20 % in one direction, and a pair at -30 %")
      ->excludes(faults)
      ->group("Fabric");
}

void add_sweep_options(CLI::App& app, SimulationOptions& options) {
  auto* rounds =
      app.add_option("--rounds", options.rounds, "number of rounds for all hosts; with --find the maximum [12]")
          ->option_text("K")
          ->check(CLI::Range(1, 1 << 20))
          ->group("Sweep");
  app.add_flag("--all-pairs", options.all_pairs, "measure every pair of hosts")->excludes(rounds)->group("Sweep");
  auto* find = app.add_flag("--find", options.find, "measure until every host is judged, as sweep_pairs.sh --find")
                   ->group("Sweep");
  app.add_flag("--batches", options.batches,
               "with --find: measure all open questions before judging again; much faster with many pairs")
      ->needs(find)
      ->group("Sweep");
  app.add_option("--max-extra-rounds", options.extra_rounds,
                 "with --find: maximum rounds for suspicious pairs [24; with --all-pairs the number of hosts]")
      ->option_text("K")
      ->check(CLI::Range(0, 1 << 20))
      ->needs(find)
      ->group("Sweep");
  app.add_option("--max-concurrent", options.concurrent, "maximum number of pairs at the same time; 0: no limit [0]")
      ->option_text("M")
      ->check(CLI::Range(0, 1 << 20))
      ->group("Sweep");
  app.add_option("--tolerance", options.tolerance,
                 fmt::format("smallest deficit that counts as slow [{}]", options.tolerance))
      ->option_text("SHARE")
      ->check(CLI::Range(0.001, 0.9))
      ->group("Sweep");
  app.add_option("--seed", options.fabric.seed, "seed of all random numbers [0]")->option_text("S")->group("Sweep");
}

bool read_options(int argc, char** argv, SimulationOptions& options) {
  CLI::App app(
      "Sweeps over pairs of hosts of a simulated fabric, and judges the readings as find_slow_links does.\n"
      "  simulate_fabric --hosts 64 --fault host:3:0.8\n"
      "      one host has 80 % of its rate\n"
      "  simulate_fabric --hosts 64 --leaf-size 16 --usual-faults --find --runs 100\n"
      "      counts faults found and false alarms (healthy parts blamed) in 100 sweeps\n"
      "  simulate_fabric --hosts 16 --fault dead:5 --records records.jsonl\n"
      "      writes records for find_slow_links\n"
      "Exit status: 0 success, whatever was found; 2 wrong options.",
      kName);
  add_fabric_options(app, options);
  add_sweep_options(app, options);
  auto* records = app.add_option("--records", options.records, "write the readings to FILE, as a real sweep does")
                      ->option_text("FILE");
  auto* runs = app.add_option("--runs", options.runs,
                              "number of sweeps; print recall, precision and false alarms over all of them")
                   ->option_text("N")
                   ->check(CLI::Range(1, 1 << 20))
                   ->excludes(records);
  app.add_flag("--json", options.json, "print the counts as one line of JSON")->needs(runs);
  return read_command_line(app, argc, argv);
}

/// The faults of --usual-faults; fewer with fewer than four hosts.
std::vector<Fault> usual_faults(std::int32_t hosts, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> order(static_cast<std::size_t>(hosts));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, random);
  std::vector<Fault> faults;
  Fault fault;
  if (hosts > 0) {
    fault.kind = FaultKind::kHost;
    fault.place = order[0];
    fault.factor = 0.9;
    faults.push_back(fault);
  }
  if (hosts > 1) {
    fault.kind = FaultKind::kNic;
    fault.place = order[1];
    fault.factor = 0.8;
    fault.direction = random() % 2 == 0 ? Direction::kSends : Direction::kReceives;
    faults.push_back(fault);
  }
  if (hosts > 3) {
    fault = {};
    fault.kind = FaultKind::kPair;
    fault.place = order[2];
    fault.other = order[3];
    fault.factor = 0.7;
    faults.push_back(fault);
  }
  return faults;
}

/// The fabric of sweep number `run`.
Fabric fabric_of(const SimulationOptions& options, int run) {
  FabricPlan plan = options.fabric;
  plan.seed += static_cast<std::uint64_t>(run);
  plan.rate = options.rate_gb_per_s * 1e9;
  plan.outlier_factor = 1 - options.outlier_size;
  plan.leaves_known = !options.hide_leaves;
  try {
    for (const std::string& fault : options.faults) plan.faults.push_back(parse_fault(fault));
    if (options.usual_faults) plan.faults = usual_faults(plan.hosts, plan.seed);
    return Fabric(std::move(plan));
  } catch (const std::invalid_argument& problem) {
    throw UsageError(problem.what());
  }
}

SweepPlan plan_of(const SimulationOptions& options, const Fabric& fabric) {
  SweepPlan plan;
  plan.schedule.endpoints = fabric.plan().hosts;
  plan.schedule.seed = fabric.plan().seed;
  plan.schedule.concurrent = options.concurrent;
  plan.find = options.find;
  plan.both_directions = !fabric.plan().both_ways;
  plan.tolerance = options.tolerance;
  if (options.batches) {
    plan.schedule.rounds = options.all_pairs ? 0 : options.rounds;
  } else {
    limit_rounds(plan, options.all_pairs ? SweepPlan::kAllPairs : options.rounds);
  }
  if (options.extra_rounds) plan.most_extra_rounds = *options.extra_rounds;
  return plan;
}

SimulatedSweep sweep_over(const SimulationOptions& options, const Fabric& fabric) {
  VerdictSettings settings;
  settings.tolerance = options.tolerance;
  const SweepPlan plan = plan_of(options, fabric);
  return options.batches ? simulate_in_batches(fabric, plan, settings) : simulate(fabric, plan, settings);
}

void print_score(const Score& score) {
  const auto sweeps = static_cast<double>(score.sweeps);
  const auto line = [&](const char* what, std::int64_t named, std::int64_t planted, std::int64_t wronged) {
    const std::int64_t blamed = named + wronged;
    const std::string recall =
        planted > 0 ? fmt::format("{:.4f}", static_cast<double>(named) / static_cast<double>(planted)) : "-";
    const std::string precision =
        blamed > 0 ? fmt::format("{:.4f}", static_cast<double>(named) / static_cast<double>(blamed)) : "-";
    fmt::print("{:<22} {:>8} {:>8} {:>8} {:>13} {:>9} {:>19.4f}\n", what, planted, named, recall, wronged, precision,
               static_cast<double>(wronged) / sweeps);
  };
  fmt::print("{:<22} {:>8} {:>8} {:>8} {:>13} {:>9} {:>19}\n", "", "faults", "named", "recall", "false alarms",
             "precision", "false alarms/sweep");
  line("hosts and NICs", score.slow_hosts_named, score.slow_hosts, score.hosts_wronged);
  line("pairs", score.slow_pairs_named, score.slow_pairs, score.pairs_wronged);
  line("leaves and rails", score.blocks_named, score.blocks, score.blocks_wronged);
  fmt::print("{} sweeps of {:.1f} rounds and {:.0f} meetings\n", score.sweeps,
             static_cast<double>(score.rounds) / sweeps, static_cast<double>(score.meetings) / sweeps);
}

void print_json(const Score& score) {
  const nlohmann::ordered_json object = {{"kind", "simulation"},
                                         {"sweeps", score.sweeps},
                                         {"slow_hosts", score.slow_hosts},
                                         {"slow_hosts_named", score.slow_hosts_named},
                                         {"hosts_wronged", score.hosts_wronged},
                                         {"slow_pairs", score.slow_pairs},
                                         {"slow_pairs_named", score.slow_pairs_named},
                                         {"pairs_wronged", score.pairs_wronged},
                                         {"blocks", score.blocks},
                                         {"blocks_named", score.blocks_named},
                                         {"blocks_wronged", score.blocks_wronged},
                                         {"rounds", score.rounds},
                                         {"meetings", score.meetings}};
  fmt::print("{}\n", object.dump());
}

void study(const SimulationOptions& options) {
  Score score;
  for (int run = 0; run < options.runs; ++run) {
    const Fabric fabric = fabric_of(options, run);
    score = score + score_of(fabric, sweep_over(options, fabric));
  }
  options.json ? print_json(score) : print_score(score);
}

ReadingStatus status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMeasured: return ReadingStatus::kOk;
    case Outcome::kFailed: return ReadingStatus::kFailed;
    case Outcome::kWrong: return ReadingStatus::kWrong;
    case Outcome::kNotTried: break;
  }
  return ReadingStatus::kNotTried;
}

template <typename Record>
std::string json_line_of(const Record& record) {
  return record::json_line(record::to_json(record));
}

/// The sweep in the format of scripts/sweep_pairs.sh (docs/output.md): a line with the hosts, a line for each host with
/// a known leaf, and a line for each reading.
std::string records_of(const Sweep& sweep) {
  std::string text = json_line_of(SweepStart{sweep.hosts, ""});
  for (std::size_t host = 0; host < sweep.leaf_of.size(); ++host) {
    if (sweep.leaf_of[host] == Sweep::kNoLeaf) continue;
    text += json_line_of(HostLocality{sweep.hosts[host], sweep.leaves[static_cast<std::size_t>(sweep.leaf_of[host])]});
  }
  const auto name = [](const std::vector<std::string>& names, std::int32_t place) -> std::string_view {
    return names[static_cast<std::size_t>(place)];
  };
  auto reason = sweep.reasons.begin();
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    const std::string_view kind = name(sweep.tests, reading.test);
    RecordedReading record;
    record.from_end.host = name(sweep.hosts, reading.from);
    record.to_end.host = name(sweep.hosts, reading.to);
    record.from_end.rail = name(sweep.rails, reading.from_rail);
    record.to_end.rail = name(sweep.rails, reading.to_rail);
    record.test = kind.substr(0, kind.find(' '));  // a kind consists of the test's name and the size
    record.size = kSize;
    record.status = status_of(reading.outcome);
    record.both_ways = reading.both_ways;
    if (reading.outcome == Outcome::kMeasured) record.bandwidth = static_cast<double>(reading.rate);
    record.round = reading.round;
    record.concurrent = reading.concurrent;
    if (reason != sweep.reasons.end() && reason->first == i) record.reason = (reason++)->second;
    text += json_line_of(record);
  }
  return text;
}

void write_records(const std::string& path, const Sweep& sweep) {
  const std::string text = records_of(sweep);
  if (path == "-") return fmt::print("{}", text);
  std::ofstream file(path);
  if (!(file << text).flush()) throw Error(ExitStatus::kMissing, fmt::format("cannot write --records '{}'", path));
}

void show_one(const SimulationOptions& options) {
  const SimulatedSweep simulated = sweep_over(options, fabric_of(options, 0));
  if (!options.records.empty()) write_records(options.records, simulated.sweep);
  if (options.records == "-") return;
  VerdictSettings settings;
  settings.tolerance = options.tolerance;
  fmt::print("{}", verdict_text(simulated.sweep, simulated.verdict, settings, {}));
}

ExitStatus simulate_fabric(int argc, char** argv) {
  SimulationOptions options;
  if (!read_options(argc, argv, options)) return ExitStatus::kOk;
  options.runs > 0 ? study(options) : show_one(options);
  return ExitStatus::kOk;
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  return fabricbench::cluster::run_tool(fabricbench::cluster::kName,
                                        [&] { return fabricbench::cluster::simulate_fabric(argc, argv); });
}
