#include "cluster/acceptance/stages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fabricbench::acceptance {
namespace {

using cluster::Blame;
using cluster::FindingRecord;
using cluster::VerdictRecord;

FindingRecord finding(Blame blame, std::vector<std::string> hosts) {
  FindingRecord made;
  made.blame = blame;
  made.hosts = std::move(hosts);
  made.text = "it is slow: 3 of 4 readings";
  return made;
}

PairsVerdict meaning(const FindingRecord& one, cluster::HostSet cluster::ListsRecord::*list = nullptr) {
  VerdictRecord verdict;
  verdict.judged = cluster::Judged::kSlow;
  verdict.findings = {one};
  if (list != nullptr) (verdict.lists.*list).hosts = one.hosts;
  return meaning_of(verdict, 0.05, false);
}

TEST(PairsVerdict, PathIsFindingThatNoHostExplains) {
  for (const Blame blame : {Blame::kPair, Blame::kDeadPair, Blame::kTransient, Blame::kWrongData}) {
    const PairsVerdict found = meaning(finding(blame, {"node1", "node2"}));
    ASSERT_EQ(found.findings.size(), 1);
    EXPECT_EQ(found.findings[0].hosts, (std::vector<std::string>{"node1", "node2"}));
    EXPECT_EQ(found.findings[0].in_short, "it is slow");
    EXPECT_TRUE(found.drained.empty());
  }
}

TEST(PairsVerdict, HostIsDrainedWithWordsOfItsList) {
  using Lists = cluster::ListsRecord;
  const auto reason = [](const FindingRecord& one, cluster::HostSet Lists::*list) {
    const PairsVerdict found = meaning(one, list);
    EXPECT_TRUE(found.findings.empty());
    return *found.drained.find("node1");
  };
  EXPECT_EQ(reason(finding(Blame::kHost, {"node1"}), &Lists::slow), "slow (it is slow: 3 of 4 readings)");
  EXPECT_EQ(reason(finding(Blame::kDead, {"node1"}), &Lists::dead), "dead (it is slow: 3 of 4 readings)");
  EXPECT_EQ(reason(finding(Blame::kCutOff, {"node1"}), &Lists::cut_off), "cut off (it is slow: 3 of 4 readings)");
  EXPECT_EQ(reason(finding(Blame::kTransient, {"node1"}), &Lists::unsteady), "unsteady (it is slow: 3 of 4 readings)");
  FindingRecord nic = finding(Blame::kNic, {"node1"});
  nic.rail = "mlx5_1";
  nic.direction = cluster::Direction::kSends;
  nic.rate = 4e9;
  nic.expected = 12e9;
  EXPECT_EQ(reason(nic, &Lists::slow), "slow to send over mlx5_1: 4 of 12 GB/s (it is slow: 3 of 4 readings)");
}

}  // namespace
}  // namespace fabricbench::acceptance
