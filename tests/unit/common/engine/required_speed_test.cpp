
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/engine/conclusion.h"

using namespace fabricbench;

namespace verdict_test {

constexpr double kGb = 1e9;

Context context_of(RowKind row_kind, int pairs = 2) {
  Context context;
  context.row_kind = row_kind;
  context.backend = "verbs";
  for (int pair = 0; pair < pairs; ++pair) {
    context.groups.push_back({std::to_string(pair) + ", " + std::to_string(pair + pairs), "a, b"});
  }
  return context;
}

Row row_of(int pair, Bytes size, double algbw_gb, Seconds median = 1e-6) {
  Row row;
  row.group = pair;
  row.size = size;
  row.out_of_place.emplace();
  row.out_of_place->algbw = algbw_gb * kGb;
  row.out_of_place->busbw = algbw_gb * kGb;
  row.out_of_place->summary.median = median;
  row.out_of_place->summary.samples = 100;
  row.out_of_place->summary.epochs = 9;
  row.out_of_place->wrong = 0;
  return row;
}

Ending ending_of(const Context& context, const std::vector<Row>& rows) {
  Totals totals(context.options);
  for (const Row& row : rows) totals.add(row, "rdma_write_bw");
  return conclude(totals, context);
}

SpeedVerdict verdict_on(const Context& context, const std::vector<Row>& rows) {
  Totals totals(context.options);
  for (const Row& row : rows) totals.add(row, "rdma_write_bw");
  return verdict_of(totals, context);
}

TEST(Verdict, OfNoRequirementIsNone) {
  const SpeedVerdict verdict = verdict_on(context_of(RowKind::kBandwidth), {});
  EXPECT_EQ(verdict.status, ExitStatus::kOk);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_FALSE(verdict.fast_enough.has_value());
}

TEST(Verdict, IsGoodWhereEveryPairHasTheBandwidth) {
  Context context = context_of(RowKind::kBandwidth);
  context.options.min_bandwidth_gb_per_s = 10;
  const SpeedVerdict verdict = verdict_on(context, {row_of(0, 1024, 12), row_of(1, 1024, 10)});
  EXPECT_EQ(verdict.status, ExitStatus::kOk);
  EXPECT_EQ(verdict.fast_enough, true);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(Verdict, NamesThePairWithTheLeastAverageBandwidth) {
  Context context = context_of(RowKind::kBandwidth);
  context.options.min_bandwidth_gb_per_s = 10;
  const Ending ending =
      ending_of(context, {row_of(0, 1024, 12), row_of(0, 2048, 9.5), row_of(1, 1024, 10), row_of(1, 2048, 9.5)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kTooSlow));
  EXPECT_EQ(ending.fast_enough, false);
  EXPECT_EQ(ending.reason,
            "The average of Pair 1 (rank 1 of host a -> rank 3 of host b), 9.75 GB/s, is below 10 GB/s, which "
            "--min-bw requires");
  ASSERT_EQ(ending.notes.size(), 1U);
  EXPECT_EQ(ending.notes[0], ending.reason);
}

TEST(Verdict, AddsUpBothDirectionsForABandwidthInGigabytes) {
  Context context = context_of(RowKind::kBothWays, 1);
  context.options.min_bandwidth_gb_per_s = 10;
  EXPECT_EQ(verdict_on(context, {row_of(0, 1024, 12)}).status, ExitStatus::kOk);
}

TEST(Verdict, JudgesTheMedianOfEveryLatency) {
  Context context = context_of(RowKind::kLatency);
  context.options.rdma.max_latency = 2e-6;
  EXPECT_EQ(verdict_on(context, {row_of(0, 8, 0, 2e-6), row_of(1, 8, 0, 1e-6)}).status, ExitStatus::kOk);
  const SpeedVerdict slow = verdict_on(context, {row_of(0, 8, 0, 3.25e-6), row_of(1, 8, 0, 1e-6)});
  EXPECT_EQ(slow.status, ExitStatus::kTooSlow);
  EXPECT_EQ(slow.reason,
            "Pair 0 (rank 0 of host a -> rank 2 of host b) had a median of 3.25 us at 8 bytes, the worst of all rows; "
            "--max-lat allows 2 us");
}

TEST(Verdict, HoldsEachDirectionAgainstThePortsRate) {
  Context context = context_of(RowKind::kBandwidth, 1);
  for (GroupFacts& pair : context.groups) pair.wire_rate = 50 * kGb;
  context.options.rdma.percent_of_rate = 90;
  EXPECT_EQ(verdict_on(context, {row_of(0, 1024, 45)}).status, ExitStatus::kOk);
  const SpeedVerdict slow = verdict_on(context, {row_of(0, 1024, 44)});
  EXPECT_EQ(slow.status, ExitStatus::kTooSlow);
  EXPECT_EQ(slow.reason,
            "Pair 0 (rank 0 of host a -> rank 1 of host b) had 88 % of the 50 GB/s of its slower port at 1024 bytes, "
            "the worst of all rows; --percent-of-rate requires 90 %");
  context.row_kind = RowKind::kBothWays;
  EXPECT_EQ(verdict_on(context, {row_of(0, 1024, 88)}).status, ExitStatus::kTooSlow) << "44 in each direction";
  EXPECT_EQ(verdict_on(context, {row_of(0, 1024, 90)}).status, ExitStatus::kOk);
}

TEST(Verdict, IsNotOnAllPairsWhereSomeWereLeftOut) {
  Context context = context_of(RowKind::kBandwidth);
  context.left_out_pairs = 1;
  Ending ending = ending_of(context, {row_of(0, 1024, 12), row_of(1, 1024, 12)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kMissing));
  EXPECT_EQ(ending.reason, "1 of 3 pairs was left out for want of a usable device; the others were measured");
  context.options.min_bandwidth_gb_per_s = 10;
  ending = ending_of(context, {row_of(0, 1024, 12), row_of(1, 1024, 12)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kNotJudged));
  EXPECT_FALSE(ending.fast_enough.has_value());
  EXPECT_EQ(ending.reason,
            "1 of 3 pairs was left out for want of a usable device, so the requirements could not be judged on all "
            "pairs");
  ending = ending_of(context, {row_of(0, 1024, 12), row_of(1, 1024, 9)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kTooSlow)) << "what was measured counts";
}

TEST(Verdict, IsNoneWhereAPairIsFasterThanItsPort) {
  Context context = context_of(RowKind::kBandwidth);
  context.groups[0].wire_rate = 50 * kGb;
  context.groups[1].wire_rate = 5 * kGb;
  context.groups[1].wire_rate_source = "mlx5_1 port 1 of host b (its driver reports '40 Gb/sec (4X QDR)')";
  EXPECT_TRUE(ending_of(context, {row_of(0, 1024, 49), row_of(1, 1024, 5.25)}).notes.empty()) << "clocks are not exact";
  const std::vector<Row> rows = {row_of(0, 1024, 49), row_of(1, 1024, 4), row_of(1, 4096, 48)};
  Ending ending = ending_of(context, rows);
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kOk)) << "nothing was required";
  ASSERT_EQ(ending.notes.size(), 1U);
  EXPECT_EQ(
      ending.notes[0],
      "Pair 1 (rank 1 of host a -> rank 3 of host b) had 48 GB/s in one direction at 4096 bytes, which is more than "
      "the 5 GB/s of mlx5_1 port 1 of host b (its driver reports '40 Gb/sec (4X QDR)'): its rate is wrong (drivers "
      "report 4X QDR for modes that they do not know, and bonds differ), or the data did not cross the port; %rate "
      "is unknown");
  context.options.rdma.percent_of_rate = 90;
  ending = ending_of(context, rows);
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kNotJudged));
  EXPECT_EQ(
      ending.reason,
      "--percent-of-rate could not be judged: the rate of the ports of Pair 1 (rank 1 of host a -> rank 3 of host "
      "b) is not known; give --min-bw instead");
  ending = ending_of(context, {row_of(0, 1024, 40), row_of(1, 4096, 48)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kTooSlow)) << "the other pair is judged";
  context.row_kind = RowKind::kBothWays;
  context.groups[1].wire_rate = 24 * kGb;
  EXPECT_TRUE(wrong_rates(Totals(context.options), context).empty());
  EXPECT_EQ(verdict_on(context, {row_of(0, 1024, 98), row_of(1, 4096, 48)}).status, ExitStatus::kOk)
      << "24 in each direction";
}

