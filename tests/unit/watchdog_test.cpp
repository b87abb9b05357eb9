#include "common/harness/watchdog.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

using namespace fabricbench;

namespace watchdog_test {

using Reports = std::map<int, RollCallReport>;
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
  EXPECT_EQ(who_is_missing(all_waiting(4), names_of(4)),
            (Lines{"4 ranks wait, the first is rank 0 on node-0: measuring 64 KiB float sum, in-place"}));
}

TEST(WhoIsMissing, SpeaksOfOneRankInTheSingular) {
  EXPECT_EQ(who_is_missing(all_waiting(1), names_of(1)),
            (Lines{"1 rank waits, the first is rank 0 on node-0: measuring 64 KiB float sum, in-place"}));
}

TEST(WhoIsMissing, NamesARankThatIsSilent) {
  Reports reports = all_waiting(4);
  reports.erase(3);
  EXPECT_EQ(who_is_missing(reports, names_of(4)),
            (Lines{"rank 3 on node-1: silent: stopped, dead or out of reach",
                   "3 ranks wait, the first is rank 0 on node-0: measuring 64 KiB float sum, in-place"}));
}

TEST(WhoIsMissing, NamesARankThatIsBehindAndSaysWhatItDoes) {
  Reports reports = all_waiting(4);
  reports[0] = {99, 61.25, "filling the buffers for 8 B float sum, in-place"};
  EXPECT_EQ(who_is_missing(reports, names_of(4)),
            (Lines{"rank 0 on node-0: has not arrived: filling the buffers for 8 B float sum, in-place for 61.2 s",
                   "3 ranks wait, the first is rank 1 on node-0: measuring 64 KiB float sum, in-place"}));
}

TEST(WhoIsMissing, NamesSilentAndLateRanksInTheOrderOfRanks) {
  Reports reports = all_waiting(6);
  reports.erase(1);
  reports[2].steps = 7;
  reports.erase(4);
  const Lines lines = who_is_missing(reports, names_of(6));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].rfind("rank 1 on node-0: silent", 0), 0U);
  EXPECT_EQ(lines[1].rfind("rank 2 on node-1: has not arrived", 0), 0U);
  EXPECT_EQ(lines[2].rfind("rank 4 on node-2: silent", 0), 0U);
  EXPECT_EQ(lines[3].rfind("3 ranks wait", 0), 0U);
}

TEST(WhoIsMissing, SaysNothingOfWaitingWhereNobodyAnswered) {
  EXPECT_EQ(who_is_missing({}, names_of(2)), (Lines{"rank 0 on node-0: silent: stopped, dead or out of reach",
                                                    "rank 1 on node-0: silent: stopped, dead or out of reach"}));
}

TEST(WhoIsMissing, NamesSixteenOfManyAndCountsTheRest) {
  Reports reports = all_waiting(16384);
  for (int rank = 500; rank < 600; ++rank) reports.erase(rank);
  const Lines lines = who_is_missing(reports, names_of(16384));
  ASSERT_EQ(lines.size(), 18U);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(lines[i].rfind("rank " + std::to_string(500 + i) + " on node-", 0), 0U) << lines[i];
  }
  EXPECT_EQ(lines[16], "and 84 more");
  EXPECT_EQ(lines[17].rfind("16284 ranks wait, the first is rank 0", 0), 0U) << lines[17];
}

TEST(WhoIsMissing, NamesExactlySixteenWithoutCounting) {
  Reports reports = all_waiting(40);
  for (int rank = 0; rank < 16; ++rank) reports.erase(rank);
  const Lines lines = who_is_missing(reports, names_of(40));
  ASSERT_EQ(lines.size(), 17U);
  EXPECT_EQ(lines[15].rfind("rank 15 on", 0), 0U);
  EXPECT_EQ(lines[16].rfind("24 ranks wait, the first is rank 16", 0), 0U);
}

TEST(WhoIsMissing, NeverShowsAnExponent) {
  Reports reports = all_waiting(2);
  reports[1] = {1, 3600, "starting up"};
  EXPECT_NE(who_is_missing(reports, names_of(2))[0].find("for 3600 s"), std::string::npos)
      << who_is_missing(reports, names_of(2))[0];
}

TEST(Heartbeat, CountsStepsAndSaysWhatIsDone) {
  Heartbeat heartbeat;
  EXPECT_EQ(heartbeat.steps(), 0U);
  EXPECT_EQ(heartbeat.activity(), "starting up");
  heartbeat.enter_case("64 KiB float sum, out-of-place");
  heartbeat.enter(Phase::kMeasure);
  heartbeat.tick();
  EXPECT_EQ(heartbeat.steps(), 2U);
  EXPECT_EQ(heartbeat.activity(), "measuring 64 KiB float sum, out-of-place");
}

TEST(Heartbeat, HasWordsForEveryPhase) {
  const struct {
    Phase phase;
    const char* words;
  } cases[] = {{Phase::kEstimate, "estimating X"},
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
