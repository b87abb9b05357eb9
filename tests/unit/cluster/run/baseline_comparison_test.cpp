#include "cluster/run/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "baseline_test_support.h"
#include "common/core/error.h"

namespace fabricbench::baseline {
namespace {

using test::kDay;
using test::kFirstDay;
using test::launch_with;
using test::launches_with;

constexpr int kOk = static_cast<int>(ExitStatus::kOk);
constexpr int kTooSlow = static_cast<int>(ExitStatus::kTooSlow);
constexpr int kNotJudged = static_cast<int>(ExitStatus::kNotJudged);

/// Times of 8, 16, ... 1 MiB: 2 us and 1 GB/s.
std::vector<Seconds> usual_times(double factor = 1) {
  std::vector<Seconds> times;
  for (double size = 8; size <= 1 << 20; size *= 2) times.push_back(factor * (2e-6 + size / 1e9));
  return times;
}

void set(Launch& launch, const std::string& key, const std::string& value) {
  auto& identity = launch.start.identity;
  std::erase_if(identity, [&](const auto& each) { return each.first == key; });
  if (!value.empty()) identity.emplace_back(key, value);
}

BaselineComparison compare_one(const std::vector<Launch>& recorded, const Launch& fresh,
                               const std::vector<std::string>& allowed = {}) {
  return compare(recorded, std::vector{fresh}, {.judgement = {}, .allowed = allowed});
}

TEST(BaselineComparison, AnEqualRunPasses) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  const auto fresh = launches_with(usual_times(), 3, 1, 0.001, 2);
  const BaselineComparison found = compare(recorded, fresh, {});
  EXPECT_EQ(found.exit_status, kOk) << found.headline;
  EXPECT_TRUE(
      found.headline.starts_with("no row is slower than the baseline; no slowdown of 1.0 % or more of all rows"))
      << found.headline;
  EXPECT_EQ(found.launches, 9);
  EXPECT_EQ(found.fresh, 3);
  EXPECT_TRUE(found.days_known);
}

TEST(BaselineComparison, ASlowRunFails) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  const auto fresh = launches_with(usual_times(1.1), 3, 1, 0.001, 2);
  const BaselineComparison found = compare(recorded, fresh, {});
  EXPECT_EQ(found.exit_status, kTooSlow);
  EXPECT_TRUE(found.headline.starts_with("18 of 18 rows slower than the baseline, the worst takes 1.1 times as long; "))
      << found.headline;
}

std::vector<RowVerdict> verdicts_of(const BaselineComparison& comparison) {
  std::vector<RowVerdict> verdicts;
  for (const RowComparison& row : comparison.rows) verdicts.push_back(row.judgement.verdict);
  return verdicts;
}

/// The exit statuses of `trials` runs of one launch, each beside a baseline of its own.
struct Trials {
  int launches = 9;
  int days = 3;
  double spread = 0.01;
  double shared = 0;
  double factor = 1;

  [[nodiscard]] std::map<int, int> exit_statuses() const {
    std::map<int, int> counts;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const auto recorded = launches_with(usual_times(), launches, days, spread, seed, shared);
      auto fresh = launches_with(usual_times(factor), 1, 1, spread, 1000 + seed, shared);
      fresh[0].start.began += 10 * kDay;
      ++counts[compare(recorded, fresh, {}).exit_status];
    }
    return counts;
  }
};

TEST(BaselineComparison, OneLaunchPasses) {
  EXPECT_GE(Trials{}.exit_statuses()[kOk], 48);
  EXPECT_GE((Trials{.spread = 0.003, .shared = 0.008}.exit_statuses()[kOk]), 45);
}

TEST(BaselineComparison, ASlowdownOfAllRowsIsFoundBelowTheNoiseOfOne) {
  EXPECT_GE(Trials{.factor = 1.03}.exit_statuses()[kTooSlow], 48);
  EXPECT_GE((Trials{.spread = 0.003, .shared = 0.008, .factor = 1.05}.exit_statuses()[kTooSlow]), 45);
}

TEST(BaselineComparison, MoreRecordedLaunchesNeverHideASlowdown) {
  int before = 0;
  for (const int launches : {5, 9, 20}) {
    const int found = Trials{.launches = launches, .spread = 0.003, .factor = 1.03}.exit_statuses()[kTooSlow];
    EXPECT_GE(found, before) << launches;
    before = found;
  }
  EXPECT_EQ(before, 50);
}

TEST(BaselineComparison, WhatAllRowsHaveInCommonHidesNoSingleRow) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.003, 1, 0.02);
  std::vector<Seconds> times = usual_times(0.99);
  times[4] *= 1.15;
  const BaselineComparison found = compare_one(recorded, launch_with(times, kFirstDay + 10 * kDay));
  EXPECT_EQ(found.exit_status, kTooSlow) << found.headline;
  EXPECT_EQ(verdicts_of(found)[4], RowVerdict::kSlower);
  EXPECT_EQ(std::ranges::count(verdicts_of(found), RowVerdict::kSlower), 1);
}

