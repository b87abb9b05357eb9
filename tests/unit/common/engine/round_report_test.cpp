#include "common/engine/round_work.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/record/packing.h"

using namespace fabricbench;
using host::NicKind;

namespace round_report_test {

constexpr Bytes kMiB = Bytes{1} << 20U;

Row row_of(Bytes size, int pair) {
  Row row;
  row.size = size;
  row.group = pair;
  row.out_of_place.emplace();
  row.out_of_place->algbw = 1e9;
  return row;
}

HostNics nics_of(const std::string& host, Bytes sent, Bytes received) {
  return {host, {{"eth0", NicKind::kInterface, sent, received}}, {}};
}

RankFacts on_gpu(int rank, int pair) {
  RankFacts facts;
  facts.rank = rank;
  facts.group = pair;
  facts.host_memory_rate = 2e9;
  facts.obstacles = {"ACS is on"};
  return facts;
}

TEST(RoundReport, ComesBackAsItWas) {
  RoundReport report;
  report.notices = {"a", "b"};
  report.facts.remarks = {"Rank 1 of host a received 2 messages twice"};
  report.facts.memory_usage = "10 MiB";
  report.facts.nics = {{nics_of("a", 1, 2)}, 77};
  report.on_gpus.push_back(on_gpu(3, 5));
  report.epochs = {{.size = 8, .group = 5, .epoch = 3, .median = 1e-6, .samples = 4}};
  report.rows = {row_of(8, 5), row_of(16, 6)};
  const RoundReport back = record::unpack<RoundReport>(record::pack(report));
  EXPECT_EQ(back.notices, report.notices);
  EXPECT_EQ(back.facts.remarks, report.facts.remarks);
  EXPECT_EQ(back.facts.memory_usage, report.facts.memory_usage);
  EXPECT_EQ(back.facts.nics.least_bytes, 77U);
  ASSERT_EQ(back.facts.nics.hosts.size(), 1U);
  EXPECT_EQ(record::pack(back.facts.nics.hosts[0]), record::pack(report.facts.nics.hosts[0]));
  ASSERT_EQ(back.epochs.size(), 1U);
  EXPECT_EQ(back.epochs[0].group, 5);
  EXPECT_EQ(back.epochs[0].epoch, 3);
  ASSERT_EQ(back.rows.size(), 2U);
  EXPECT_EQ(back.rows[1].size, 16U);
  EXPECT_EQ(back.rows[1].group, 6);
  EXPECT_EQ(back.rows[1].out_of_place->algbw, 1e9);
  ASSERT_EQ(back.on_gpus.size(), 1U);
  EXPECT_EQ(back.on_gpus[0].rank, 3);
  EXPECT_EQ(back.on_gpus[0].group, 5);
  EXPECT_EQ(back.on_gpus[0].host_memory_rate, 2e9);
  EXPECT_EQ(back.on_gpus[0].obstacles, std::vector<std::string>{"ACS is on"});
  EXPECT_TRUE(record::unpack<RoundReport>(record::pack(RoundReport())).rows.empty());
}

TEST(RelaySink, KeepsWhatTheFirstRoundHasNotReported) {
  RoundReport report;
  RelaySink sink(report, [](const Ending& /*ending*/) {});
  sink.record(row_of(8, 1));
  Row skipped;
  skipped.skipped = "nobody sees it";
  sink.record(skipped);
  sink.record(EpochRecord{.size = 8, .group = 1});
  sink.end({});
  sink.abandon({});
  EXPECT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.epochs.size(), 1U);
}

TEST(RelaySink, TellsThatTheRunBrokeOff) {
  RoundReport report;
  std::string reason;
  RelaySink sink(report, [&reason](const Ending& ending) { reason = ending.reason; });
  Ending ending;
  ending.reason = "nothing went on";
  sink.abandon(ending);
  EXPECT_EQ(reason, "nothing went on");
}

TEST(NicReport, AddsWhatAHostCarriedInSeveralRounds) {
  NicReport report{{nics_of("a", 10 * kMiB, 0), nics_of("b", 0, 10 * kMiB)}, 3};
  report.add({{nics_of("b", kMiB, kMiB), nics_of("c", 2 * kMiB, 5)}, 4});
  EXPECT_EQ(report.least_bytes, 7U);
  ASSERT_EQ(report.hosts.size(), 3U);
  EXPECT_EQ(record::pack(report.hosts[0]), record::pack(nics_of("a", 10 * kMiB, 0)));
  EXPECT_EQ(record::pack(report.hosts[1]), record::pack(nics_of("b", kMiB, 11 * kMiB)));
  EXPECT_EQ(record::pack(report.hosts[2]), record::pack(nics_of("c", 2 * kMiB, 5)));
}

TEST(NicReport, SaysNothingOfOneHost) {
  Ending ending;
  NicReport{{nics_of("a", kMiB, kMiB)}, 0}.add_to(ending);
  EXPECT_TRUE(ending.nics.empty());
  NicReport{{nics_of("a", kMiB, kMiB), nics_of("b", kMiB, kMiB)}, 0}.add_to(ending);
  EXPECT_FALSE(ending.nics.empty());
}

}  // namespace round_report_test