TEST(Verdict, HoldsEachPairAgainstItsOwnPorts) {
  Context context = context_of(RowKind::kBandwidth);
  context.groups[0].wire_rate = 50 * kGb;
  context.groups[1].wire_rate = 25 * kGb;
  context.options.rdma.percent_of_rate = 90;
  EXPECT_EQ(verdict_on(context, {row_of(0, 1024, 45), row_of(1, 1024, 23)}).status, ExitStatus::kOk);
  EXPECT_NE(verdict_on(context, {row_of(0, 1024, 40), row_of(1, 1024, 23)}).reason.find("had 80 % of the 50 GB/s"),
            std::string::npos)
      << "the worst share is not that of the least bandwidth";
}

TEST(Verdict, IsNoneWhereThePortsRateIsNotKnown) {
  Context context = context_of(RowKind::kBandwidth, 1);
  context.options.rdma.percent_of_rate = 90;
  const Ending ending = ending_of(context, {row_of(0, 1024, 44)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kNotJudged));
  EXPECT_FALSE(ending.fast_enough.has_value());
  EXPECT_NE(ending.reason.find("give --min-bw instead"), std::string::npos);
  context.options.min_bandwidth_gb_per_s = 45;
  const Ending slow = ending_of(context, {row_of(0, 1024, 44)});
  EXPECT_EQ(slow.exit_status, static_cast<int>(ExitStatus::kTooSlow)) << "slow anyway";
  EXPECT_EQ(slow.notes.size(), 2U);
}