TEST(BaselineComparison, RowsThatStayedAreNotFasterWhereMostBecameSlower) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.003);
  std::vector<Seconds> times = usual_times(1.5);
  times[0] /= 1.5;
  const BaselineComparison found = compare_one(recorded, launch_with(times, kFirstDay + 10 * kDay));
  EXPECT_EQ(std::ranges::count(verdicts_of(found), RowVerdict::kSlower), 17);
  EXPECT_EQ(std::ranges::count(verdicts_of(found), RowVerdict::kFaster), 0);
}

TEST(BaselineComparison, LimitsAreWiderWhereDaysAreUnknown) {
  const auto of_days = [](int days) {
    return compare_one(launches_with(usual_times(), 9, days, 0.003), launch_with(usual_times(1.02)));
  };
  EXPECT_EQ(of_days(3).exit_status, kTooSlow);
  EXPECT_EQ(of_days(1).exit_status, kOk);
  EXPECT_FALSE(of_days(1).days_known);
}

TEST(BaselineComparison, ASlowModeThatTheBaselineKnowsIsNoFinding) {
  auto recorded = launches_with(usual_times(), 9, 3, 0.003);
  for (RowTimes& row : recorded[4].rows) row.time *= 1.04;
  EXPECT_NE(compare_one(recorded, launch_with(usual_times(1.04))).exit_status, kTooSlow);
  EXPECT_EQ(compare_one(recorded, launch_with(usual_times(1.1))).exit_status, kTooSlow);
}

TEST(BaselineComparison, SmallAndLargeMessagesHaveGatesOfTheirOwn) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  const BaselineComparison found = compare_one(recorded, recorded.front());
  ASSERT_EQ(found.rows.size(), 18U);
  for (const RowComparison& row : found.rows) {
    EXPECT_EQ(row.gate, row.key.size < 2048 ? Gate::kLatency : Gate::kBandwidth) << row.key.size;
  }
}

TEST(BaselineComparison, OtherSystemsAreNotCompared) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  Launch fresh = launch_with(usual_times());
  set(fresh, "hosts", "node[01-03]");
  set(fresh, "library", "NCCL 2.28");
  const BaselineComparison refused = compare_one(recorded, fresh);
  EXPECT_EQ(refused.exit_status, kNotJudged);
  EXPECT_EQ(refused.headline, "no launch of the baseline is comparable; these differ: hosts, library");
  EXPECT_TRUE(refused.rows.empty());
  EXPECT_EQ(compare_one(recorded, fresh, {"hosts"}).exit_status, kNotJudged);
  const BaselineComparison allowed = compare_one(recorded, fresh, {"hosts", "library"});
  EXPECT_EQ(allowed.exit_status, kOk) << allowed.headline;
  ASSERT_EQ(allowed.allowed.size(), 2U);
  EXPECT_EQ(allowed.allowed[0].key, "hosts");
  EXPECT_EQ(allowed.allowed[0].before, "node[01-04]");
  EXPECT_EQ(allowed.allowed[0].now, "node[01-03]");
}

TEST(BaselineComparison, OnlyComparableLaunchesCount) {
  auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  for (int i = 0; i < 9; ++i) {
    Launch other = launch_with(usual_times(5));
    set(other, "program", "all_gather_perf");
    recorded.push_back(other);
  }
  const BaselineComparison found = compare_one(recorded, launch_with(usual_times()));
  EXPECT_EQ(found.launches, 9);
  EXPECT_EQ(found.exit_status, kOk) << found.headline;
}

TEST(BaselineComparison, AnotherWayOfTheDataFailsWhateverTheTimes) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  Launch fresh = launch_with(usual_times());
  set(fresh, "carried_by", "eth1");
  const BaselineComparison found = compare_one(recorded, fresh);
  EXPECT_EQ(found.exit_status, kTooSlow);
  EXPECT_EQ(found.headline, "the data went another way than in the baseline: over eth1 instead of eth0");
  EXPECT_EQ(compare_one(recorded, fresh, {"carried_by"}).exit_status, kOk);
  set(fresh, "carried_by", "");
  EXPECT_EQ(compare_one(recorded, fresh).exit_status, kNotJudged) << "unknown is not the same";
}

TEST(BaselineComparison, OptionsOfAnotherVersionMayBeMissing) {
  auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  Launch fresh = launch_with(usual_times());
  set(fresh, "option of_later_versions", "1");
  EXPECT_EQ(compare_one(recorded, fresh).exit_status, kOk);
  for (Launch& launch : recorded) set(launch, "option of_later_versions", "2");
  EXPECT_EQ(compare_one(recorded, fresh).exit_status, kNotJudged);
  EXPECT_EQ(compare_one(recorded, fresh, {"of_later_versions"}).exit_status, kOk) << "without the word option";
}

