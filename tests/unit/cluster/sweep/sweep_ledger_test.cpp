// What a sweep over pairs keeps and concludes, without MPI: steps, the first endpoint's ledger, each one's readings.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/sweep/ledger.h"
#include "cluster/sweep/steps.h"
#include "common/core/error.h"
#include "common/report/sweep_facts.h"

namespace fabricbench::sweep {
namespace sweep_ledger_test {

constexpr Bytes kSize = 1000;

Options options_of(ScheduleKind schedule) {
  Options options;
  options.sweep.schedule = schedule;
  return options;
}

std::vector<std::string> names(int endpoints) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(endpoints));
  for (int endpoint = 0; endpoint < endpoints; ++endpoint) names.push_back(fmt::format("rank {} on n", endpoint));
  return names;
}

/// What an endpoint would have measured whose windows of 10 messages take that long.
Report report(const SweepStep& step, int endpoint, std::vector<Seconds> windows) {
  StepResult result;
  result.windows = std::move(windows);
  result.messages = 10;
  result.latency = 2e-6;
  return report_of(step.number, flows_of(step, endpoint), result, kSize, false);
}

using Directions = std::set<std::pair<int, int>>;

Directions directions_of(const ScheduledSteps& steps, int endpoints) {
  Directions met;
  for (std::int64_t number = 0; number < steps.count(); ++number) {
    const SweepStep step = steps.step(number);
    for (int endpoint = 0; endpoint < endpoints; ++endpoint) {
      const Flows flows = flows_of(step, endpoint);
      if (!flows.to) continue;
      EXPECT_EQ(flows_of(step, *flows.to).from, endpoint);
      EXPECT_TRUE(met.emplace(endpoint, *flows.to).second) << endpoint << " to " << *flows.to << " comes back";
    }
  }
  return met;
}

TEST(Steps, EveryPairInBothDirections) {
  for (const ScheduleKind kind : {ScheduleKind::kCircle, ScheduleKind::kShift}) {
    for (const int endpoints : {2, 3, 8, 9}) {
      const ScheduledSteps steps(options_of(kind), endpoints, 7);
      EXPECT_EQ(directions_of(steps, endpoints).size(), static_cast<std::size_t>(endpoints * (endpoints - 1)));
    }
  }
}

TEST(Steps, PingsOnlyOnTheWayThere) {
  const ScheduledSteps steps(options_of(ScheduleKind::kCircle), 4, 7);
  EXPECT_EQ(steps.count(), 6);
  EXPECT_TRUE(steps.step(0).pings());
  EXPECT_FALSE(steps.step(1).pings());
  EXPECT_EQ(steps.step(1).round, 0);
  EXPECT_EQ(steps.step(2).round, 1);
}

TEST(Steps, NoMoreAtATimeThanAskedFor) {
  Options options = options_of(ScheduleKind::kCircle);
  options.concurrent = 1;
  const ScheduledSteps steps(options, 6, 7);
  for (std::int64_t number = 0; number < steps.count(); ++number) {
    EXPECT_EQ(steps.step(number).meetings.size(), 1U);
  }
  EXPECT_EQ(directions_of(steps, 6).size(), 30U);
}

class LedgerOfTwo : public testing::Test {
 protected:
  ScheduledSteps steps_{options_of(ScheduleKind::kCircle), 2, 7};
  std::vector<PairReading> read_;
  Ledger ledger_{names(2), kSize, [this](const PairReading& reading) { read_.push_back(reading); }};
};

TEST_F(LedgerOfTwo, BandwidthsOfTheWindows) {
  const SweepStep step = steps_.step(0);
  const int receiver = *flows_of(step, 0).from == 1 ? 0 : 1;
  ledger_.begin(step);
  ledger_.note(receiver, report(step, receiver, {2e-3, 1e-3, 4e-3}));
  ASSERT_EQ(read_.size(), 1U);
  EXPECT_DOUBLE_EQ(read_[0].bandwidth, 10 * kSize / 2e-3);
  EXPECT_DOUBLE_EQ(read_[0].least_bandwidth, 10 * kSize / 4e-3);
  EXPECT_DOUBLE_EQ(read_[0].most_bandwidth, 10 * kSize / 1e-3);
  EXPECT_EQ(read_[0].windows, 3);
  EXPECT_EQ(read_[0].from, 1 - receiver);
  EXPECT_EQ(read_[0].to, receiver);
  EXPECT_EQ(read_[0].concurrent, 1);
  EXPECT_EQ(read_[0].latency, 2e-6);
  EXPECT_FALSE(ledger_.is_complete());
  ledger_.note(1 - receiver, report(step, 1 - receiver, {}));
  EXPECT_TRUE(ledger_.is_complete());
  EXPECT_EQ(read_.size(), 1U);
  EXPECT_EQ(ledger_.ending().exit_status, 0);
}

TEST_F(LedgerOfTwo, NamesWhoIsMissing) {
  ledger_.begin(steps_.step(0));
  ledger_.note(0, Report());
  EXPECT_EQ(ledger_.missing(), "rank 1 on n (to meet rank 0 on n)");
}

