#include "common/engine/conclusion.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

using namespace fabricbench;

namespace conclusion_test {

/// Two hosts; ranks 0 and 2 are group 0, and ranks 1 and 3 group 1.
Context two_groups() {
  Context context;
  for (int rank = 0; rank < 4; ++rank) {
    RankFacts facts;
    facts.rank = rank;
    facts.host = rank < 2 ? "node-a" : "node-b";
    facts.group = rank % 2;
    facts.group_rank = rank / 2;
    context.ranks.push_back(facts);
  }
  context.groups = {{"0, 2", "node-a, node-b"}, {"1, 3", "node-a, node-b"}};
  return context;
}

Context one_group(int ranks) {
  Context context;
  for (int rank = 0; rank < ranks; ++rank) {
    RankFacts facts;
    facts.rank = rank;
    facts.host = "node-" + std::to_string(rank);
    facts.group_rank = rank;
    context.ranks.push_back(facts);
  }
  context.groups = {{"all", "all"}};
  return context;
}

Row row_of(int group, double busbw_gb) {
  Row row;
  row.group = group;
  row.out_of_place.emplace();
  row.out_of_place->busbw = busbw_gb * 1e9;
  row.out_of_place->wrong = 0;
  row.out_of_place->summary.samples = 100;
  row.out_of_place->summary.epochs = 9;
  row.out_of_place->summary.median = 1e-3;
  return row;
}

/// One in which a rank took 5 % longer in `samples` of 100 samples of each of 12 epochs.
Row row_with_slowest(int group, int ranks, int slowest_rank, int samples) {
  Row row = row_of(group, 1);
  row.out_of_place->summary.epochs = 12;
  for (int epoch = 0; epoch < 12; ++epoch) {
    row.out_of_place->summary.times_slowest.push_back({slowest_rank, epoch, samples});
    const int other = (slowest_rank + 1) % ranks;
    if (samples < 100) row.out_of_place->summary.times_slowest.push_back({other, epoch, 100 - samples});
  }
  row.out_of_place->rank_means.assign(static_cast<std::size_t>(ranks), 1e-3);
  row.out_of_place->rank_means[static_cast<std::size_t>(slowest_rank)] = 1.05e-3;
  return row;
}

/// One in which the last of four ranks was idle for a quarter of the time.
Row row_with_idle(IdleShares Measurement::*shares) {
  Row row = row_of(0, 1);
  row.out_of_place->rank_means.assign(4, 1e-3);
  row.out_of_place->stopped.by_rank.assign(4, 0);
  row.out_of_place->waiting.by_rank.assign(4, 0);
  ((*row.out_of_place).*shares) = {{0, 0, 0, 0.25}, std::vector<int>(9, 3), std::vector<double>(9, 0.25)};
  return row;
}

Ending ending_of(const Context& context, const std::vector<Row>& rows) {
  Totals totals(context.options);
  for (const Row& row : rows) totals.add(row, "all_reduce");
  return conclude(totals, context);
}

bool has_note(const Ending& ending, const std::string& note) {
  for (const std::string& line : ending.notes) {
    if (line == note) return true;
  }
  return false;
}

std::string all_notes(const Ending& ending) {
  std::string text;
  for (const std::string& line : ending.notes) text += line + "\n";
  return text;
}

Row wrong_row() {
  Row row = row_of(0, 1);
  row.out_of_place->wrong = 5;
  row.out_of_place->wrong_ranks = 2;
  return row;
}

TEST(Conclusion, OfARunWithoutFaultsIsGood) {
  const Ending ending = ending_of(one_group(2), {row_of(0, 10), row_of(0, 20)});
  EXPECT_EQ(ending.exit_status, 0);
  EXPECT_EQ(ending.reason, "every size was measured and every check passed");
  EXPECT_EQ(ending.average_busbw, 15e9);
  EXPECT_FALSE(ending.fast_enough.has_value());
  EXPECT_EQ(ending.wrong_checks, 0U);
  EXPECT_FALSE(ending.precision.empty());
}

TEST(Conclusion, OfARunWithoutChecksSaysSo) {
  Context context = one_group(2);
  context.options.checks = 0;
  EXPECT_NE(ending_of(context, {row_of(0, 10)}).reason.find("nothing was checked"), std::string::npos);
}

TEST(Conclusion, SaysWhereRanksWaitedForAProcessor) {
  std::vector<Row> rows{row_of(0, 10), row_of(0, 20), row_of(0, 30)};
  rows[1].size = 4096;
  rows[1].out_of_place->processor_wait = 0.63;
  const Ending ending = ending_of(one_group(2), rows);
  EXPECT_EQ(ending.exit_status, 0) << "nothing was required";
  EXPECT_TRUE(has_note(ending,
                       "In 1 of 3 measurements (sizes: 4096) ranks waited for a processor 63 % of the time: these "
                       "are not figures of the network; run fewer ranks than processors, on a host without other work"))
      << all_notes(ending);
  for (Row& row : rows) row.out_of_place->processor_wait = 0.2;
  EXPECT_NE(all_notes(ending_of(one_group(2), rows)).find("In all measurements ranks waited for a processor 20 % of"),
            std::string::npos);
}

TEST(Conclusion, JudgesNothingWhereRanksWaitedForAProcessor) {
  Context context = one_group(2);
  for (const double required : {1.0, 100.0}) {
    context.options.min_bandwidth_gb_per_s = required;
    Row row = row_of(0, 10);
    row.out_of_place->processor_wait = 0.63;
    const Ending ending = ending_of(context, {row, row_of(0, 10)});
    EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kNotJudged));
    EXPECT_EQ(ending.reason, "ranks waited for a processor 63 % of the time: these are not figures of the network");
    EXPECT_FALSE(ending.fast_enough.has_value());
    const Ending wrong = ending_of(context, {row, wrong_row()});
    EXPECT_EQ(wrong.exit_status, static_cast<int>(ExitStatus::kWrongData)) << "wrong data are wrong on any host";
  }
}