TEST(Verdict, TakesRows) {
  Context context = context_of(RowKind::kBandwidth);
  context.options.min_bandwidth_gb_per_s = 10;
  const SpeedVerdict nothing = verdict_on(context, {});
  EXPECT_EQ(nothing.status, ExitStatus::kNotJudged);
  EXPECT_EQ(nothing.reason, "Nothing was measured, so the requirements could not be judged");
  Row skipped;
  skipped.skipped = "above the MTU";
  EXPECT_EQ(verdict_on(context, {skipped}).status, ExitStatus::kNotJudged);
}

TEST(Verdict, TakesRowsOfEveryPair) {
  Context context = context_of(RowKind::kBandwidth);
  context.options.min_bandwidth_gb_per_s = 10;
  const SpeedVerdict verdict = verdict_on(context, {row_of(0, 1024, 12)});
  EXPECT_EQ(verdict.status, ExitStatus::kNotJudged);
  EXPECT_EQ(verdict.reason,
            "Pair 1 (rank 1 of host a -> rank 3 of host b) was not measured, so the requirements could not be judged");
}

TEST(Verdict, DoesNotTakeAMeasurementWithoutATimeForAFastOne) {
  Context context = context_of(RowKind::kLatency, 1);
  context.options.rdma.max_latency = 2e-6;
  const SpeedVerdict verdict = verdict_on(context, {row_of(0, 8, 0, 1e-6), row_of(0, 16, 0, 0)});
  EXPECT_EQ(verdict.status, ExitStatus::kNotJudged);
  EXPECT_NE(verdict.reason.find("has no figure at 16 bytes"), std::string::npos) << verdict.reason;
}

TEST(Verdict, JudgesNoLatencyByABandwidth) {
  Context latency = context_of(RowKind::kLatency, 1);
  latency.options.min_bandwidth_gb_per_s = 10;
  latency.options.rdma.percent_of_rate = 90;
  EXPECT_EQ(verdict_on(latency, {row_of(0, 8, 1)}).status, ExitStatus::kNotJudged);
  EXPECT_EQ(verdict_on(latency, {row_of(0, 8, 1)}).findings.size(), 2U);
  Context bandwidth = context_of(RowKind::kBandwidth, 1);
  bandwidth.options.rdma.max_latency = 1;
  EXPECT_EQ(verdict_on(bandwidth, {row_of(0, 8, 1)}).status, ExitStatus::kNotJudged);
}

