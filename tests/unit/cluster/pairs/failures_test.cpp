#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attribution_test_support.h"
#include "cluster/pairs/report/verdict_text.h"

using namespace fabricbench::cluster;

namespace failures_test {

/// All pairs, again and again.
Sweep passes_of(const FabricPlan& plan, std::int32_t passes) {
  Sweep sweep = sweep_of(plan);
  const std::vector<Reading> once = sweep.readings;
  const std::int32_t rounds = once.back().round + 1;
  for (std::int32_t pass = 1; pass < passes; ++pass) {
    for (Reading each : once) {
      each.round += pass * rounds;
      sweep.readings.push_back(each);
    }
  }
  return sweep;
}

TEST(Failures, ADeadHostAndNotItsPartners) {
  Sweep sweep = sweep_of(clean_fabric(17, {"dead:4"}), 6);
  const Finding finding = the_finding(judge(sweep), Blame::kDead);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_EQ(finding.ratio, 0);
  EXPECT_EQ(finding.readings, finding.failed);
  EXPECT_GE(finding.partners, 5);
  EXPECT_EQ(finding.reason, "no answer (simulated)");
  EXPECT_LT(finding.false_alarm, 0.01);
}

/// The sweep with wrong data in the readings of these pairs of hosts.
template <typename IsWrong>
Sweep with_wrong_data(Sweep sweep, const IsWrong& is_wrong) {
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    Reading& reading = sweep.readings[place];
    if (!is_wrong(reading)) continue;
    reading.outcome = Outcome::kWrong;
    reading.rate = 0;
    sweep.reasons.emplace_back(place, "3 elements");
  }
  return sweep;
}

TEST(WrongData, AreOfTheHostThatHasThemWithSeveralPartners) {
  const Verdict verdict = judge(with_wrong_data(
      sweep_of(clean_fabric(16)), [](const Reading& reading) { return reading.from == 3 || reading.to == 3; }));
  const Finding finding = the_finding(verdict, Blame::kWrongData);
  EXPECT_EQ(finding.hosts, Hosts{3});
  EXPECT_EQ(finding.slow, finding.readings);
  EXPECT_EQ(finding.slow_partners, 15);
  EXPECT_EQ(finding.reason, "3 elements");
  EXPECT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.judged, Judged::kSlow);
  EXPECT_EQ(verdict.wrong, finding.readings);
  EXPECT_EQ(verdict.failed, 0);
}

TEST(WrongData, AreNeverFineHoweverFew) {
  bool first = true;
  const Verdict verdict = judge(with_wrong_data(sweep_of(clean_fabric(16)), [&](const Reading& reading) {
    return reading.from == 3 && reading.to == 5 && std::exchange(first, false);
  }));
  EXPECT_EQ(the_finding(verdict, Blame::kWrongData).hosts, (Hosts{3, 5}));
  EXPECT_EQ(verdict.judged, Judged::kSlow);
}

TEST(WrongData, AreNoEvidenceOnBandwidth) {
  const Verdict verdict = judge(with_wrong_data(sweep_of(clean_fabric(16, {"host:7:0.5"})), [](const Reading& reading) {
    return std::minmax(reading.from, reading.to) == std::minmax(2, 4);
  }));
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].blame, Blame::kWrongData);
  EXPECT_EQ(verdict.findings[0].hosts, (Hosts{2, 4}));
  EXPECT_EQ(verdict.findings[1].blame, Blame::kHost);
  EXPECT_EQ(verdict.findings[1].hosts, Hosts{7});
}

TEST(NotUnderstood, FilesAreNeverFine) {
  Sweep sweep = sweep_of(clean_fabric(16));
  EXPECT_EQ(judge(sweep).judged, Judged::kClean);
  sweep.not_understood = 1;
  EXPECT_EQ(judge(sweep).judged, Judged::kUnknown);
}