TEST(Conclusion, OfALoadThatCarriedNothingIsNoJudgement) {
  std::vector<Row> rows{row_of(0, 10), row_of(0, 10)};
  for (Row& row : rows) row.out_of_place->background_rate = 1e9;
  EXPECT_EQ(ending_of(one_group(2), rows).exit_status, 0);
  rows[1].out_of_place->background_rate = 0;
  const Ending ending = ending_of(one_group(2), rows);
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kNotJudged));
  EXPECT_NE(ending.reason.find("carried nothing during 1 of 2 measurements"), std::string::npos) << ending.reason;
}

TEST(Conclusion, IsTooSlowBelowTheRequiredAverage) {
  Context context = one_group(2);
  context.options.min_bandwidth_gb_per_s = 10;
  const Ending enough = ending_of(context, {row_of(0, 10)});
  EXPECT_EQ(enough.exit_status, 0);
  EXPECT_EQ(enough.fast_enough, true);
  const Ending slow = ending_of(context, {row_of(0, 9.99)});
  EXPECT_EQ(slow.exit_status, static_cast<int>(ExitStatus::kTooSlow));
  EXPECT_EQ(slow.fast_enough, false);
  EXPECT_EQ(slow.reason, "The average busbw, 9.99 GB/s, is below 10 GB/s, which --min-bw requires");
}

TEST(Conclusion, JudgesNoRequiredAverageWhereBusbwIsZeroByDefinition) {
  Context context = one_group(2);
  context.options.min_bandwidth_gb_per_s = 10;
  const Ending ending = ending_of(context, {row_of(0, 0)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kNotJudged));
  EXPECT_EQ(ending.reason,
            "The busbw is 0 by definition, as of one rank and of barriers, so --min-bw could not be judged");
  context.options.like = ReferenceTool::kNcclTests;
  EXPECT_EQ(ending_of(context, {row_of(0, 0)}).exit_status, static_cast<int>(ExitStatus::kTooSlow));
}