TEST(Verdict, GoesBehindWrongData) {
  Context context = context_of(RowKind::kBandwidth, 1);
  context.options.min_bandwidth_gb_per_s = 10;
  Row wrong = row_of(0, 1024, 1);
  wrong.out_of_place->wrong = 5;
  wrong.out_of_place->wrong_ranks = 1;
  testing::internal::CaptureStderr();
  const Ending ending = ending_of(context, {wrong});
  (void)testing::internal::GetCapturedStderr();
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kWrongData));
  EXPECT_EQ(ending.fast_enough, false);
}

TEST(Verdict, HasNoWordThatParsersLookFor) {
  Context context = context_of(RowKind::kBandwidth, 1);
  for (GroupFacts& pair : context.groups) pair.wire_rate = 50 * kGb;
  context.options.min_bandwidth_gb_per_s = 10;
  context.options.rdma.percent_of_rate = 90;
  context.options.rdma.max_latency = 1e-6;
  for (const std::vector<Row>& rows : {std::vector<Row>{}, {row_of(0, 8, 1)}, {row_of(0, 8, 1, 0)}}) {
    for (const std::string& finding : verdict_on(context, rows).findings) {
      for (const char* word : {"FAILED", "bandwidth", "out-of-place", "in-place", " on "}) {
        EXPECT_EQ(finding.find(word), std::string::npos) << finding;
      }
    }
  }
}

Context gpu_context(double host_gb) {
  Context context = context_of(RowKind::kBandwidth);
  for (int rank = 0; rank < 4; ++rank) {
    RankFacts facts;
    facts.rank = rank;
    facts.group = rank % 2;
    facts.host_memory_rate = host_gb * kGb;
    context.ranks.push_back(facts);
  }
  return context;
}

std::vector<std::string> slow_memory_of(const Context& context, const std::vector<Row>& rows) {
  Totals totals(context.options);
  for (const Row& row : rows) totals.add(row, "rdma_write_bw");
  return slow_memory(totals, context);
}

TEST(SlowMemory, IsOfTheLargestMessageAlone) {
  EXPECT_TRUE(slow_memory_of(gpu_context(20), {row_of(0, 8, 0.1), row_of(0, 1 << 20, 16.1)}).empty());
  EXPECT_EQ(slow_memory_of(gpu_context(20), {row_of(0, 1 << 20, 15.9), row_of(0, 8, 19)}).size(), 1U);
}

TEST(SlowMemory, IsNothingWhereTheHostsWasNotMeasured) {
  EXPECT_TRUE(slow_memory_of(gpu_context(0), {row_of(0, 1 << 20, 1)}).empty());
  EXPECT_TRUE(slow_memory_of(gpu_context(20), {}).empty());
}

TEST(SlowMemory, NamesThePairAndItsSuspects) {
  Context context = gpu_context(24);
  context.ranks[1].obstacles = {"a is far from b"};
  context.ranks[3].obstacles = {"c is in the way", "d runs at x8"};
  context.ranks[0].obstacles = {"of the other pair"};
  const std::vector<std::string> lines = slow_memory_of(context, {row_of(0, 1 << 20, 23), row_of(1, 1 << 20, 12)});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0],
            "Pair 1 (rank 1 of host a -> rank 3 of host b) had 12 GB/s from GPU memory at 1048576 bytes, 50 % of the "
            "24 GB/s from host memory over the same adapters; suspects: rank 1: a is far from b; rank 3: c is in the "
            "way; rank 3: d runs at x8");
}

TEST(SlowMemory, SaysWhatElseToLookAt) {
  const std::vector<std::string> lines = slow_memory_of(gpu_context(24), {row_of(0, 1 << 20, 12)});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("suspects: none found at either end; check the size of BAR1"), std::string::npos);
}

}  // namespace verdict_test