TEST_F(LedgerOfTwo, AReportThatComesTwiceCountsOnce) {
  ledger_.begin(steps_.step(0));
  ledger_.note(0, Report());
  ledger_.note(0, Report());
  EXPECT_FALSE(ledger_.is_complete());
}

TEST_F(LedgerOfTwo, TimeoutsAndWrongDataDecideTheExitStatus) {
  const SweepStep step = steps_.step(0);
  const int receiver = flows_of(step, 0).from ? 0 : 1;
  StepResult result;
  result.status = ReadingStatus::kTimeout;
  result.reason = "no answer";
  ledger_.begin(step);
  ledger_.note(receiver, report_of(0, flows_of(step, receiver), result, kSize, true));
  EXPECT_EQ(read_.back().reason, "no answer");
  EXPECT_TRUE(ledger_.has_abandoned());
  EXPECT_EQ(ledger_.ending().exit_status, static_cast<int>(ExitStatus::kTimeout));
  result.status = ReadingStatus::kWrong;
  ledger_.note(receiver, report_of(0, flows_of(step, receiver), result, kSize, false));
  EXPECT_EQ(ledger_.ending().exit_status, static_cast<int>(ExitStatus::kWrongData));
  EXPECT_EQ(ledger_.ending().wrong_checks, 1U);
}

TEST(Ledger, ManyMissingAreNotAllNamed) {
  const ScheduledSteps steps(options_of(ScheduleKind::kCircle), 100, 7);
  Ledger ledger(names(100), kSize, [](const PairReading&) {});
  ledger.begin(steps.step(0));
  EXPECT_NE(ledger.missing().find("and 92 more"), std::string::npos) << ledger.missing();
}

/// A sweep of 1024 endpoints: every one of a million directions is read once.
TEST(Ledger, ThousandEndpoints) {
  constexpr int kEndpoints = 1024;
  const ScheduledSteps steps(options_of(ScheduleKind::kCircle), kEndpoints, 7);
  std::int64_t readings = 0;
  Ledger ledger(names(kEndpoints), kSize, [&](const PairReading&) { ++readings; });
  for (std::int64_t number = 0; number < steps.count(); number += 64) {  // every 64th step
    const SweepStep step = steps.step(number);
    ledger.begin(step);
    for (const Pair& meeting : step.meetings) {
      ledger.note(meeting.first, report(step, meeting.first, {1e-3}));
      ledger.note(meeting.second, report(step, meeting.second, {1e-3}));
    }
    EXPECT_TRUE(ledger.is_complete());
  }
  EXPECT_EQ(steps.count(), 2 * 1023);
  EXPECT_EQ(readings, 32 * 512);
}

TEST(Ledger, NamesTheSlowestReadingBelowWhatIsRequired) {
  Ledger ledger(
      {"rank 0 on a", "rank 1 on b"}, kSize, [](const PairReading& /*reading*/) {}, 1e9);
  ledger.begin({.number = 0, .round = 0, .meetings = {{0, 1}}});
  const auto reading = [](int from, double bandwidth) {
    Report report;
    report.from = from;
    report.bandwidth = bandwidth;
    return report;
  };
  ledger.note(0, reading(1, 0.9e9));
  EXPECT_EQ(ledger.ending().fast_enough, false);
  ledger.note(1, reading(0, 0.5e9));
  const Ending ending = ledger.ending();
  EXPECT_EQ(ending.exit_status, static_cast<int>(ExitStatus::kTooSlow));
  EXPECT_EQ(
      ending.reason,
      "2 of 2 readings are below 1 GB/s, which --min-bw requires; the slowest is rank 0 on a -> rank 1 on b, 0.5 GB/s");
}

TEST(EndpointStatistics, MediansAndTheLeastPartner) {
  EndpointStatistics own(5);
  own.note_sent(1, 4e9);
  own.note_sent(2, 1e9);
  own.note_sent(3, 3e9);
  own.note_received(4, 2e9);
  own.note_latency(3e-6);
  const EndpointSummary summary = own.summary(0);
  EXPECT_EQ(summary.sent.readings, 3);
  EXPECT_DOUBLE_EQ(summary.sent.median, 3e9);
  EXPECT_DOUBLE_EQ(summary.sent.least, 1e9);
  EXPECT_EQ(summary.sent.least_partner, 2);
  EXPECT_EQ(summary.received.least_partner, 4);
  EXPECT_EQ(summary.latency, 3e-6);
  EXPECT_EQ(summary.failed, 0);
}

TEST(EndpointStatistics, FailedReadingsAreCountedAndNotAveraged) {
  EndpointStatistics own(3);
  own.note_sent(1, 0);
  own.note_sent(2, 2e9);
  own.note_received(1, 0);
  const EndpointSummary summary = own.summary(0);
  EXPECT_EQ(summary.failed, 2);
  EXPECT_EQ(summary.sent.readings, 1);
  EXPECT_DOUBLE_EQ(summary.sent.least, 2e9);
  EXPECT_EQ(summary.received.readings, 0);
  EXPECT_FALSE(summary.received.least_partner.has_value());
  EXPECT_FALSE(summary.latency);
  EXPECT_TRUE(std::isnan(own.received()[2]));
}

}  // namespace sweep_ledger_test
}  // namespace fabricbench::sweep