TEST(BaselineComparison, FirmwareOfInterfacesIsNamedWhereBothTellIt) {
  auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  Launch fresh = launch_with(usual_times());
  set(fresh, "interface_firmware", "2 x 4.50");
  EXPECT_EQ(compare_one(recorded, fresh).exit_status, kOk) << "a baseline of an earlier version";
  for (Launch& launch : recorded) set(launch, "interface_firmware", "2 x 4.40");
  const BaselineComparison found = compare_one(recorded, fresh);
  EXPECT_EQ(found.exit_status, kNotJudged);
  EXPECT_EQ(found.headline, "no launch of the baseline is comparable; these differ: interface_firmware");
}

TEST(BaselineComparison, MissingRowsDoNotPass) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  Launch fresh = launch_with(usual_times());
  fresh.rows.pop_back();
  fresh.rows.push_back(fresh.rows.front());
  fresh.rows.back().key.size = 3;
  const BaselineComparison found = compare_one(recorded, fresh);
  EXPECT_EQ(found.exit_status, kNotJudged);
  EXPECT_EQ(found.headline, "1 of 18 rows of the baseline have no figure in this run");
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing[0].size, Bytes{1} << 20U);
  ASSERT_EQ(found.added.size(), 1U);
  EXPECT_EQ(found.added[0].size, 3U);
}

TEST(BaselineComparison, ARowThatOneOfTheLaunchesLacksIsMissing) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  auto fresh = launches_with(usual_times(), 3, 1, 0.001, 2);
  fresh[1].rows.pop_back();
  EXPECT_EQ(compare(recorded, fresh, {}).missing.size(), 1U);
}

TEST(BaselineComparison, ARunWhoseRanksWaitedForAProcessorIsNotJudged) {
  const auto recorded = launches_with({1e-5, 1e-4}, 9, 3, 1e-5);
  for (const double slower : {1.0, 10.0}) {
    Launch run = launch_with({slower * 1e-5, slower * 1e-4}, kFirstDay + 10 * kDay);
    run.rows[1].processor_wait = 0.63;
    const auto comparison = compare(recorded, std::vector{run}, {});
    EXPECT_EQ(comparison.exit_status, 7);
    EXPECT_EQ(comparison.headline,
              "ranks waited for a processor 63 % of the time: these are not figures of the network");
    EXPECT_TRUE(comparison.rows.empty());
  }
}

TEST(BaselineComparison, LaunchesWhoseRanksWaitedForAProcessorDoNotCount) {
  auto recorded = launches_with({1e-5, 1e-4}, 9, 3, 1e-5);
  const std::vector run{launch_with({1e-5, 1e-4}, kFirstDay + 10 * kDay)};
  recorded[4].rows[0].processor_wait = 0.2;
  recorded[4].rows[0].time *= 10;
  EXPECT_EQ(compare(recorded, run, {}).launches, 8);
  EXPECT_EQ(compare(recorded, run, {}).exit_status, 0);
  for (Launch& launch : recorded) launch.rows[1].processor_wait = 0.2;
  EXPECT_EQ(compare(recorded, run, {}).exit_status, 7);
  EXPECT_EQ(compare(recorded, run, {}).headline,
            "in each comparable launch of the baseline ranks waited for a processor");
}

TEST(BaselineComparison, FewLaunchesAreNotJudged) {
  const auto recorded = launches_with(usual_times(), 4, 1, 0.001);
  const BaselineComparison found = compare_one(recorded, launch_with(usual_times()));
  EXPECT_EQ(found.exit_status, kNotJudged);
  EXPECT_EQ(found.headline, "the baseline has 4 comparable launches, too few to know its noise; record at least 5");
  EXPECT_EQ(compare_one({}, launch_with(usual_times())).exit_status, kNotJudged);
}

TEST(BaselineComparison, NoiseIsNotAPass) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.1);
  const BaselineComparison found = compare_one(recorded, launch_with(usual_times()));
  EXPECT_EQ(found.exit_status, kNotJudged);
  EXPECT_TRUE(found.headline.starts_with("undecided: ")) << found.headline;
}

TEST(BaselineComparison, LaunchesOfOneRunMustBeAlike) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  auto fresh = launches_with(usual_times(), 2, 1, 0.001, 2);
  set(fresh[1], "hosts", "node05");
  const BaselineComparison of_hosts = compare(recorded, fresh, {});
  EXPECT_EQ(of_hosts.exit_status, kNotJudged);
  EXPECT_TRUE(of_hosts.headline.starts_with("the launches of the run are not alike: ")) << of_hosts.headline;
  fresh[1] = fresh[0];
  fresh[1].start.began += 1;
  set(fresh[1], "carried_by", "eth1");
  EXPECT_EQ(compare(recorded, fresh, {}).exit_status, kTooSlow) << "one of them went another way";
}