TEST(Conclusion, LikeNcclTestsIsTooSlowBelowNineTenthsOfTheRequiredAverage) {
  Context context = one_group(2);
  context.options.min_bandwidth_gb_per_s = 10;
  context.options.like = ReferenceTool::kNcclTests;
  EXPECT_EQ(ending_of(context, {row_of(0, 9)}).exit_status, 0);
  const Ending slow = ending_of(context, {row_of(0, 8.99)});
  EXPECT_EQ(slow.exit_status, static_cast<int>(ExitStatus::kTooSlow));
  EXPECT_EQ(slow.reason, "The average busbw, 8.99 GB/s, is below 0.9 of 10 GB/s, which --min-bw requires");
}

TEST(Conclusion, OfNothingMeasuredJudgesNoBandwidth) {
  Context context = one_group(2);
  context.options.min_bandwidth_gb_per_s = 10;
  EXPECT_EQ(ending_of(context, {}).exit_status, static_cast<int>(ExitStatus::kNotJudged));
}

TEST(Conclusion, OfWrongDataIsWrongDataEvenWhereItIsTooSlowAsWell) {
  Context context = one_group(2);
  context.options.min_bandwidth_gb_per_s = 10;
  testing::internal::CaptureStderr();
  const Ending ending = ending_of(context, {wrong_row()});
  (void)testing::internal::GetCapturedStderr();
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kWrongData));
  EXPECT_EQ(ending.reason, "2 checks found wrong data");
  EXPECT_EQ(ending.wrong_checks, 2U);
  EXPECT_EQ(ending.fast_enough, false);
  EXPECT_NE(all_notes(ending).find("wrong data in all_reduce"), std::string::npos);
}

TEST(Conclusion, NamesTheSlowestRankAndItsHostInTheJobsNumbers) {
  const Ending ending = ending_of(one_group(4), {row_with_slowest(0, 4, 2, 75)});
  EXPECT_TRUE(has_note(ending,
                       "Rank 2 of host node-2 took longest in 75 % of the samples (25 % would be chance), and most "
                       "often in 12 of 12 epochs; its mean time is +5.0 % from the median of the others"))
      << all_notes(ending);
  const Ending groups = ending_of(two_groups(), {row_with_slowest(0, 2, 1, 100), row_with_slowest(1, 2, 0, 55)});
  EXPECT_TRUE(has_note(groups,
                       "Rank 2 of host node-b took longest in 100 % of the samples (50 % would be chance), and most "
                       "often in 12 of 12 epochs; its mean time is +5.0 % from the median of the others"))
      << all_notes(groups);
  EXPECT_EQ(all_notes(groups).find("Rank 1 of host"), std::string::npos) << "55 % is near 50 %";
}

TEST(Conclusion, NamesNoSlowestRankWhereRanksShareProcessors) {
  Context context = one_group(4);
  context.options.iterations = 20;
  std::vector<Row> rows;
  for (Bytes size = 8; size < 8 << 6; size *= 2) rows.push_back(row_with_slowest(0, 4, 2, 75));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].size = 8 << i;
  EXPECT_TRUE(has_note(ending_of(context, rows),
                       "Rank 2 of host node-2 took longest in 75 % of the samples (25 % would be chance), and most "
                       "often in 6 of 6 sizes; its mean time is +5.0 % from the median of the others"))
      << all_notes(ending_of(context, rows));
  context.ranks[1].processes_on_host = 3;
  context.ranks[1].processors_on_host = 2;
  EXPECT_EQ(all_notes(ending_of(context, rows)).find("took longest"), std::string::npos);
}

