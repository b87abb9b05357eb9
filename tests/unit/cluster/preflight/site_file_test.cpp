// What a site has accepted, and what it expects, instead of what most hosts have.

#include "cluster/preflight/site_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/preflight/overview.h"
#include "common/core/error.h"
#include "common/host/checks/fake_host.h"

namespace fabricbench::cluster {
namespace {

using host::CheckLevel;
using host::FakeHost;

SiteFile site(const std::string& text) { return {"site.jsonl", text}; }

std::vector<FakeHost> equal_hosts(int count) {
  std::vector<FakeHost> hosts;
  for (int number = 1; number <= count; ++number) {
    hosts.push_back(host::h100_infiniband_host());
    const std::string name = fmt::format("node{:02}", number);
    hosts.back().set("system/host_name", name);
    hosts.back().set("system/address/" + name, fmt::format("10.0.0.{}\n", number));
  }
  return hosts;
}

Overview judged_by_site(const std::vector<FakeHost>& hosts, const std::string& text = "") {
  Overview overview(host::all_checks(), site(text));
  for (const FakeHost& each : hosts) overview.add(host::examine(each));
  return overview;
}

std::string complaint(const std::string& text) {
  try {
    (void)site(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// node02's port 1 of mlx5_0 is down.
std::vector<FakeHost> with_a_port_down() {
  std::vector<FakeHost> hosts = equal_hosts(4);
  hosts[1].set("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  hosts[1].set("/sys/class/infiniband/mlx5_0/ports/1/phys_state", "3: Disabled\n");
  return hosts;
}

TEST(SiteFileTest, WhatIsAcceptedIsANoteAndSaysWhoWantedIt) {
  const std::vector<PreflightFinding> before = judged_by_site(with_a_port_down()).findings();
  ASSERT_FALSE(before.empty());
  ASSERT_GT(before[0].what.level, CheckLevel::kNote);
  const std::vector<PreflightFinding> after =
      judged_by_site(with_a_port_down(),
                     "# No cable yet.\n"
                     R"({"kind":"accepted","check":"port_state","hosts":"node[02-03]",)"
                     R"("wanted_by":"alice, ticket 7"})")
          .findings();
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0].what.level, CheckLevel::kNote);
  EXPECT_EQ(after[0].what.expected_by, "accepted by site.jsonl, line 2: alice, ticket 7");
}

TEST(SiteFileTest, OtherHostsAndDevicesAreNotAccepted) {
  for (const char* const keys : {R"("hosts":"node01")", R"("device":"mlx5_1 port 1")", R"("measured":"state INIT")"}) {
    const std::string line = fmt::format(R"({{"kind":"accepted","check":"port_state",{},"wanted_by":"alice"}})", keys);
    EXPECT_GT(judged_by_site(with_a_port_down(), line).findings().at(0).what.level, CheckLevel::kNote) << keys;
  }
}

/// Also of comparisons, and of several devices that share a line.
TEST(SiteFileTest, AcceptAsIsAcceptsAllThatWasFound) {
  std::vector<FakeHost> hosts = with_a_port_down();
  hosts[1].set("/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  hosts[1].set("/sys/class/infiniband/mlx5_1/ports/1/phys_state", "3: Disabled\n");
  hosts[2].set("/sys/class/net/eno1/mtu", "9000\n");
  const std::string lines = judged_by_site(hosts).site_lines("alice");
  EXPECT_NE(lines.find("\"mtu: 9000\""), std::string::npos) << lines;
  const Overview accepted = judged_by_site(hosts, lines);
  ASSERT_FALSE(accepted.findings().empty());
  for (const PreflightFinding& each : accepted.findings()) EXPECT_EQ(each.what.level, CheckLevel::kNote) << lines;
  EXPECT_EQ(accepted.site_lines("alice"), "");  // a second time adds nothing
  hosts[3].set("/sys/class/net/eno1/mtu", "9000\n");
  EXPECT_GT(judged_by_site(hosts, lines).findings().at(0).what.level, CheckLevel::kNote);  // another host is new
}

/// A vote cannot see what all hosts lack.
TEST(SiteFileTest, AnExpectedValueCountsMoreThanTheMajority) {
  const std::string line = R"({"kind":"expected","check":"interface_links","value_of":"mtu","among":"eno1",)"
                           R"("value":"9000","wanted_by":"alice"})";
  const std::vector<PreflightFinding> found = judged_by_site(equal_hosts(4), line).findings();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node[01-04]");
  EXPECT_EQ(found[0].what.measured, "mtu: 1500");
  EXPECT_EQ(found[0].what.expected, "9000");
  EXPECT_EQ(found[0].what.expected_by, "site.jsonl, line 1: alice");
}

TEST(SiteFileTest, AnExpectedCountIsMissedWhereNoHostHasAny) {
  const std::string line =
      R"({"kind":"expected","check":"rdma_adapters","value_of":"adapters","among":"MT_0000000999",)"
      R"("value":"8","hosts":"node[01-02]","wanted_by":"alice"})";
  const std::vector<PreflightFinding> found = judged_by_site(equal_hosts(4), line).findings();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node[01-02]");
  EXPECT_NE(found[0].what.measured.find("none"), std::string::npos) << found[0].what.measured;
}

TEST(SiteFileTest, WhatCannotBeUnderstoodIsRefusedWithItsLine) {
  EXPECT_NE(complaint("# fine\n\n{\"kind\":").find("site.jsonl, line 3: "), std::string::npos);
  EXPECT_NE(complaint(R"({"kind":"accept"})").find("kind 'accept' is neither accepted nor expected"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"kind":"accepted","check":"kernel","devise":"x","wanted_by":"a"})")
                .find("there is no key 'devise'; the nearest is device"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"kind":"accepted","check":"kernel","wanted_by":""})").find("say who wants it so"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"kind":"accepted","wanted_by":"a"})").find("check"), std::string::npos);
  EXPECT_NE(complaint(R"({"kind":"expected","check":"interface_links","value_of":"mut","value":"1","wanted_by":"a"})")
                .find("interface_links has no value 'mut'; it has state, mtu, speed"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"kind":"expected","check":"mtu","value_of":"mtu","value":"1","wanted_by":"a"})")
                .find("there is no check 'mtu'"),
            std::string::npos);
}

}  // namespace
}  // namespace fabricbench::cluster