TEST(Failures, AHostThatWorksInOneDirectionAlone) {
  for (const bool sends : {true, false}) {
    for (const int rails : {1, 2}) {
      FabricPlan plan = clean_fabric(8);
      plan.rails = rails;
      Sweep sweep = sweep_of(plan);
      for (Reading& each : sweep.readings) {
        if ((sends ? each.from : each.to) != 4 || each.from_rail != rails - 1) continue;
        each.outcome = Outcome::kFailed;
        each.rate = 0;
      }
      const Verdict verdict = judge(sweep);
      const Finding finding = the_finding(verdict, rails == 1 ? Blame::kDead : Blame::kNic);
      EXPECT_EQ(finding.hosts, Hosts{4});
      EXPECT_EQ(finding.direction, sends ? Direction::kSends : Direction::kReceives);
      EXPECT_EQ(finding.partners, 7);
      EXPECT_EQ(finding.failed, 7);
      const std::string sentence = std::string("nothing can be measured when node04 ") +
                                   (sends ? "sends" : "receives") + (rails == 1 ? "" : " over rail rail1");
      EXPECT_NE(verdict_text(sweep, verdict, {}, {}).find(sentence), std::string::npos)
          << verdict_text(sweep, verdict, {}, {});
    }
  }
}

TEST(Failures, AHostThatStopsSendingOnTheWay) {
  Sweep sweep = sweep_of(clean_fabric(16), 12);
  for (Reading& each : sweep.readings) {
    if (each.from == 4 && each.round >= 6) each.outcome = Outcome::kFailed;
  }
  const Finding finding = the_finding(judge(sweep), Blame::kDead);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_EQ(finding.direction, Direction::kSends);
  EXPECT_EQ(finding.failed, 6);
}

/// Once with one host that works: no other host is a suspect.
TEST(Failures, AHostThatNeverWorkedAndMetOneHostIsTheSuspect) {
  Sweep sweep = sweep_of(clean_fabric(9));
  std::erase_if(sweep.readings, [](const Reading& each) {
    const bool of_pair = std::minmax(each.from, each.to) == std::minmax(3, 4);
    return !of_pair && (each.from == 4 || each.to == 4);
  });
  for (Reading& each : sweep.readings) {
    if (each.from == 4 || each.to == 4) each.outcome = Outcome::kFailed;
  }
  const Verdict verdict = judge(sweep);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings.front().blame, Blame::kUndecided);
  EXPECT_EQ(verdict.findings.front().hosts, Hosts{4});
  EXPECT_TRUE(asks_about(verdict, 4, -1));
}

TEST(Failures, AHostThatDiesOnTheWay) {
  Sweep sweep = sweep_of(clean_fabric(17), 12);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round >= 6) each.outcome = Outcome::kFailed;
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kDead).hosts, Hosts{4});
}

/// After two failures the planner does not try a host again: that has to be enough to say what is wrong.
TEST(Failures, AHostThatDiesOnTheWayFailsTwiceOnly) {
  Sweep sweep = sweep_of(clean_fabric(17), 12);
  std::erase_if(sweep.readings,
                [](const Reading& each) { return (each.from == 4 || each.to == 4) && each.round >= 8; });
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round >= 6) each.outcome = Outcome::kFailed;
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kDead).hosts, Hosts{4});
}

/// What fails at the end may be the whole network, of which nobody has been heard since.
TEST(Failures, TwoFailuresAtTheEndDoNotMakeAHostDead) {
  Sweep sweep = sweep_of(clean_fabric(17), 12);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round >= 10) each.outcome = Outcome::kFailed;
  }
  std::erase_if(sweep.readings,
                [](const Reading& each) { return each.round >= 10 && each.outcome != Outcome::kFailed; });
  EXPECT_TRUE(with_blame(judge(sweep), Blame::kDead).empty());
}

/// That it failed last, with several partners, is no more than it has done before.
TEST(Failures, AHostThatFailsNowAndThenIsNotDead) {
  Sweep sweep = sweep_of(clean_fabric(32), 18);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round % 6 >= 3) each.outcome = Outcome::kFailed;
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kTransient).hosts, Hosts{4});
}

/// What everybody else does says how often readings fail, and not one host that fails often.
TEST(Failures, ADeadHostBesideOneThatFailsNowAndThen) {
  Sweep sweep = sweep_of(clean_fabric(32, {"dead:4"}), 18);
  std::erase_if(sweep.readings,
                [](const Reading& each) { return (each.from == 4 || each.to == 4) && each.round >= 2; });
  for (Reading& each : sweep.readings) {
    if ((each.from == 9 || each.to == 9) && each.round % 3 == 0) each.outcome = Outcome::kFailed;
  }
  const Verdict verdict = judge(sweep);
  ASSERT_EQ(with_blame(verdict, Blame::kDead).size(), 1U);
  EXPECT_EQ(with_blame(verdict, Blame::kDead)[0].hosts, Hosts{4});
  ASSERT_EQ(with_blame(verdict, Blame::kTransient).size(), 1U);
  EXPECT_EQ(with_blame(verdict, Blame::kTransient)[0].hosts, Hosts{9});
}