TEST(Conclusion, NamesTheRankThatDidNotRun) {
  Context context = one_group(4);
  EXPECT_TRUE(
      has_note(ending_of(context, {row_with_idle(&Measurement::stopped)}),
               "Rank 3 of host node-3 was stopped or asleep for 25 % of the time, the others for 0 %; it did so "
               "most in 9 of 9 epochs. A collective waits for all ranks, so times include that"))
      << all_notes(ending_of(context, {row_with_idle(&Measurement::stopped)}));
  const std::string waits = "Rank 3 of host node-3 waited for a processor for 25 % of the time, ";
  EXPECT_NE(all_notes(ending_of(context, {row_with_idle(&Measurement::waiting)})).find(waits), std::string::npos);
  context.ranks[3].processes_on_host = 3;
  context.ranks[3].processors_on_host = 2;
  const Ending ending = ending_of(context, {row_with_idle(&Measurement::waiting)});
  EXPECT_EQ(all_notes(ending).find("Rank 3"), std::string::npos) << "some rank always waits there, as a notice says";
}

TEST(Conclusion, HasNothingToSayOfTheSlowestOfOneRankOrOfNoMeasurement) {
  EXPECT_TRUE(ending_of(one_group(1), {row_of(0, 1)}).notes.empty());
  EXPECT_TRUE(ending_of(one_group(2), {}).notes.empty());
}

TEST(Conclusion, NamesTheDatatypeAndReductionWhoseDataExerciseTheFewestBits) {
  Row large = row_of(0, 10);
  large.reduction = Reduction::kSum;
  large.out_of_place->checked_bits_share = 1;
  Row small = large;
  small.out_of_place->checked_bits_share = 0.25;  // of a buffer of few elements; the large one counts
  EXPECT_TRUE(has_note(ending_of(one_group(2), {small, large}),
                       "The checked data have both values, 0 and 1, in 32 of 32 bits of an element (float sum)"));
  Row other = large;
  other.datatype = DataType::kUint8;
  other.reduction = Reduction::kProd;
  other.out_of_place->checked_bits_share = 0.875;
  EXPECT_TRUE(
      has_note(ending_of(one_group(2), {small, large, other}),
               "The checked data have both values, 0 and 1, in 7 of 8 bits of an element (uint8 prod, the least "
               "of 2 kinds)"));
  EXPECT_EQ(all_notes(ending_of(one_group(2), {row_of(0, 1)})).find("checked data"), std::string::npos);
}

TEST(Conclusion, ReportsWhatIsNotRepeatableAndStaysGood) {
  Row row = row_of(0, 10);
  row.out_of_place->repeatable = true;
  EXPECT_TRUE(has_note(ending_of(one_group(2), {row, row}), "Repeatable: the same bits twice in all 2 cases"));
  Row other = row;
  other.out_of_place->repeatable = false;
  other.out_of_place->unrepeated = "2 ranks; rank 0: first among elements 0 to 255";
  const Ending ending = ending_of(one_group(2), {row, other});
  EXPECT_EQ(ending.exit_status, 0);
  EXPECT_TRUE(has_note(ending, "Not repeatable: the same input gave other bits in 1 of 2 cases")) << all_notes(ending);
  EXPECT_NE(all_notes(ending).find("other bits on 2 ranks; rank 0: first among elements 0 to 255"), std::string::npos);
  EXPECT_EQ(all_notes(ending_of(one_group(2), {row_of(0, 1)})).find("epeatable"), std::string::npos);
}

TEST(Conclusion, ReportsEachGroupAndTheSlowestByName) {
  const Ending ending = ending_of(two_groups(), {row_of(0, 10), row_of(0, 14), row_of(1, 9)});
  EXPECT_TRUE(has_note(ending, "Group 0 (ranks 0, 2; hosts node-a, node-b): average busbw 12 GB/s"))
      << all_notes(ending);
  EXPECT_TRUE(has_note(ending, "Group 1 (ranks 1, 3; hosts node-a, node-b): average busbw 9 GB/s"));
  EXPECT_TRUE(has_note(ending,
                       "Group 1 (ranks 1, 3; hosts node-a, node-b) is the slowest, 25.0 % below the fastest; "
                       "the average above is that of this group"));
  EXPECT_EQ(ending.average_busbw, 9e9) << "never averaged away";
}

