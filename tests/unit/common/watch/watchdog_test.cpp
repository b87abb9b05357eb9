#include "common/watch/watchdog.h"
#include "common/watch/process_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

using namespace fabricbench;

namespace watchdog_test {

using Reports = std::map<int, ProcessReport>;
using Lines = std::vector<std::string>;

constexpr const char* kMeasuring = "measuring 64 KiB float sum, in-place";

/// Two processes on each host, with one rank each.
std::vector<std::string> names_of(std::size_t ranks) {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    names.push_back("rank " + std::to_string(rank) + " on node-" + std::to_string(rank / 2));
  }
  return names;
}

Reports all_waiting(int ranks) {
  Reports reports;
  for (int rank = 0; rank < ranks; ++rank) reports[rank] = {100, 12.3456, kMeasuring};
  return reports;
}

TEST(WhoIsMissing, SaysThatAllWait) {
  EXPECT_EQ(who_is_missing(all_waiting(4), names_of(4), {}),
            (Lines{"4 ranks wait, the first is rank 0 on node-0: measuring 64 KiB float sum, in-place",
                   "nobody is missing: data are lost, or take longer than the limit allows"}));
}

TEST(WhoIsMissing, SpeaksOfOneRankInTheSingular) {
  EXPECT_EQ(who_is_missing(all_waiting(1), names_of(1), {}),
            (Lines{"1 rank waits, the first is rank 0 on node-0: measuring 64 KiB float sum, in-place"}));
}

TEST(WhoIsMissing, NamesARankThatIsSilent) {
  Reports reports = all_waiting(4);
  reports.erase(3);
  EXPECT_EQ(who_is_missing(reports, names_of(4), {}),
            (Lines{"rank 3 on node-1: silent: stopped, dead or out of reach",
                   "3 ranks wait for it, the first is rank 0 on node-0: measuring 64 KiB float sum, in-place"}));
}

TEST(WhoIsMissing, NamesARankThatIsBehindAndSaysWhatItDoes) {
  Reports reports = all_waiting(4);
  reports[0] = {99, 61.25, "filling the buffers for 8 B float sum, in-place"};
  EXPECT_EQ(who_is_missing(reports, names_of(4), {}),
            (Lines{"rank 0 on node-0: has not arrived: filling the buffers for 8 B float sum, in-place for 61.2 s",
                   "3 ranks wait for it, the first is rank 1 on node-0: measuring 64 KiB float sum, in-place"}));
}

/// Of three ranks the first and the last are behind; the last uses that share of a processor.
void expect_behind(double busy_of_last, const std::string& first, const std::string& last) {
  Reports reports = all_waiting(3);
  reports[0].steps = reports[2].steps = 99;
  reports[2].busy = busy_of_last;
  const Lines lines = who_is_missing(reports, names_of(3), {});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].rfind("rank 0 on node-0: " + first + ": ", 0), 0U) << lines[0];
  EXPECT_EQ(lines[1].rfind("rank 2 on node-1: " + last + ": ", 0), 0U) << lines[1];
}

TEST(WhoIsMissing, BlamesNoneOfSeveralThatAreBehind) {
  expect_behind(1, "behind, and may wait too", "behind, and may wait too");
}

TEST(WhoIsMissing, BlamesThoseThatAreBehindAndSleep) {
  expect_behind(0.001, "behind, and may wait too", "has not arrived");
}

TEST(WhoIsMissing, NamesARankThatHearsNothing) {
  Reports reports = all_waiting(3);
  reports[1].deaf_s = 0.5;
  reports[2].deaf_s = 12;
  EXPECT_EQ(
      who_is_missing(reports, names_of(3), {}),
      (Lines{
          "rank 2 on node-1: its reports arrive here, but it has heard nothing of rank 0 on node-0 for 12 s: what is "
          "sent to it may be lost",
          "2 ranks wait for it, the first is rank 0 on node-0: measuring 64 KiB float sum, in-place"}));
}

TEST(WhoIsMissing, NamesSilentAndLateRanksInTheOrderOfRanks) {
  Reports reports = all_waiting(6);
  reports.erase(1);
  reports[2].steps = 7;
  reports.erase(4);
  const Lines lines = who_is_missing(reports, names_of(6), {});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].rfind("rank 1 on node-0: silent", 0), 0U);
  EXPECT_EQ(lines[1].rfind("rank 2 on node-1: behind, and may wait too", 0), 0U);
  EXPECT_EQ(lines[2].rfind("rank 4 on node-2: silent", 0), 0U);
  EXPECT_EQ(lines[3].rfind("3 ranks wait for them, the first is", 0), 0U);
}