TEST(Failures, AHostThatWasDownForAWhileIsNotFine) {
  Sweep sweep = sweep_of(clean_fabric(32), 31);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round >= 5 && each.round < 9) each.outcome = Outcome::kFailed;
  }
  const Finding finding = the_finding(judge(sweep), Blame::kTransient);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_EQ(finding.slow, 4);
  EXPECT_EQ(finding.readings, 31);
}

/// That it failed with one partner each time they met, is no dead path.
TEST(Failures, AllFailuresOfAHostThatFailsNowAndThenCount) {
  Sweep sweep = passes_of(clean_fabric(8), 2);
  for (Reading& each : sweep.readings) {
    const bool fails = each.round < 3 || each.round == 7;  // round 7 is round 0 again
    if ((each.from == 4 || each.to == 4) && fails) each.outcome = Outcome::kFailed;
  }
  const Finding finding = the_finding(judge(sweep), Blame::kTransient);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_EQ(finding.slow, 4);
}

/// One failure in many readings is no reason to doubt that it is dead now.
TEST(Failures, AHostThatFailedOnceAndDiedLater) {
  Sweep sweep = sweep_of(clean_fabric(32), 24);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && (each.round == 3 || each.round >= 18)) each.outcome = Outcome::kFailed;
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kDead).hosts, Hosts{4});
  // Of three partners, each more than once.
  sweep = passes_of(clean_fabric(4), 8);
  for (Reading& each : sweep.readings) {
    if ((each.from == 2 || each.to == 2) && (each.round == 3 || each.round >= 18)) each.outcome = Outcome::kFailed;
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kDead).hosts, Hosts{2});
}

TEST(Failures, ADeadRailOfAHostThatWorks) {
  FabricPlan plan = clean_fabric(16);
  plan.rails = 2;
  Sweep sweep = sweep_of(plan, 6);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.from_rail == 1) each.outcome = Outcome::kFailed;
  }
  const Finding finding = the_finding(judge(sweep), Blame::kNic);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_EQ(finding.rail, 1);
  EXPECT_EQ(finding.ratio, 0);
}

/// Sixteen hosts with two rails; over the second one a reading fails where `fails` says so.
template <typename Fails>
Sweep with_failures_over_a_rail(int rounds, const Fails& fails) {
  FabricPlan plan = clean_fabric(16);
  plan.rails = 2;
  Sweep sweep = sweep_of(plan, rounds);
  for (Reading& each : sweep.readings) {
    if (each.from_rail == 1 && fails(each)) each.outcome = Outcome::kFailed;
  }
  return sweep;
}

TEST(Failures, ARailOverWhichNothingWorks) {
  const Verdict verdict = judge(with_failures_over_a_rail(6, [](const Reading&) { return true; }));
  const Finding finding = the_finding(verdict, Blame::kRail);
  EXPECT_EQ(finding.rail, 1);
  EXPECT_TRUE(finding.hosts.empty());
  EXPECT_EQ(finding.ratio, 0);
  EXPECT_EQ(finding.failed, 6 * 16);
  EXPECT_EQ(finding.partners, 16);
  EXPECT_EQ(finding.working_partners, 16);
  EXPECT_FALSE(finding.has_worked);
  EXPECT_LT(finding.false_alarm, 0.01);
  EXPECT_TRUE(verdict.follow_ups.empty());
  EXPECT_TRUE(verdict.not_judged.empty());
}

TEST(Failures, ARailThatDiesOnTheWay) {
  const Sweep sweep = with_failures_over_a_rail(12, [](const Reading& each) { return each.round >= 4; });
  EXPECT_TRUE(the_finding(judge(sweep), Blame::kRail).has_worked);
}

