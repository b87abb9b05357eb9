// Steps of a sweep that plans its rounds, and what it takes over from an earlier job.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/sweep/steps.h"
#include "common/core/error.h"
#include "report_test_support.h"

namespace fabricbench::sweep {
namespace planned_steps_test {

Measured measured_from(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("measured");
  std::ofstream(path) << text;
  return read_measured(path);
}

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(measured_from(text));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Measured, IsReadLineByLine) {
  const Measured measured = measured_from(
      "host\ta\nhost\tb\nhost\tc\n"
      "reading\t0\t1\ta\tb\t1.25e9\nreading\t0\t1\tb\ta\tfailed\nreading\t7\t2\tc\ta\tnot_tried\n");
  EXPECT_EQ(measured.hosts, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(measured.readings.size(), 3U);
  EXPECT_EQ(measured.readings[0].from, 0);
  EXPECT_EQ(measured.readings[0].to, 1);
  EXPECT_FLOAT_EQ(measured.readings[0].rate, 1.25e9F);
  EXPECT_EQ(measured.readings[1].outcome, cluster::Outcome::kFailed);
  EXPECT_EQ(measured.readings[2].outcome, cluster::Outcome::kNotTried);
  EXPECT_EQ(measured.readings[2].round, 7);
  EXPECT_EQ(measured.readings[2].concurrent, 2);
}

TEST(Measured, NamesTheLineThatIsWrong) {
  const std::string hosts = "host\ta\nhost\tb\n";
  for (const char* line : {"host\ta", "host", "a\tb", "", "reading\t0\t1\ta\tb", "reading\t0\t1\ta\tz\t1",
                           "reading\t-1\t1\ta\tb\t1", "reading\t0\tone\ta\tb\t1", "reading\t0\t1\ta\tb\t-5",
                           "reading\t0\t1\ta\tb\tnan", "reading\t0\t1\ta\tb\tslow", "reading\t0\t1\ta\tb\t1\t2"}) {
    EXPECT_NE(refusal_of(hosts + line + "\n").find("line 3, "), std::string::npos) << line;
  }
}

TEST(Measured, SaysThatAFileIsNotThere) {
  try {
    static_cast<void>(read_measured("/nowhere/measured"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
  }
}

/// Endpoints that are hosts of their own: h0, h1 ...
std::vector<NamedEndpoint> hosts(int count) {
  std::vector<NamedEndpoint> endpoints;
  for (int host = 0; host < count; ++host) endpoints.push_back({fmt::format("h{}", host), fmt::format("h{}", host)});
  return endpoints;
}

Options options_to_find() {
  Options options;
  options.sweep.find = true;
  return options;
}

PairReading reading_of(const SweepStep& step, int from, int to, double bandwidth) {
  PairReading reading;
  reading.round = step.round;
  reading.concurrent = static_cast<int>(step.meetings.size());
  reading.from = from;
  reading.to = to;
  reading.bandwidth = bandwidth;
  return reading;
}

/// By sender and receiver, bytes per second.
using Rate = double (*)(int, int);

/// Runs to the end. How often each direction was measured.
std::map<std::pair<int, int>, int> run(PlannedSteps& steps, Rate rate) {
  std::map<std::pair<int, int>, int> times;
  std::int64_t number = 0;
  while (const auto step = steps.next()) {
    EXPECT_EQ(step->number, number++);
    EXPECT_EQ(step->back, step->number % 2 == 1);
    for (const Pair& meeting : step->meetings) {
      const int from = step->back ? meeting.second : meeting.first;
      const int to = step->back ? meeting.first : meeting.second;
      ++times[{from, to}];
      steps.note(reading_of(*step, from, to, rate(from, to)));
    }
  }
  return times;
}

double all_alike(int /*from*/, int /*to*/) { return 10e9; }
double third_is_slow(int from, int to) { return from == 3 || to == 3 ? 5e9 : 10e9; }

TEST(PlannedSteps, FindTheSlowHost) {
  std::vector<SweepRound> told;
  const Options options = options_to_find();
  PlannedSteps steps(options, hosts(16), 1, {}, [&](const SweepRound& round) { told.push_back(round); });
  run(steps, third_is_slow);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front().pairs, 8U);
  EXPECT_EQ(told.front().why, "round 1 of 8 for all hosts");
  const auto verdict = steps.verdict();
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->judged, "slow");
  ASSERT_EQ(verdict->findings.size(), 1U);
  EXPECT_EQ(verdict->findings[0].endpoints, std::vector<std::string>{"h3"});
  EXPECT_EQ(verdict->findings[0].blame, "host");
  EXPECT_NEAR(verdict->findings[0].ratio, 0.5, 0.01);
}

TEST(PlannedSteps, MarkTheSlowEndpointInTheMapAndPutItLast) {
  const Options options = options_to_find();
  const Measured earlier{{"gone", "h0"}, {}};
  PlannedSteps steps(options, hosts(8), 1, earlier, [](const SweepRound&) {});
  run(steps, third_is_slow);
  const HeatLayout layout = steps.verdict()->layout;
  EXPECT_EQ(layout.order, (std::vector<std::size_t>{0, 1, 2, 4, 5, 6, 7, 3}));
  EXPECT_EQ(layout.marks, "   !    ");
}

TEST(LayoutOfEndpoints, LeavesOutHostsThatAreNone) {
  const HeatLayout whole = {{3, 1, 0, 2}, {{"a", 0, 2, 0}, {"b", 2, 3, 0}, {"c", 3, 4, 0}}, "!?~x"};
  const HeatLayout layout = layout_of_endpoints(whole, {-1, 2, 0, 1});
  EXPECT_EQ(layout.order, (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(layout.marks, "~x?");
  ASSERT_EQ(layout.blocks.size(), 2U);
  EXPECT_EQ(layout.blocks[0].name, "a");
  EXPECT_EQ(layout.blocks[0].last, 2U);
  EXPECT_EQ(layout.blocks[1].name, "c");
  EXPECT_EQ(layout.blocks[1].first, 2U);
  EXPECT_EQ(layout.blocks[1].last, 3U);
}

TEST(PlannedSteps, EndSoonWhereAllIsWell) {
  const Options options = options_to_find();
  PlannedSteps steps(options, hosts(16), 1, {}, [](const SweepRound&) {});
  run(steps, all_alike);
  EXPECT_EQ(steps.verdict()->judged, "clean");
  EXPECT_EQ(steps.left(), 0);
}

TEST(PlannedSteps, AreThoseOfAllPairsWithoutFind) {
  const Options options;
  const Measured nothing_yet{{"h0", "h1", "h2", "h3", "h4"}, {}};
  PlannedSteps steps(options, hosts(5), 1, nothing_yet, [](const SweepRound&) { FAIL() << "tells nobody"; });
  const auto times = run(steps, all_alike);
  EXPECT_EQ(times.size(), 20U);
  for (const auto& [direction, count] : times) EXPECT_EQ(count, 1);
  EXPECT_FALSE(steps.verdict().has_value());
}

/// The job of eight hosts ends in its third round; h5 is gone from then on.
TEST(PlannedSteps, GoOnWithoutAHost) {
  const Options options;
  Measured measured;
  for (const NamedEndpoint& host : hosts(8)) measured.hosts.push_back(host.name);
  PlannedSteps first(options, hosts(8), 1, measured, [](const SweepRound&) {});
  std::set<std::pair<int, int>> before;
  for (int i = 0; i < 5; ++i) {
    const SweepStep step = *first.next();
    for (const Pair& meeting : step.meetings) {
      const int from = step.back ? meeting.second : meeting.first;
      const int to = step.back ? meeting.first : meeting.second;
      before.emplace(from, to);
      cluster::Reading reading{from, to};
      reading.round = static_cast<std::int32_t>(step.round);
      reading.concurrent = 4;
      reading.rate = 10e9F;
      measured.readings.push_back(reading);
      first.note(reading_of(step, from, to, 10e9));
    }
  }
  std::vector<NamedEndpoint> left = hosts(8);
  left.erase(left.begin() + 5);
  PlannedSteps second(options, left, 1, measured, [](const SweepRound&) {});
  EXPECT_EQ(second.taken_over(), 20);
  const auto host_of = [](int endpoint) { return endpoint < 5 ? endpoint : endpoint + 1; };
  std::set<std::pair<int, int>> all = before;
  for (const auto& [direction, count] : run(second, all_alike)) {
    const std::pair<int, int> hosts{host_of(direction.first), host_of(direction.second)};
    EXPECT_EQ(count, 1);
    // One direction of the round that was broken off stands alone, and is measured again with the other one.
    EXPECT_EQ(before.count(hosts) > 0 && before.count({hosts.second, hosts.first}) > 0, false);
    all.insert(hosts);
  }
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      if (from == to || from == 5 || to == 5) continue;
      EXPECT_EQ(all.count({from, to}), 1U) << from << " " << to;
    }
  }
}

TEST(PlannedSteps, RefuseWhatAnEarlierJobOfOtherHostsMeasured) {
  const Options options;
  EXPECT_THROW(PlannedSteps(options, hosts(4), 1, {{"a", "b"}, {}}, [](const SweepRound&) {}), UsageError);
}

TEST(PlannedSteps, RoundsLimitWhatIsMeasured) {
  Options options = options_to_find();
  EXPECT_EQ(sweep_plan_of(options, 16, 1).most_rounds, 28);
  options.given = {{.key = "rounds", .name = "--rounds"}};
  EXPECT_EQ(sweep_plan_of(options, 16, 1).least_rounds, cluster::SweepPlan::kAllPairs);
  options.sweep.rounds = 2;
  EXPECT_EQ(sweep_plan_of(options, 16, 1).most_rounds, 2);
  EXPECT_EQ(sweep_plan_of(options, 16, 1).least_rounds, 2);
  options.sweep.find = false;
  EXPECT_EQ(sweep_plan_of(options, 16, 1).schedule.rounds, 2);
}

/// Two endpoints of a host are faster with each other than over the network, and nobody is to blame for that.
TEST(PlannedSteps, ComparesWithinHostsApart) {
  std::vector<NamedEndpoint> endpoints;
  for (int rank = 0; rank < 16; ++rank)
    endpoints.push_back({fmt::format("h{}:r{}", rank / 4, rank), fmt::format("h{}", rank / 4)});
  Options options = options_to_find();
  options.given = {{.key = "rounds", .name = "--rounds"}};  // all pairs
  PlannedSteps steps(options, endpoints, 1, {}, [](const SweepRound&) {});
  run(steps, [](int from, int to) { return from / 4 == to / 4 ? 100e9 : 10e9; });
  EXPECT_EQ(steps.verdict()->judged, "clean");
}

}  // namespace planned_steps_test
}  // namespace fabricbench::sweep