TEST(WhoIsMissing, SaysHowLongARankHasBeenSilent) {
  Reports reports = all_waiting(3);
  reports.erase(2);
  EXPECT_EQ(who_is_missing(reports, names_of(3), {{0, 0}, {1, 0.5}, {2, 7.25}})[0],
            "rank 2 on node-1: silent for 7.25 s: stopped, dead or out of reach");
}

TEST(WhoIsMissing, DoesNotCallSilentWhoWasJustHeard) {
  Reports reports = all_waiting(3);
  reports.erase(2);
  EXPECT_EQ(who_is_missing(reports, names_of(3), {{2, 0.25}})[0],
            "rank 2 on node-1: heard 250 ms ago, and is not stuck in the same step");
}

TEST(WhoIsMissing, BlamesNobodyWhoMayWaitForASilentRank) {
  Reports reports = all_waiting(3);
  reports[0].steps = 99;
  reports.erase(2);
  EXPECT_EQ(who_is_missing(reports, names_of(3), {})[0],
            "rank 0 on node-0: behind, and may wait too: measuring 64 KiB float sum, in-place for 12.3 s");
}

TEST(WhoIsMissing, SaysNothingOfWaitingWhereNobodyAnswered) {
  EXPECT_EQ(who_is_missing({}, names_of(2), {}), (Lines{"rank 0 on node-0: silent: stopped, dead or out of reach",
                                                        "rank 1 on node-0: silent: stopped, dead or out of reach"}));
}

TEST(WhoIsMissing, PassesOverWhoIsAtRestUnlessItIsStuckThere) {
  Reports reports = all_waiting(3);
  reports[1] = {2, 0, "waiting for the others to end", 1, true};
  reports[2] = {2, 5, "waiting for the others to end", 1, true};
  EXPECT_EQ(who_is_missing(reports, names_of(3), {}),
            (Lines{"rank 2 on node-1: stuck: waiting for the others to end for 5 s",
                   "1 rank waits for it, the first is rank 0 on node-0: measuring 64 KiB float sum, in-place"}));
}

TEST(WhoIsMissing, NamesSixteenOfManyAndCountsTheRest) {
  Reports reports = all_waiting(16384);
  for (int rank = 500; rank < 600; ++rank) reports.erase(rank);
  const Lines lines = who_is_missing(reports, names_of(16384), {});
  ASSERT_EQ(lines.size(), 18U);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(lines[i].rfind("rank " + std::to_string(500 + i) + " on node-", 0), 0U) << lines[i];
  }
  EXPECT_EQ(lines[16], "and 84 more");
  EXPECT_EQ(lines[17].rfind("16284 ranks wait for them, the first is rank 0", 0), 0U) << lines[17];
}

TEST(WhoIsMissing, NamesExactlySixteenWithoutCounting) {
  Reports reports = all_waiting(40);
  for (int rank = 0; rank < 16; ++rank) reports.erase(rank);
  const Lines lines = who_is_missing(reports, names_of(40), {});
  ASSERT_EQ(lines.size(), 17U);
  EXPECT_EQ(lines[15].rfind("rank 15 on", 0), 0U);
  EXPECT_EQ(lines[16].rfind("24 ranks wait for them, the first is rank 16", 0), 0U);
}

TEST(WhoIsMissing, NeverShowsAnExponent) {
  Reports reports = all_waiting(2);
  reports[1] = {1, 3600, "starting up"};
  EXPECT_NE(who_is_missing(reports, names_of(2), {})[0].find("for 3600 s"), std::string::npos)
      << who_is_missing(reports, names_of(2), {})[0];
}

TEST(RanksToAsk, AreThoseThatAreBehindOrAsleep) {
  Reports reports = all_waiting(6);
  reports[1].steps = 99;
  reports[2].busy = 0;
  reports[3] = {2, 0, "waiting for the others to end", 1, true};
  reports[4] = {2, 5, "waiting for the others to end", 1, true};
  reports.erase(5);
  EXPECT_EQ(ranks_to_ask(reports), (std::vector{1, 2, 4}));
}

TEST(RanksToAsk, AreTheFirstOnesThatWaitIfAllDo) {
  EXPECT_EQ(ranks_to_ask(all_waiting(3)), (std::vector{0, 1, 2}));
  EXPECT_EQ(ranks_to_ask(all_waiting(40)).size(), 8U);
  EXPECT_EQ(ranks_to_ask({}), std::vector<int>());
}

