// What a whole sweep over pairs costs on the first endpoint: its ledger and all outputs, fed by simulated endpoints.
//
// usage: sweep_memory ENDPOINTS [ROUNDS]
//
// Every reading of every round is reported as its endpoint would, with a bandwidth drawn at random; JSON Lines, the CSV
// of readings and the matrix are written to /dev/null, and the table to standard output. Prints, last: endpoints,
// rounds, readings, the largest resident memory in MiB, and the time of a reading in us.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/sweep/ledger.h"
#include "cluster/sweep/steps.h"
#include "common/core/clock.h"
#include "common/engine/setup.h"
#include "common/host/usage.h"
#include "common/options/program.h"
#include "common/report/banner.h"
#include "common/report/file_sinks.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {
namespace {

Context context_of(int endpoints, const Options& options) {
  Context context;
  context.program = "pairwise_bw";
  context.row_kind = RowKind::kSweep;
  context.options = options;
  context.backend = "simulated";
  context.hosts = endpoints;
  context.rounds = sweep::ScheduledSteps(options, endpoints, 0).count() / 2;
  context.groups.push_back({fmt::format("0-{}", endpoints - 1), fmt::format("n0-{}", endpoints - 1)});
  for (int endpoint = 0; endpoint < endpoints; ++endpoint) {
    RankFacts rank;
    rank.rank = endpoint;
    rank.host = fmt::format("node-{:05}", endpoint);
    context.ranks.push_back(rank);
  }
  return context;
}

Outputs open_outputs() {
  const auto nowhere = [] { return OutputFile("/dev/null", true); };
  Outputs outputs;
  outputs.add(make_table(RowKind::kSweep, {}, OutputFile::standard_output(), false));
  outputs.add(std::make_unique<JsonLinesSink>(nowhere()));
  outputs.add(std::make_unique<CsvSink>(nowhere()));
  outputs.add(std::make_unique<MatrixCsvSink>(nowhere()));
  return outputs;
}

/// All reports of a step.
void report_all(const sweep::SweepStep& step, Bytes size, sweep::Ledger& ledger, std::mt19937& random) {
  std::normal_distribution<double> window(1e-3, 1e-5);
  ledger.begin(step);
  for (const Pair& meeting : step.meetings) {
    for (const int endpoint : {meeting.first, meeting.second}) {
      sweep::Flows flows;
      (step.back == (endpoint == meeting.first) ? flows.from : flows.to) =
          endpoint == meeting.first ? meeting.second : meeting.first;
      sweep::StepResult result;
      result.messages = 16;
      result.latency = 2e-6;
      for (int i = 0; i < 9; ++i) result.windows.push_back(window(random));
      ledger.note(endpoint, sweep::report_of(step.number, flows, result, size, false));
    }
  }
}

void run(int endpoints, std::int64_t rounds) {
  Options options = sweep_program("pairwise_bw", "").defaults;
  options.sweep.rounds = rounds;
  const Context context = context_of(endpoints, options);
  const Outputs outputs = open_outputs();
  outputs.begin(context);
  const SweepFacts facts = sweep_facts(context);
  std::vector<std::string> names;
  for (const RankFacts& rank : context.ranks) names.push_back(fmt::format("rank {} on {}", rank.rank, rank.host));
  std::int64_t readings = 0;
  sweep::Ledger ledger(names, options.sizes.max_bytes, [&](PairReading reading) {
    ++readings;
    add_facts(reading, facts);
    outputs.record(reading);
  });
  const sweep::ScheduledSteps steps(options, endpoints, 0);
  std::mt19937 random(1);
  const Seconds began = now();
  for (std::int64_t number = 0; number < steps.count(); ++number) {
    report_all(steps.step(number), options.sizes.max_bytes, ledger, random);
  }
  const Seconds each = (now() - began) / static_cast<double>(readings);
  const EndpointStatistics own(endpoints);  // one endpoint's row; others send theirs one by one
  for (int endpoint = 0; endpoint < endpoints; ++endpoint) outputs.record(own.summary(endpoint));
  for (int endpoint = 0; endpoint < endpoints; ++endpoint) outputs.record(MatrixRow{endpoint, own.received()});
  outputs.end(ledger.ending());
  fmt::print("{} endpoints, {} rounds, {} readings: {:.1f} MiB resident at most, {:.2f} us a reading\n", endpoints,
             context.rounds, readings, static_cast<double>(host::peak_resident_bytes().value_or(0)) / (1 << 20),
             each * 1e6);
}

}  // namespace
}  // namespace fabricbench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: sweep_memory ENDPOINTS [ROUNDS]\n");
    return 2;
  }
  fabricbench::run(std::atoi(argv[1]), argc > 2 ? std::atoi(argv[2]) : 0);
  return 0;
}