/// Where two work with each other, the switches do, and the others' NICs are to blame.
TEST(Failures, ARailOverWhichTwoWorkIsNotDead) {
  const Sweep sweep = with_failures_over_a_rail(0, [](const Reading& each) { return each.from > 1 || each.to > 1; });
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(with_blame(verdict, Blame::kRail).empty());
  EXPECT_EQ(with_blame(verdict, Blame::kNic).size(), 14U);
}

/// After one round, each of a pair may be to blame.
TEST(Failures, ARailOfOneRoundIsNotDead) {
  const Verdict verdict = judge(with_failures_over_a_rail(1, [](const Reading&) { return true; }));
  EXPECT_TRUE(with_blame(verdict, Blame::kRail).empty());
}

/// A host of two rails of which nothing that it sends arrives.
TEST(Failures, AHostThatFailsInOneDirectionOnAllRailsIsOneFinding) {
  Sweep sweep = hosts_only(8);
  sweep.rails = {"mlx5_0", "mlx5_1"};
  for (Reading each : sweep_of(clean_fabric(8)).readings) {
    for (const std::int16_t rail : {std::int16_t{0}, std::int16_t{1}}) {
      each.from_rail = each.to_rail = rail;
      sweep.readings.push_back(each.from == 3 ? failure(each.from, each.to, each.round) : each);
      sweep.readings.back().from_rail = sweep.readings.back().to_rail = rail;
    }
  }
  const Finding finding = the_finding(judge(sweep), Blame::kDead);
  EXPECT_EQ(finding.hosts, Hosts{3});
  EXPECT_EQ(finding.direction, Direction::kSends);
  EXPECT_EQ(finding.rail, -1);
}

/// In so much noise a host has to meet all others.
TEST(Failures, WhoHasMetAllOthersIsJudgedThoughOneSendsNothing) {
  Sweep sweep = sweep_by(
      8, [](auto, auto) { return 1; }, 0, 0.05);
  for (Reading& each : sweep.readings) {
    if (each.from == 3) each = failure(each.from, each.to, each.round);
  }
  EXPECT_TRUE(judge(sweep).not_judged.empty());
}

TEST(Failures, TwoThatFailOnlyWithEachOther) {
  const FabricPlan plan = clean_fabric(17, {"dead-pair:4:5"});
  Sweep sweep = sweep_of(plan);
  const Verdict once = judge(sweep);
  EXPECT_EQ(once.judged, Judged::kUnknown) << "once may be chance";
  ASSERT_EQ(with_blame(once, Blame::kUndecided).size(), 1U);
  EXPECT_EQ(once.findings.front().hosts, (Hosts{4, 5}));
  EXPECT_TRUE(asks_about(once, 4, 5));
  measure_again(plan, {4, 5}, 1, sweep);
  const Finding finding = the_finding(judge(sweep), Blame::kDeadPair);
  EXPECT_EQ(finding.hosts, (Hosts{4, 5}));
  EXPECT_EQ(finding.failed, 4);
  EXPECT_TRUE(finding.confirmed);
}

TEST(Failures, AFailureThatDoesNotComeAgainIsNobodysFault) {
  const FabricPlan plan = clean_fabric(17);
  Sweep sweep = sweep_of(plan);
  for (Reading& each : sweep.readings) {
    if (std::minmax(each.from, each.to) == std::minmax(4, 5)) each.outcome = Outcome::kFailed;
  }
  measure_again(plan, {4, 5}, 1, sweep);
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.failed, 2);
}

TEST(Failures, NotTriedSaysNothing) {
  Sweep sweep = sweep_of(clean_fabric(8));
  const std::int64_t measured = static_cast<std::int64_t>(sweep.readings.size());
  for (int other = 0; other < 7; ++other) {
    Reading skipped = failure(7, other, 9);
    skipped.outcome = Outcome::kNotTried;
    sweep.readings.push_back(skipped);
  }
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.judged, Judged::kClean);
  EXPECT_EQ(verdict.readings, measured);
}

TEST(Failures, TwoHostsThatFailCannotBeToldApart) {
  Sweep sweep = hosts_only(2);
  sweep.readings = {failure(0, 1), failure(1, 0)};
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(the_finding(verdict, Blame::kUndecided).hosts, (Hosts{0, 1})) << "nothing works at all";
  EXPECT_TRUE(asks_about(verdict, 0, -1));
  EXPECT_TRUE(asks_about(verdict, 1, -1));
}

}  // namespace failures_test
