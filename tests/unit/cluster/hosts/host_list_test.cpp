#include "cluster/hosts/host_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace host_list_test {

using Names = std::vector<std::string>;

HostList listed(std::string_view text) {
  HostList list;
  list.add_list(text, "-H");
  return list;
}

HostList filed(std::string_view text) {
  HostList list;
  list.add_file(text, "hosts.txt");
  return list;
}

/// `name` or `name/slots`, in order.
Names with_slots(const HostList& list) {
  Names all;
  for (const Host& host : list.hosts()) {
    all.push_back(host.slots ? host.name + "/" + std::to_string(*host.slots) : host.name);
  }
  return all;
}

/// The message of what reading throws; empty: it throws nothing.
template <typename Read>
std::string message_of(Read read) {
  try {
    read();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(HostList, ExpandsRanges) {
  const struct {
    const char* list;
    Names names;
  } cases[] = {{"node01", {"node01"}},
               {"a,b c\td\n", {"a", "b", "c", "d"}},
               {",a,,b,", {"a", "b"}},
               {"node[01-03,20]", {"node01", "node02", "node03", "node20"}},
               {"node[8-11]", {"node8", "node9", "node10", "node11"}},
               {"node[08-11]", {"node08", "node09", "node10", "node11"}},
               {"node[98-101]", {"node98", "node99", "node100", "node101"}},
               {"node[098-101]", {"node098", "node099", "node100", "node101"}},
               {"node[0-6/2]", {"node0", "node2", "node4", "node6"}},
               {"node[0-5/2,7]", {"node0", "node2", "node4", "node7"}},
               {"node[007]", {"node007"}},
               {"r[1-2]n[1-2]", {"r1n1", "r1n2", "r2n1", "r2n2"}},
               {"r[1-2]n[1,3]x,z", {"r1n1x", "r1n3x", "r2n1x", "r2n3x", "z"}},
               {"n[1-2].rack1.example.org", {"n1.rack1.example.org", "n2.rack1.example.org"}},
               {"10.0.0.[9-10]", {"10.0.0.9", "10.0.0.10"}},
               {"[9-10]", {"9", "10"}},
               {"alice@node[1-2]", {"alice@node1", "alice@node2"}},
               {"fe80::1,[fe80::2],[::1]", {"fe80::1", "fe80::2", "::1"}},
               {"root@[fe80::1%eth0]", {"root@fe80::1%eth0"}}};
  for (const auto& [list, names] : cases) EXPECT_EQ(listed(list).names(), names) << list;
}

TEST(HostList, NamesEachHostOnceAndAddsUpItsSlots) {
  EXPECT_EQ(with_slots(listed("b,a,b")), (Names{"b/2", "a"}));
  EXPECT_EQ(with_slots(listed("a:8,b:*,a:4,[fe80::1]:2,fe80::1")), (Names{"a/12", "b", "fe80::1/3"}));
  EXPECT_EQ(with_slots(listed("node[1-2]:8")), (Names{"node1/8", "node2/8"}));
  EXPECT_EQ(listed("alice@a,bob@a,a").names(), Names{"alice@a"}) << "a host has one user, the first one named";
}

TEST(HostList, ReadsTheHostFilesOfAll) {
  const struct {
    const char* dialect;
    const char* text;
    Names hosts;
  } cases[] = {
      {"Open MPI",
       "# my hosts\nnode1 slots=8 max_slots=16\n\n  node2 slots = 4  # slow\nalice@node3\n",
       {"node1/8", "node2/4", "alice@node3"}},
      {"Open MPI, user", "node1 user=alice slots=2\n", {"node1/2"}},
      {"LAM", "node1 cpu=2\n", {"node1/2"}},
      {"MPICH", "node1:8\nnode2:8 ifname=ib0\n", {"node1/8", "node2/8"}},
      {"carriage returns", "node1 slots=8\r\nnode2\r\n", {"node1/8", "node2"}},
      {"Slurm", "node[01-03]\n", {"node01", "node02", "node03"}},
      {"PBS", "n1\nn1\nn2\nn2\n", {"n1/2", "n2/2"}},
      {"LSF", "a 8 b 4\n", {"a/8", "b/4"}},
      {"MPIJob",
       "job-worker-0.job.default.svc slots=8\njob-worker-1.job.default.svc slots=8\n",
       {"job-worker-0.job.default.svc/8", "job-worker-1.job.default.svc/8"}},
      {"MPIJob of Intel MPI", "job-worker-0.job.default.svc:8\n", {"job-worker-0.job.default.svc/8"}},
      {"IPv6", "fe80::1 slots=2\n[fe80::2]:3\n", {"fe80::1/2", "fe80::2/3"}},
      {"no end of line", "a\nb", {"a", "b"}},
      {"comments only", "# nobody\n\n", {}},
  };
  for (const auto& [dialect, text, hosts] : cases) EXPECT_EQ(with_slots(filed(text)), hosts) << dialect;
}

TEST(HostList, SaysWhatIsWrongWithAList) {
  const struct {
    const char* list;
    const char* message;
  } cases[] = {
      {"", "-H: there is no host in ''; write them as node[01-16] or a,b,c"},
      {"a,node[1-2", "-H: 'node[1-2': its '[' is not closed; write the ']'"},
      {"node1-2]", "-H: 'node1-2]': there is a ']' without a '[' before it"},
      {"node[1-[2]]", "-H: 'node[1-[2]]': there is a '[' within brackets; close the first one with ']'"},
      {"node[3-1]", "-H: 'node[3-1]': '3-1' in the brackets runs backwards; write the smaller number first"},
      {"node[]", "-H: 'node[]': '' in the brackets is not a range of numbers; write one such as 01-16, 20 or 0-6/2"},
      {"node[a-c]",
       "-H: 'node[a-c]': 'a-c' in the brackets is not a range of numbers; write one such as 01-16, 20 or 0-6/2"},
      {"node[1-9/0]", "-H: 'node[1-9/0]': '1-9/0' in the brackets has a step of 0; write 1 or more"},
      {"node[1-08]",
       "-H: 'node[1-08]': '1-08' in the brackets has ends of different width; write both with the same number of "
       "digits, such as 01-16"},
      {"node[0-100000]", "-H: 'node[0-100000]': that would be more than 100000 hosts; check the ranges"},
      {"r[1-2000]n[1-2000]x[1-2000]",
       "-H: 'r[1-2000]n[1-2000]x[1-2000]': that would be more than 100000 hosts; check the ranges"},
      {"n[0-999999999999999999]",
       "-H: 'n[0-999999999999999999]': that would be more than 100000 hosts; check the "
       "ranges"},
      {"a:0", "-H: 'a:0': '0' is not a number of slots; write one from 1 to 1000000, such as node01:8"},
      {"a:x", "-H: 'a:x': 'x' is not a number of slots; write one from 1 to 1000000, such as node01:8"},
      {"a;reboot",
       "-H: 'a;reboot': it has ';', which cannot be in a host's name; hosts are written as node01, node[01-16], "
       "alice@node01, 10.0.0.1 or fe80::1"},
      {"$(x)",
       "-H: '$(x)': it has '$', which cannot be in a host's name; hosts are written as node01, node[01-16], "
       "alice@node01, "
       "10.0.0.1 or fe80::1"},
      {"-x",
       "-H: '-x': it has a host's name that begins with '-', as options do; hosts are written as node01, node[01-16], "
       "alice@node01, 10.0.0.1 or fe80::1"},
      {"-oProxyCommand=x@fe80::1",
       "-H: '-oProxyCommand=x@fe80::1': it has a user's name that begins with '-', as options do; hosts are written as "
       "node01, node[01-16], alice@node01, 10.0.0.1 or fe80::1"},
      {"-Fx@[fe80::1]:8",
       "-H: '-Fx@[fe80::1]:8': it has a user's name that begins with '-', as options do; hosts are written as node01, "
       "node[01-16], alice@node01, 10.0.0.1 or fe80::1"},
      {"alice@", "-H: 'alice@': there is no host name in it"},
      {":8", "-H: ':8': there is no host name in it"},
      {"[fe80::1]x", "-H: '[fe80::1]x': after an address in brackets only slots may follow, such as :8"},
      {"@rack1", "-H: '@rack1': groups are ClusterShell's; give the hosts, such as \"$(nodeset -e @rack1)\""},
  };
  for (const auto& [list, message] : cases) {
    EXPECT_EQ(message_of([&, text = list] { listed(text); }), message);
  }
}

TEST(HostList, NamesTheLineOfAFile) {
  const auto message = [](const char* text) { return message_of([&] { filed(text); }); };
  EXPECT_EQ(message("a\nb[2-1]\n"),
            "hosts.txt:2: 'b[2-1]': '2-1' in the brackets runs backwards; write the smaller number first");
  EXPECT_EQ(message("rank 0=a slot=1\n"),
            "hosts.txt:1: '0=a': after host 'rank' only settings may follow, such as slots=8")
      << "a rank file of Open MPI";
  EXPECT_EQ(message("a b\n"), "hosts.txt:1: 'b': after host 'a' only settings may follow, such as slots=8");
  EXPECT_EQ(
      message("a slots=many\n"),
      "hosts.txt:1: 'slots=many': 'many' is not a number of slots; write one from 1 to 1000000, such as node01:8");
}

TEST(HostList, TakesNoMoreThanAHundredThousandHostsInAll) {
  HostList list = listed("n[1-100000]");
  EXPECT_EQ(list.hosts().size(), 100000U);
  EXPECT_EQ(message_of([&] { list.add_list("n1", "-H"); }), "");
  EXPECT_EQ(message_of([&] { list.add_list("m1", "-H"); }), "more than 100000 hosts; check the ranges of the lists");
}

TEST(HostList, LeavesOutWhatIsExcluded) {
  HostList list = listed("node[1-5],alice@x,y");
  EXPECT_EQ(list.exclude(listed("node[2-3,9],bob@x,z")), (Names{"node9", "z"}));
  EXPECT_EQ(list.names(), (Names{"node1", "node4", "node5", "y"}));
  list.add_list("node2,y", "-H");
  EXPECT_EQ(with_slots(list), (Names{"node1", "node4", "node5", "y/2", "node2"}));
}

TEST(HostFold, WritesWhatSlurmReads) {
  const struct {
    Names names;
    const char* folded;
  } cases[] = {{{}, ""},
               {{"node07"}, "node07"},
               {{"login"}, "login"},
               {{"node12", "node07", "node12"}, "node[07,12]"},
               {{"node07", "node03", "node01", "node02"}, "node[01-03,07]"},
               {{"node8", "node9", "node10"}, "node[8-10]"},
               {{"node08", "node09", "node10", "node99", "node100"}, "node[08-10,99-100]"},
               {{"n1", "n01", "n2", "n02"}, "n[1-2,01-02]"},
               {{"n0", "n00", "n1"}, "n[0-1,00]"},
               {{"b", "a", "node1"}, "a,b,node1"},
               {{"n1.rack1", "n2.rack1", "n1.rack2"}, "n1.rack[1-2],n2.rack1"},
               {{"r1n1", "r1n2", "r2n1", "r2n2"}, "r[1-2]n[1-2]"},
               {{"r1n1", "r1n2", "r2n1"}, "r1n[1-2],r2n1"},
               {{"ip-10-0-12-133", "ip-10-0-12-134"}, "ip-10-0-12-[133-134]"},
               {{"fe80::1", "fe80::2"}, "fe80::1,fe80::2"},
               {{"1234567890123456789012", "1234567890123456789013"}, "1234567890123456789012,1234567890123456789013"}};
  for (const auto& [names, folded] : cases) EXPECT_EQ(fold_hosts(names), folded);
}

TEST(HostFold, OrdersNumbersByValue) {
  Names names = {"n10", "n9", "m", "n", "n009", "n9a", "n1r10", "n1r2"};
  std::sort(names.begin(), names.end(), comes_before);
  EXPECT_EQ(names, (Names{"m", "n", "n1r2", "n1r10", "n009", "n9", "n9a", "n10"}));
}

/// A name of random parts, so that many share prefix, padding or suffix.
std::string random_name(std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  std::string name = below(3) == 0 ? "n" : below(2) == 0 ? "rack" : "";
  const std::size_t numbers = 1 + below(3);
  for (std::size_t i = 0; i < numbers; ++i) {
    std::string digits = std::to_string(below(below(2) == 0 ? 13 : 120));
    if (below(3) == 0) digits.insert(0, below(3), '0');
    if (i > 0) name += below(2) == 0 ? "-" : "n";
    name += digits;
  }
  return name + (below(4) == 0 ? ".example.org" : "");
}

TEST(HostFold, KeepsEverySet) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    std::set<std::string> names;
    const std::size_t hosts = 1 + random() % 60;
    for (std::size_t i = 0; i < hosts; ++i) names.insert(random_name(random));
    const Names given(names.begin(), names.end());
    const std::string folded = fold_hosts(given);
    Names back = listed(folded).names();
    std::sort(back.begin(), back.end());
    ASSERT_EQ(back, given) << folded;
  }
}

TEST(HostFold, IsTheSameAgain) {
  for (const char* folded : {"node[01-16,20]", "r[1-2]n[1-4]", "a,b[1-3]c,node07"}) {
    EXPECT_EQ(fold_hosts(listed(folded).names()), folded);
  }
}

}  // namespace host_list_test