TEST(BaselineComparison, ALaunchCountsOnce) {
  const auto launch = launches_with(usual_times(), 1, 1, 0.001);
  const std::vector<Launch> copies(9, launch.front());
  const BaselineComparison few = compare_one(copies, launch_with(usual_times(1.1)));
  EXPECT_EQ(few.launches, 1);
  EXPECT_EQ(few.exit_status, kNotJudged);
  EXPECT_EQ(compare_one(copies, launch.front()).headline, "the baseline has no launch besides the run's own");
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  EXPECT_EQ(compare(recorded, std::vector<Launch>(5, launch_with(usual_times())), {}).fresh, 1);
}

TEST(BaselineComparison, ALogCountsOnceWhereverItIsCopied) {
  const auto recorded = launches_with(usual_times(), 1, 1, 0.001);
  std::vector<Launch> logs(9, recorded.front());
  for (Launch& log : logs) log.text_hash = 1;
  logs.back().start.began += 60;
  EXPECT_EQ(compare_one(logs, launch_with(usual_times(1.1))).launches, 1);
  for (Launch& log : logs) log.text_hash = static_cast<std::size_t>(&log - logs.data()) + 1;
  EXPECT_EQ(compare_one(logs, launch_with(usual_times(1.1))).launches, 9) << "few digits are often equal";
}

TEST(BaselineComparison, WhatDiffersIsOnlyComparedWhereThereIsNothingBetter) {
  auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  for (Launch other : launches_with(usual_times(2), 9, 3, 0.001, 2)) {
    set(other, "library", "NCCL 2.20");
    recorded.push_back(other);
  }
  const BaselineComparison found = compare_one(recorded, launch_with(usual_times()), {"library"});
  EXPECT_EQ(found.launches, 9);
  EXPECT_TRUE(found.allowed.empty());
  EXPECT_EQ(found.exit_status, kOk) << found.headline;
}

TEST(BaselineComparison, OneLaunchWithOtherRowsDoesNotSpoilABaseline) {
  auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  recorded.push_back(launch_with(usual_times()));
  for (RowTimes& row : recorded.back().rows) row.key.datatype = "double";
  const BaselineComparison found = compare_one(recorded, launch_with(usual_times()));
  EXPECT_EQ(found.exit_status, kOk) << found.headline;
  EXPECT_TRUE(found.missing.empty());
}

TEST(BaselineComparison, AllowedKeysMustExist) {
  const auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  try {
    static_cast<void>(compare_one(recorded, launch_with(usual_times()), {"host"}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--allow 'host': no launch has such a key; choose from carried_by, hosts, program");
  }
  EXPECT_THROW(static_cast<void>(compare_one(recorded, launch_with(usual_times()), {"program"})), UsageError);
}

TEST(BaselineComparison, AnotherAlgorithmIsTold) {
  auto recorded = launches_with(usual_times(), 9, 3, 0.001);
  for (Launch& launch : recorded) launch.rows[0].algorithm = "RING LL";
  Launch fresh = launch_with(usual_times());
  fresh.rows[0].algorithm = "TREE LL";
  const BaselineComparison found = compare_one(recorded, fresh);
  EXPECT_EQ(found.rows[0].algorithm_before, "RING LL");
  EXPECT_EQ(found.rows[0].algorithm, "TREE LL");
  recorded[4].rows[0].algorithm = "TREE LL";
  EXPECT_EQ(compare_one(recorded, fresh).rows[0].algorithm, "") << "it was chosen before";
}

TEST(BaselineComparison, ReadersSeeRowsAndTheHeadline) {
  const auto recorded = launches_with({1e-6, 2e-6}, 9, 1, 0.0001);
  Launch fresh = launch_with({1e-6, 3e-6});
  fresh.start.circumstances = {{"kernel", "6.2"}};
  const std::vector<std::string> lines = lines_of(compare_one(recorded, fresh), "site.jsonl");
  EXPECT_EQ(lines.front(), "Baseline site.jsonl: 9 comparable launches, 1 judged");
  EXPECT_EQ(lines.back(),
            "Baseline site.jsonl: 1 of 2 rows slower than the baseline, the worst takes 1.5 times as long");
  const auto has = [&](std::string_view words) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(has("slower"));
  EXPECT_TRUE(has("All launches of the baseline are of one day"));
  EXPECT_TRUE(has("Also changed: kernel was nothing, is '6.2'"));
  EXPECT_TRUE(std::none_of(lines.begin(), lines.end(),
                           [](const std::string& line) { return line.ends_with(' ') || line.ends_with('\n'); }));
}

}  // namespace
}  // namespace fabricbench::baseline