TEST(RanksToAsk, AreEightAtMost) {
  Reports reports = all_waiting(64);
  for (int rank = 10; rank < 60; ++rank) reports[rank].steps = 1;
  EXPECT_EQ(ranks_to_ask(reports), (std::vector{10, 11, 12, 13, 14, 15, 16, 17}));
}

using Action = StallDetector::Action;

TEST(StallDetector, ReportsFromHalfOfTheTimeOnAndEndsWhenAllHasPassed) {
  StallDetector detector(0, 8, 0, {.steps = 5, .time = 100, .awake = 0});
  const struct {
    Seconds time;
    Action action;
  } looks[] = {{101, Action::kNothing}, {103.999, Action::kNothing}, {104, Action::kReport},
               {105, Action::kReport},  {107.999, Action::kReport},  {108, Action::kEnd}};
  for (const auto& [time, action] : looks) {
    const StallDetector::Stall stall = detector.look({.steps = 5, .time = time, .awake = 0});
    EXPECT_EQ(stall.action, action) << time;
    EXPECT_EQ(stall.stuck_s, time - 100);
  }
}

TEST(StallDetector, LeavesAStepTheTimeThatItSaysItMayTakeLonger) {
  StallDetector detector(0, 8, 0, {.steps = 5, .time = 100});
  EXPECT_EQ(detector.look({.steps = 5, .time = 108, .longer_s = 10}).action, Action::kNothing);
  EXPECT_EQ(detector.look({.steps = 5, .time = 109, .longer_s = 10}).action, Action::kReport);
  EXPECT_EQ(detector.look({.steps = 5, .time = 117.9, .longer_s = 10}).action, Action::kReport);
  EXPECT_EQ(detector.look({.steps = 5, .time = 118, .longer_s = 10}).action, Action::kEnd);
}

TEST(StallDetector, LeavesTheFirstWordToRankZero) {
  for (const int rank : {1, 2, 1000}) {
    StallDetector detector(rank, 8, 0, {.steps = 5, .time = 100, .awake = 0});
    EXPECT_EQ(detector.look({.steps = 5, .time = 104, .awake = 0}).action, Action::kReport);
    EXPECT_EQ(detector.look({.steps = 5, .time = 111.499, .awake = 0}).action, Action::kReport);
    EXPECT_EQ(detector.look({.steps = 5, .time = 111.5, .awake = 0}).action, Action::kEnd);  // 8 * 1.1875 + 2
  }
}

/// A look may come a sixteenth of the timeout late.
TEST(StallDetector, EndsWithinAQuarterMoreAndTwoSecondsWhoeverIsStuck) {
  for (const Seconds timeout : {1., 3., 16., 60., 300.}) {
    const Seconds most = 1.25 * timeout + 2;
    const Seconds late = timeout / 16;
    const Seconds others = StallDetector::patience(1, timeout, 0);
    const Seconds grace = 0.75 * (others - timeout);
    const Seconds nccls = 1.1 * timeout + 1;
    const Seconds a_look = std::min(late, 1.0);  // where nothing goes on
    EXPECT_EQ(StallDetector::patience(1, timeout, grace), others);
    EXPECT_GT(StallDetector::patience(0, timeout, grace), nccls + a_look);
    EXPECT_LT(StallDetector::patience(0, timeout, grace) + a_look, others);
    EXPECT_LE(others + late, most);
  }
}

TEST(StallDetector, BeginsAnewWithEveryProgress) {
  StallDetector detector(0, 8, 0, {.steps = 5, .time = 100, .awake = 50});
  EXPECT_EQ(detector.look({.steps = 5, .time = 107, .awake = 50}).action, Action::kReport);
  const StallDetector::Stall gone_on = detector.look({.steps = 6, .time = 108, .awake = 54});
  EXPECT_EQ(gone_on.action, Action::kNothing);
  EXPECT_EQ(gone_on.stuck_s, 0);
  EXPECT_EQ(detector.look({.steps = 6, .time = 111, .awake = 54}).action, Action::kNothing);
  const StallDetector::Stall stuck = detector.look({.steps = 6, .time = 112, .awake = 55});
  EXPECT_EQ(stuck.action, Action::kReport);
  EXPECT_EQ(stuck.stuck_s, 4);
  EXPECT_EQ(stuck.busy, 0.25);  // 1 of the 4 seconds since then
  EXPECT_EQ(detector.look({.steps = 6, .time = 116, .awake = 55}).action, Action::kEnd);
}

TEST(StallDetector, TakesANumberOfStepsThatWentBackForProgressToo) {
  StallDetector detector(0, 8, 0, {.steps = 5, .time = 100, .awake = 0});
  EXPECT_EQ(detector.look({.steps = 4, .time = 109, .awake = 0}).action, Action::kNothing);
}

