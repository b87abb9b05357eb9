#include "cluster/command/sweep_plan.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "cluster/command/record_file.h"
#include "cluster/pairs/attribution/attribution.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

/// Removes the readings of other hosts, whose numbers follow the first `hosts`.
void keep_hosts(Sweep& sweep, std::size_t hosts) {
  if (sweep.hosts.size() <= hosts) return;
  sweep.hosts.resize(hosts);
  if (!sweep.leaf_of.empty()) sweep.leaf_of.resize(hosts);
  sweep.reasons.clear();  // not used here
  std::erase_if(sweep.readings, [hosts](const Reading& reading) {
    return static_cast<std::size_t>(std::max(reading.from, reading.to)) >= hosts;
  });
}

}  // namespace

Sweep read_sweep(std::string_view name, const std::vector<std::string>& hosts, const std::vector<std::string>& files,
                 const std::string& locality) {
  RecordReader reader(hosts);
  for (const std::string& path : files) {
    if (path == "-" || std::filesystem::exists(path)) reader.read(path);
  }
  if (!locality.empty()) reader.read_locality(locality);
  Records records = reader.finish();
  for (const std::string& notice : records.notices) fmt::print(stderr, "{}: {}\n", name, notice);
  if (!hosts.empty()) keep_hosts(records.sweep, hosts.size());
  return std::move(records.sweep);
}

PlannedRound next_round(const PlanRequest& request, const Sweep& sweep) {
  SweepPlan plan;
  plan.schedule.endpoints = static_cast<int>(sweep.hosts.size());
  plan.schedule.seed = request.seed;
  plan.schedule.concurrent = request.concurrent;
  plan.find = request.find;
  plan.tolerance = request.tolerance;
  limit_rounds(plan, request.all_pairs ? SweepPlan::kAllPairs : request.rounds);
  VerdictSettings settings;
  settings.tolerance = request.tolerance;
  return Planner(plan).next(sweep, [&] { return judge(sweep, settings); });
}

void print_readings(const Sweep& sweep, std::FILE* file) {
  if (sweep.tests.size() > 1) {
    throw UsageError(
        fmt::format("the records have {} tests, among them {} and {}; a sweep can continue with one test only",
                    sweep.tests.size(), sweep.tests[0], sweep.tests[1]));
  }
  std::string text;
  for (const std::string& host : sweep.hosts) text += fmt::format("host\t{}\n", host);
  for (const Reading& reading : sweep.readings) {
    text += fmt::format("reading\t{}\t{}\t{}\t{}\t", reading.round, reading.concurrent,
                        sweep.hosts[static_cast<std::size_t>(reading.from)],
                        sweep.hosts[static_cast<std::size_t>(reading.to)]);
    switch (reading.outcome) {
      case Outcome::kMeasured: text += fmt::format("{:.9g}\n", reading.rate); break;
      case Outcome::kFailed: text += "failed\n"; break;
      case Outcome::kWrong: text += "wrong\n"; break;
      case Outcome::kNotTried: text += "not_tried\n"; break;
    }
    if (text.size() < (1U << 20)) continue;
    fmt::print(file, "{}", text);
    text.clear();
  }
  fmt::print(file, "{}", text);
}

}  // namespace fabricbench::cluster
