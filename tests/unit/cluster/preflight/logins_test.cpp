// What a login tells of its host; and what ssh says when there is none.

#include "cluster/preflight/logins.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster/preflight/overview.h"

namespace fabricbench::cluster {
namespace {

using host::CheckOutcome;
using host::HostReport;

const std::string kGood =
    "kernel 5.15.0\nlocked unlimited\ndaemon /usr/bin/orted\nmpi mpirun (Open MPI) 4.1.4\nprogram 12 34\n"
    "peer node02 0\n";

std::string measured(const HostReport& report, std::size_t result) {
  return report.results.at(result).findings.at(0).measured;
}

TEST(JudgeLoginTest, AGoodHostHasNoFinding) {
  const HostReport report = judge_login("node01", {0, 0.3, kGood, ""});
  ASSERT_EQ(report.results.size(), 3U);
  for (const host::CheckResult& each : report.results) EXPECT_EQ(each.outcome, CheckOutcome::kOk) << each.check;
}

TEST(JudgeLoginTest, WhatSshSaysIsExplained) {
  const std::vector<std::pair<std::string, std::string>> said = {
      {"alice@node01: Permission denied (publickey,password).", "ssh wants a password, or a key that it does not have"},
      {"Host key verification failed.", "ssh does not know the host's key, or knows another one"},
      {"ssh: connect to host node01 port 22: Connection refused", "nobody listens at the port of ssh"},
      {"ssh: connect to host node01 port 22: Connection timed out", "there is no answer"},
      {"ssh: Could not resolve hostname node01: Name or service not known", "its name leads to no address"},
      {"kex_exchange_identification: banner line too long",
       "ssh failed: kex_exchange_identification: banner line too long"}};
  for (const auto& [errors, expected] : said) {
    const HostReport report = judge_login("node01", {255, 0.1, "", errors});
    ASSERT_EQ(report.results.size(), 1U);
    EXPECT_EQ(measured(report, 0), expected);
  }
}

TEST(JudgeLoginTest, NoEndWithinTheLimitIsNoAnswer) {
  EXPECT_EQ(measured(judge_login("node01", {124, 30, "", ""}), 0), "there is no answer");
}

TEST(JudgeLoginTest, AHostThatCannotLogInToAnotherIsNamed) {
  const std::string text = kGood + "peer node05 255 Host key verification failed.\n";
  const HostReport report = judge_login("node01", {0, 0.3, text, ""});
  EXPECT_EQ(measured(report, 1), "from it to node05: ssh does not know the host's key, or knows another one");
}

TEST(JudgeLoginTest, WithoutMpiOnThePathNothingStarts) {
  const HostReport report = judge_login("node01", {0, 0.3, "kernel 5.15.0\ndaemon\nprogram 12 34\n", ""});
  EXPECT_EQ(measured(report, 2),
            "neither orted nor prted nor hydra_pmi_proxy is on the PATH of a shell without a login");
}

TEST(JudgeLoginTest, AMissingLibraryIsNamed) {
  const HostReport report = judge_login("node01", {0, 0.3, kGood + "missing libmpi.so.40\n", ""});
  EXPECT_EQ(measured(report, 2), "all_reduce_perf does not find libmpi.so.40");
}

TEST(JudgeLoginTest, AnotherBuildIsTheMinority) {
  Overview overview(login_checks());
  for (const char* name : {"node01", "node02", "node03"}) overview.add(judge_login(name, {0, 0.3, kGood, ""}));
  std::string other = kGood;
  other.replace(other.find("12 34"), 5, "99 34");
  overview.add(judge_login("node04", {0, 0.3, other, ""}));
  const std::vector<PreflightFinding> findings = overview.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].hosts, "node04");
  EXPECT_EQ(findings[0].what.measured, "all_reduce_perf (cksum): 99 34");
}

TEST(PeersOfTest, TwoOthersAndNeverItself) {
  const std::vector<std::string> hosts = {"a", "b", "c", "d"};
  EXPECT_EQ(peers_of(hosts, 0), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(peers_of(hosts, 3), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(peers_of({"a", "b"}, 1), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(peers_of({"a"}, 0).empty());
}

}  // namespace
}  // namespace fabricbench::cluster
