// What a run that is cut short can state: rows of the epochs that were finished, before the outputs are told of the
// end.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/report/sink.h"

namespace fabricbench {
namespace {

EpochRecord epoch_of(Bytes size, Seconds median, bool in_place = false) {
  return {.size = size,
          .count = size / 4,
          .reduction = Reduction::kSum,
          .root = -1,
          .in_place = in_place,
          .median = median,
          .algbw = static_cast<double>(size) / median,
          .busbw = 1.5 * static_cast<double>(size) / median,
          .samples = 20};
}

/// Of the case that epoch_of(8, ...) is of.
Row row_of_8_bytes() {
  Row row;
  row.size = 8;
  row.count = 2;
  row.reduction = Reduction::kSum;
  return row;
}

TEST(InterimRows, AreNoneBeforeTheFirstEpoch) { EXPECT_TRUE(InterimRows().rows().empty()); }

TEST(InterimRows, HaveTheFiguresOfTheMedianEpoch) {
  InterimRows interim;
  for (const Seconds median : {4e-6, 1e-6, 2e-6}) interim.add(epoch_of(1024, median));
  const std::vector<Row> rows = interim.rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].cut_short);
  EXPECT_EQ(rows[0].count, 256U);
  EXPECT_FALSE(rows[0].in_place);
  const Measurement& measured = *rows[0].out_of_place;
  EXPECT_EQ(measured.summary.median, 2e-6);
  EXPECT_EQ(measured.summary.epochs, 3);
  EXPECT_EQ(measured.summary.samples, 3) << "an epoch counts as one";
  EXPECT_FALSE(measured.summary.interval) << "which takes six epochs";
  EXPECT_DOUBLE_EQ(measured.algbw, 1024 / 2e-6);
  EXPECT_DOUBLE_EQ(measured.busbw, 1.5 * 1024 / 2e-6);
  EXPECT_FALSE(measured.wrong) << "unknown, as the following";
  EXPECT_FALSE(measured.summary.slowest_rank || measured.summary.slowest_share);
  EXPECT_FALSE(measured.summary.preemptions || measured.summary.most_preempted_rank);
  EXPECT_FALSE(measured.summary.jitter || measured.cpu_time);
  EXPECT_FALSE(measured.iterations || measured.operations_per_sample);
}

TEST(InterimRows, AreOfEstimatesUntilTheFirstEpoch) {
  InterimRows interim;
  const auto estimate_of = [](Bytes size, Seconds time) {
    EpochRecord estimate = epoch_of(size, time);
    estimate.samples = 0;
    return estimate;
  };
  interim.estimate(estimate_of(8, 1e-6));
  interim.estimate(estimate_of(64, 3e-6));
  interim.estimate(estimate_of(128, 3e-6));
  interim.add(epoch_of(64, 2e-6));
  Row finished;
  finished.size = 128;
  finished.count = 32;
  finished.reduction = Reduction::kSum;
  interim.remove(finished);
  const std::vector<Row> rows = interim.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].cut_short);
  EXPECT_EQ(rows[0].out_of_place->summary.median, 1e-6);
  EXPECT_EQ(rows[0].out_of_place->summary.epochs, 0);
  EXPECT_EQ(rows[0].out_of_place->summary.samples, 0);
  EXPECT_DOUBLE_EQ(rows[0].out_of_place->busbw, 1.5 * 8 / 1e-6);
  EXPECT_EQ(rows[1].out_of_place->summary.median, 2e-6) << "an epoch goes before the estimate";
  EXPECT_EQ(rows[1].out_of_place->summary.epochs, 1);
}

TEST(InterimRows, OfWindowsHaveARateOfMessages) {
  InterimRows interim;
  interim.begin(RowKind::kBandwidth);
  interim.add(epoch_of(1024, 2e-6));
  EXPECT_DOUBLE_EQ(interim.rows().front().out_of_place->message_rate, 1 / 2e-6);
}

TEST(InterimRows, HaveAnIntervalFromSixEpochsOn) {
  InterimRows interim;
  for (int epoch = 1; epoch <= 6; ++epoch) interim.add(epoch_of(1024, epoch * 1e-6));
  const Summary summary = interim.rows().front().out_of_place->summary;
  ASSERT_TRUE(summary.interval);
  EXPECT_EQ(summary.interval->low, 1e-6);
  EXPECT_EQ(summary.interval->high, 6e-6);
}

