// What a sweep over pairs that is cut short can state: a summary of every endpoint that has readings, and the matrix.

#include "common/report/sink.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "sweep_test_support.h"

namespace fabricbench {
namespace {

InterimSweep interim_of(const Context& context, const std::vector<PairReading>& readings) {
  InterimSweep interim;
  interim.begin(context);
  for (const PairReading& reading : readings) interim.add(reading);
  return interim;
}

TEST(InterimSweep, StatesNothingWithoutReadings) {
  const InterimSweep interim = interim_of(test::sweep_context(3), {});
  EXPECT_TRUE(interim.summaries().empty());
  EXPECT_TRUE(interim.matrix().empty());
}

TEST(InterimSweep, StatesTheEndpointsThatHaveReadings) {
  const auto failed = test::failed_reading(2, 0, ReadingStatus::kTimeout, "late");
  const InterimSweep interim =
      interim_of(test::sweep_context(4), {test::reading_of(0, 2, 12), test::reading_of(3, 2, 10), failed});
  const std::vector<EndpointSummary> summaries = interim.summaries();
  ASSERT_EQ(summaries.size(), 3U) << "endpoint 1 has none";
  EXPECT_EQ(summaries[0].endpoint, 0);
  EXPECT_EQ(summaries[0].failed, 1);
  EXPECT_DOUBLE_EQ(summaries[0].sent.median, 12e9);
  EXPECT_EQ(summaries[1].endpoint, 2);
  EXPECT_TRUE(summaries[1].cut_short);
  EXPECT_EQ(summaries[1].host, "node-02");
  EXPECT_EQ(summaries[1].received.readings, 2);
  EXPECT_DOUBLE_EQ(summaries[1].received.least, 10e9);
  EXPECT_EQ(summaries[1].received.least_partner_host, "node-03");
  EXPECT_EQ(summaries[1].latency, 2e-6);
}

TEST(InterimSweep, MatrixHasTheLastReadingOfEachPair) {
  const InterimSweep interim =
      interim_of(test::sweep_context(3), {test::reading_of(0, 1, 12), test::reading_of(0, 1, 11),
                                          test::failed_reading(2, 1, ReadingStatus::kTimeout, "late")});
  const std::vector<MatrixRow> matrix = interim.matrix();
  ASSERT_EQ(matrix.size(), 3U);
  EXPECT_EQ(matrix[1].receiver, 1);
  EXPECT_FLOAT_EQ(matrix[1].bandwidths[0], 11e9F);
  EXPECT_EQ(matrix[1].bandwidths[2], 0);
  EXPECT_TRUE(std::isnan(matrix[0].bandwidths[1]));
}

TEST(InterimSweep, LeavesOutWhatTheRunHasStated) {
  InterimSweep interim = interim_of(test::sweep_context(2), {test::reading_of(0, 1, 12), test::reading_of(1, 0, 12)});
  EndpointSummary first;
  first.endpoint = 0;
  interim.remove(first);
  interim.remove(MatrixRow{1, {}});
  ASSERT_EQ(interim.summaries().size(), 1U);
  EXPECT_EQ(interim.summaries()[0].endpoint, 1);
  ASSERT_EQ(interim.matrix().size(), 1U);
  EXPECT_EQ(interim.matrix()[0].receiver, 0);
}

TEST(InterimSweep, StatesNothingOfTooManyEndpoints) {
  const InterimSweep interim =
      interim_of(test::sweep_context(static_cast<int>(InterimSweep::kMostEndpoints) + 1), {test::reading_of(0, 1, 12)});
  EXPECT_TRUE(interim.summaries().empty());
}

TEST(InterimSweep, NumbersOutsideAreIgnored) {
  EXPECT_TRUE(interim_of(test::sweep_context(2), {test::reading_of(0, 7, 12)}).summaries().empty());
}

}  // namespace
}  // namespace fabricbench