TEST(Conclusion, JudgesTheSlowestGroup) {
  Context context = two_groups();
  context.options.min_bandwidth_gb_per_s = 11;
  const Ending ending = ending_of(context, {row_of(0, 20), row_of(1, 9)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kTooSlow));
  EXPECT_EQ(ending.reason,
            "The average busbw of Group 1 (ranks 1, 3; hosts node-a, node-b), 9 GB/s, is below 11 GB/s, which --min-bw "
            "requires");
}

TEST(Conclusion, OfOneGroupSpeaksOfNoGroups) {
  EXPECT_EQ(all_notes(ending_of(one_group(2), {row_of(0, 10)})).find("Group"), std::string::npos);
}

TEST(Conclusion, TellsOfTimesBelowTheStepOfTheClock) {
  Row row = row_of(0, 1);
  row.out_of_place->summary.median = 0;
  row.out_of_place->summary.resolution = 0.5e-6;
  const Ending ending = ending_of(one_group(2), {row, row_of(0, 1)});
  EXPECT_TRUE(
      has_note(ending,
               "1 of 2 measurements took less than a step of the GPU's clock, 500 ns: their times and bandwidths "
               "say no more than that"))
      << all_notes(ending);
}

TEST(Conclusion, TellsOfLateSamplesAndStartsByBarrier) {
  Row row = row_of(0, 1);
  row.out_of_place->summary.late = 7;
  row.out_of_place->summary.common_start = false;
  const Ending ending = ending_of(one_group(2), {row, row_of(0, 1)});
  EXPECT_TRUE(has_note(ending, "7 samples began late and were left out")) << all_notes(ending);
  EXPECT_NE(all_notes(ending).find("1 of 2 measurements were started by a barrier"), std::string::npos);
}

class AbandonedSink final : public Sink {
 public:
  explicit AbandonedSink(Ending& ending) : ending_(ending) {}
  void begin(const Context&) override {}
  void record(const AnyRecord&) override {}
  void end(const Ending&) override { ADD_FAILURE() << "a run that broke off has no good end"; }
  void abandon(const Ending& ending) override { ending_ = ending; }

 private:
  Ending& ending_;
};

TEST(Abandon, TellsEverySinkWhy) {
  Ending first;
  Ending second;
  Outputs outputs;
  outputs.add(std::make_unique<AbandonedSink>(first));
  outputs.add(std::make_unique<AbandonedSink>(second));
  abandon(outputs, ExitStatus::kTimeout, "no progress");
  for (const Ending& ending : {first, second}) {
    EXPECT_EQ(ending.exit_status, 4);
    EXPECT_EQ(ending.reason, "no progress");
  }
}

TEST(Conclusion, IsNoneWhereAllMessagesWereLost) {
  Row row = row_of(0, 0);
  row.out_of_place->lost = 300;
  const Ending ending = ending_of(one_group(2), {row, row_of(0, 10)});
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kNotJudged));
  EXPECT_EQ(ending.reason, "all messages of 1 of 2 measurements were lost: there is no figure");
  row.out_of_place->message_rate = 1;
  EXPECT_EQ(ending_of(one_group(2), {row}).exit_status, 0) << "some arrived";
}

TEST(Conclusion, IsNoneWhereTheClockStandsStill) {
  Row row = row_of(0, 0);
  for (const Seconds time : {0.0, -1.0}) {
    row.out_of_place->summary.median = time;
    const Ending ending = ending_of(one_group(2), {row, row_of(0, 10)});
    EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kNotJudged));
    EXPECT_EQ(ending.reason.find("1 of 2 measurements took no time by this host's clock"), 0U) << ending.reason;
  }
  row.out_of_place->summary.resolution = 1e-6;  // of a GPU's
  EXPECT_EQ(ending_of(one_group(2), {row}).exit_status, 0);
}

}  // namespace conclusion_test