TEST(InterimRows, AreInTheTablesOrder) {
  InterimRows interim;
  EpochRecord of_max = epoch_of(8, 1e-6);
  of_max.reduction = Reduction::kMax;
  interim.add(of_max);
  interim.add(epoch_of(64, 1e-6));
  interim.add(epoch_of(8, 2e-6, true));
  interim.add(epoch_of(8, 1e-6));
  EpochRecord of_group = epoch_of(8, 3e-6);
  of_group.group = 1;
  interim.add(of_group);
  const std::vector<Row> rows = interim.rows();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].reduction, Reduction::kMax);
  EXPECT_EQ(rows[1].size, 8U);
  EXPECT_EQ(rows[1].group, 0);
  EXPECT_EQ(rows[1].out_of_place->summary.median, 1e-6);
  EXPECT_EQ(rows[1].in_place->summary.median, 2e-6);
  EXPECT_EQ(rows[2].group, 1);
  EXPECT_EQ(rows[3].size, 64U);
}

TEST(InterimRows, ForgetWhatIsComplete) {
  InterimRows interim;
  interim.add(epoch_of(8, 1e-6));
  interim.add(epoch_of(64, 1e-6));
  interim.remove(row_of_8_bytes());
  ASSERT_EQ(interim.rows().size(), 1U);
  EXPECT_EQ(interim.rows().front().size, 64U);
}

/// Notes what it is told.
class Notes final : public Sink {
 public:
  explicit Notes(std::vector<std::string>& told) : told_(told) {}
  void begin(const Context& /*context*/) override { told_.emplace_back("begin"); }
  void record(const AnyRecord& record) override {
    if (record.as<EpochRecord>() != nullptr) told_.emplace_back("epoch");
    if (const auto* copy = record.as<CopyRow>()) told_.emplace_back(copy->cut_short ? "copy cut short" : "copy");
    if (const auto* row = record.as<Row>()) told_.emplace_back(row->cut_short ? "cut short" : "row");
  }
  void end(const Ending& /*ending*/) override { told_.emplace_back("end"); }
  void abandon(const Ending& ending) override { told_.push_back(ending.reason); }

 private:
  std::vector<std::string>& told_;
};

class AbandonedOutputs : public testing::Test {
 protected:
  AbandonedOutputs() {
    outputs_.add(std::make_unique<Notes>(told_));
    ending_.reason = "enough";
  }
  std::vector<std::string> told_;
  Outputs outputs_;
  Ending ending_;
};

TEST_F(AbandonedOutputs, HaveTheRowsThatCanBeStated) {
  outputs_.begin({});
  outputs_.record(epoch_of(8, 1e-6));
  outputs_.record(epoch_of(64, 1e-6));
  outputs_.record(row_of_8_bytes());
  EXPECT_TRUE(outputs_.abandon(ending_));
  EXPECT_EQ(told_, (std::vector<std::string>{"begin", "epoch", "epoch", "row", "cut short", "enough"}));
}

TEST_F(AbandonedOutputs, HaveTheCopiesAsTheyWereKeptLast) {
  outputs_.begin({});
  outputs_.keep({CopyRow{}});
  outputs_.keep({CopyRow{}, CopyRow{}});
  EXPECT_TRUE(outputs_.abandon(ending_));
  EXPECT_EQ(told_, (std::vector<std::string>{"begin", "copy cut short", "copy cut short", "enough"}));
}

TEST_F(AbandonedOutputs, DoNotRepeatCopiesThatAreComplete) {
  outputs_.begin({});
  outputs_.keep({CopyRow{}});
  outputs_.record(CopyRow{});
  EXPECT_TRUE(outputs_.abandon(ending_));
  EXPECT_EQ(told_, (std::vector<std::string>{"begin", "copy", "enough"}));
}

TEST_F(AbandonedOutputs, AreToldNothingMore) {
  EXPECT_TRUE(outputs_.abandon(ending_));
  EXPECT_FALSE(outputs_.abandon(ending_));
  outputs_.begin({});
  outputs_.record(epoch_of(8, 1e-6));
  outputs_.end({});
  EXPECT_EQ(told_, std::vector<std::string>{"enough"});
}

TEST_F(AbandonedOutputs, TakeNoMoreSinks) {
  Outputs early;
  EXPECT_FALSE(early.abandon(ending_)) << "there is nobody to tell";
  early = std::move(outputs_);
  early.begin({});
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace fabricbench