TEST(StallDetector, SaysHowMuchOfTheTimeTheMainThreadWasAwake) {
  StallDetector detector(3, 8, 0, {.steps = 5, .time = 100, .awake = 20});
  EXPECT_EQ(detector.look({.steps = 5, .time = 105, .awake = 25}).busy, 1);
  EXPECT_EQ(detector.look({.steps = 5, .time = 110, .awake = 25}).busy, 0.5);
  EXPECT_EQ(detector.look({.steps = 5, .time = 114, .awake = 25.07}).busy, (25.07 - 20) / 14);
}

TEST(StallDetector, LooksSixteenTimesBeforeTheEndButNotTooOftenOrTooRarely) {
  EXPECT_EQ(StallDetector::interval(4), 0.25);
  EXPECT_EQ(StallDetector::interval(0.1), 0.05);
  EXPECT_EQ(StallDetector::interval(60), 1);
}

TEST(StallDetector, LooksMoreAndMoreRarelyWhileStepsAdvance) {
  StallDetector detector(3, 160, 0, {.steps = 5, .time = 100, .awake = 0});
  std::vector<Seconds> pauses;
  for (std::uint64_t steps = 6; steps < 12; ++steps) {
    pauses.push_back(detector.look({.steps = steps, .time = 100, .awake = 0}).next_look_s);
  }
  EXPECT_EQ(pauses, (std::vector<Seconds>{2, 4, 8, 10, 10, 10}));
  EXPECT_EQ(detector.look({.steps = 11, .time = 101, .awake = 0}).next_look_s, 1);
  EXPECT_EQ(detector.look({.steps = 12, .time = 102, .awake = 0}).next_look_s, 2);
}

TEST(StallDetector, LooksAtLeastAsOftenAsBeforeWhereTheLimitIsShort) {
  for (const Seconds timeout : {0.1, 4.}) {
    StallDetector detector(3, timeout, 0, {});
    EXPECT_EQ(detector.look({.steps = 1}).next_look_s, StallDetector::interval(timeout));
  }
}

TEST(StallDetector, EndsThoughTheClockGoesBackByMoreThanTheTimeout) {
  ForwardTime clock;
  StallDetector detector(0, 8, 0, {.steps = 5, .time = clock.after(1000), .awake = 0});
  EXPECT_EQ(detector.look({.steps = 5, .time = clock.after(1003), .awake = 0}).stuck_s, 3);
  EXPECT_EQ(detector.look({.steps = 5, .time = clock.after(3), .awake = 0}).stuck_s, 3);
  EXPECT_EQ(detector.look({.steps = 5, .time = clock.after(5), .awake = 0}).action, Action::kReport);
  EXPECT_EQ(detector.look({.steps = 5, .time = clock.after(8), .awake = 0}).action, Action::kEnd);
}

TEST(Heartbeat, CountsStepsAndSaysWhatIsDone) {
  Heartbeat heartbeat;
  EXPECT_EQ(heartbeat.steps(), 0U);
  EXPECT_EQ(heartbeat.activity(), "starting MPI (MPI_Init)");
  heartbeat.enter_case("64 KiB float sum, out-of-place");
  heartbeat.enter(Phase::kMeasure);
  heartbeat.tick();
  EXPECT_EQ(heartbeat.steps(), 2U);
  EXPECT_EQ(heartbeat.activity(), "measuring 64 KiB float sum, out-of-place");
}

TEST(Heartbeat, MayTakeLongerInOnePhase) {
  Heartbeat heartbeat;
  heartbeat.enter(Phase::kConnect, 720);
  heartbeat.tick();
  EXPECT_EQ(heartbeat.longer_s(), 720);
  heartbeat.enter(Phase::kEstimate);
  EXPECT_EQ(heartbeat.longer_s(), 0);
}

TEST(Heartbeat, HasWordsForEveryPhase) {
  const struct {
    Phase phase;
    const char* words;
  } cases[] = {{Phase::kConnect, "connecting the ranks by X"},
               {Phase::kEstimate, "estimating X"},
               {Phase::kPrepare, "filling the buffers for X"},
               {Phase::kWarmUp, "warming up X"},
               {Phase::kMeasure, "measuring X"},
               {Phase::kReduce, "collecting the times of X"},
               {Phase::kCheck, "checking X"},
               {Phase::kReport, "reporting X"}};
  Heartbeat heartbeat;
  heartbeat.enter_case("X");
  for (const auto& [phase, words] : cases) {
    heartbeat.enter(phase);
    EXPECT_EQ(heartbeat.activity(), words);
  }
}

}  // namespace watchdog_test
