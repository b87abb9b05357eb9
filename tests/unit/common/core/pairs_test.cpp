#include "common/core/pairs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/core/error.h"

using namespace fabricbench;

namespace pairs_test {

using Hosts = std::vector<std::string>;
using Pairs = std::vector<std::pair<int, int>>;
using Notices = std::vector<std::string>;

const Hosts kTwoByFour = {"a", "a", "a", "a", "b", "b", "b", "b"};
const Hosts kInTurn = {"a", "b", "a", "b"};

Hosts one_host(std::size_t ranks) { return Hosts(ranks, "a"); }

Pairs pairs_of(const PairChoice& choice) {
  Pairs pairs;
  for (const auto& [first, second] : choice.pairs) pairs.emplace_back(first, second);
  return pairs;
}

Pairs pairs(const std::string& rule, const Hosts& hosts, const std::string& file = "") {
  return pairs_of(choose_pairs(rule, hosts, file));
}

Notices notices(const std::string& rule, const Hosts& hosts, const std::string& file = "") {
  return choose_pairs(rule, hosts, file).notices;
}

std::string refusal(const std::string& rule, const Hosts& hosts, const std::string& file = "") {
  try {
    (void)choose_pairs(rule, hosts, file);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused: '" << rule << "' " << file;
  return "";
}

TEST(FirstRanks, OfTwoHostsAreThePairWithoutARule) {
  EXPECT_EQ(pairs("", {"a", "b"}), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("", kTwoByFour), (Pairs{{0, 4}}));
  EXPECT_EQ(pairs("", kInTurn), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("", {"z", "z", "y", "x"}), (Pairs{{0, 2}})) << "hosts come in the order of their ranks";
  EXPECT_EQ(choose_pairs("", kTwoByFour).rule, "ranks 0 and 4, the first of two hosts");
  EXPECT_EQ(notices("", {"a", "b"}), Notices{});
  EXPECT_EQ(notices("", kTwoByFour),
            (Notices{"ranks 1 to 3 and 5 to 7 are idle; --pairs halves or hosts has more ranks work"}));
}

TEST(FirstRanks, OfOneHostAreThePairWithoutARule) {
  EXPECT_EQ(pairs("", one_host(2)), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("", one_host(5)), (Pairs{{0, 1}}));
  EXPECT_EQ(choose_pairs("", one_host(5)).rule, "ranks 0 and 1 of one host");
  EXPECT_EQ(notices("", one_host(2)), Notices{});
  EXPECT_EQ(notices("", one_host(3)), Notices{"rank 2 is idle"}) << "there is nobody to pair it with";
  EXPECT_EQ(notices("", one_host(4)), Notices{"ranks 2 and 3 are idle; --pairs adjacent has more ranks work"});
}

TEST(AdjacentRanks, ArePaired) {
  EXPECT_EQ(pairs("adjacent", one_host(2)), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("adjacent", kTwoByFour), (Pairs{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(choose_pairs("adjacent", kTwoByFour).rule, "adjacent ranks");
  EXPECT_EQ(notices("adjacent", kTwoByFour), Notices{});
}

TEST(AdjacentRanks, OfAnOddNumberLeaveTheLastOneOut) {
  EXPECT_EQ(pairs("adjacent", one_host(5)), (Pairs{{0, 1}, {2, 3}}));
  EXPECT_EQ(notices("adjacent", one_host(5)), Notices{"rank 4 has no partner among 5 ranks and is left out"});
}

TEST(Halves, AreMatchedRankByRank) {
  EXPECT_EQ(pairs("halves", one_host(2)), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("halves", kTwoByFour), (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(choose_pairs("halves", kTwoByFour).rule, "each rank r below 4 with rank r + 4");
  EXPECT_EQ(notices("halves", kTwoByFour), Notices{});
}

TEST(Halves, OfAnOddNumberLeaveTheLastOneOut) {
  EXPECT_EQ(pairs("halves", one_host(7)), (Pairs{{0, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(notices("halves", one_host(7)), Notices{"rank 6 has no partner among 7 ranks and is left out"});
}

TEST(HostsTwoByTwo, AreMatchedRankByRank) {
  EXPECT_EQ(pairs("hosts", {"a", "b"}), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("hosts", kTwoByFour), (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(pairs("hosts", kInTurn), (Pairs{{0, 1}, {2, 3}}));
  EXPECT_EQ(pairs("hosts", {"d", "c", "b", "a"}), (Pairs{{0, 1}, {2, 3}}));
  EXPECT_EQ(pairs("hosts", {"a", "b", "c", "d", "a", "b", "c", "d"}), (Pairs{{0, 1}, {4, 5}, {2, 3}, {6, 7}}));
  EXPECT_EQ(choose_pairs("hosts", kInTurn).rule, "hosts two by two, the k-th rank of one with the k-th of the other");
  EXPECT_EQ(notices("hosts", kTwoByFour), Notices{});
}

TEST(HostsTwoByTwo, LeaveOutWhatOneHasMoreThanTheOther) {
  EXPECT_EQ(pairs("hosts", {"a", "a", "a", "b"}), (Pairs{{0, 3}}));
  EXPECT_EQ(notices("hosts", {"a", "a", "a", "b"}),
            Notices{"ranks 1 and 2 are left out: the host has more ranks than the one it is paired with"});
  EXPECT_EQ(notices("hosts", {"a", "b", "b", "c", "c", "d"}),
            Notices{"ranks 2 and 4 are left out: the host has more ranks than the one it is paired with"});
  EXPECT_EQ(notices("hosts", {"a", "b", "c", "d", "c", "a"}),
            Notices{"ranks 4 and 5 are left out: the host has more ranks than the one it is paired with"});
  EXPECT_EQ(notices("hosts", {"a", "b", "a"}),
            Notices{"rank 2 is left out: the host has more ranks than the one it is paired with"});
}

TEST(HostsTwoByTwo, OfAnOddNumberLeaveTheLastOneOut) {
  EXPECT_EQ(pairs("hosts", {"a", "b", "c", "c"}), (Pairs{{0, 1}}));
  EXPECT_EQ(notices("hosts", {"a", "b", "c", "c"}),
            Notices{"host c has no partner among 3 hosts and is left out: ranks 2 and 3"});
  EXPECT_EQ(notices("hosts", {"a", "b", "b", "c"}).size(), 2U) << "for either reason";
}

TEST(HostsTwoByTwo, AreRefusedWhereThereIsOne) {
  const std::string message = refusal("hosts", one_host(4));
  EXPECT_EQ(message, "--pairs hosts: all 4 ranks are on host a; start some on another one, or write --pairs adjacent");
}

TEST(Loopback, PairsTheRanksOfEachHost) {
  EXPECT_EQ(pairs("loopback", one_host(2)), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("loopback", kTwoByFour), (Pairs{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(pairs("loopback", kInTurn), (Pairs{{0, 2}, {1, 3}})) << "of ranks that alternate between hosts too";
  EXPECT_EQ(choose_pairs("loopback", kInTurn).rule,
            "each host with itself, its first rank with its second and so forth");
  EXPECT_EQ(notices("loopback", kTwoByFour), Notices{});
}

TEST(Loopback, LeavesOutRanksWithoutAPartnerOfTheirHost) {
  EXPECT_EQ(pairs("loopback", {"a", "a", "a", "b", "b"}), (Pairs{{0, 1}, {3, 4}}));
  EXPECT_EQ(notices("loopback", {"a", "a", "a", "b", "b"}),
            Notices{"rank 2 is left out: the host has an odd number of ranks"});
  EXPECT_EQ(notices("loopback", {"a", "b", "a", "b", "b", "a"}),
            Notices{"ranks 4 and 5 are left out: the host has an odd number of ranks"});
  EXPECT_EQ(pairs("loopback", {"a", "b", "b"}), (Pairs{{1, 2}}));
  EXPECT_EQ(notices("loopback", {"a", "b", "b"}),
            Notices{"rank 0 is left out, the only one of its host; start two ranks on each host"});
  EXPECT_EQ(notices("loopback", {"a", "b", "b", "c"}),
            Notices{"ranks 0 and 3 are left out, each the only one of its host; start two ranks on each host"});
  EXPECT_EQ(notices("loopback", {"a", "b", "b", "b"}).size(), 2U) << "for either reason";
}

TEST(Loopback, IsRefusedWhereNoHostHasTwoRanks) {
  EXPECT_EQ(refusal("loopback", {"a", "b", "c"}),
            "--pairs loopback: none of the 3 hosts has two ranks; start two ranks on each host, such as with mpirun "
            "--map-by ppr:2:node");
}

TEST(Shift, PairsRanksOfADistanceInBlocks) {
  EXPECT_EQ(pairs("shift:1", one_host(4)), pairs("adjacent", one_host(4)));
  EXPECT_EQ(pairs("shift:2", kTwoByFour), (Pairs{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(pairs("shift:4", kTwoByFour), pairs("halves", kTwoByFour));
  EXPECT_EQ(pairs("shift:1", one_host(2)), (Pairs{{0, 1}}));
  EXPECT_EQ(choose_pairs("shift:2", kTwoByFour).rule, "each rank r with rank r + 2 in blocks of 4 ranks");
  EXPECT_EQ(notices("shift:2", kTwoByFour), Notices{});
}

TEST(Shift, LeavesOutRanksWithoutAPartner) {
  EXPECT_EQ(pairs("shift:2", one_host(7)), (Pairs{{0, 2}, {1, 3}, {4, 6}}));
  EXPECT_EQ(notices("shift:2", one_host(7)), Notices{"rank 5 has no partner 2 ranks further and is left out"});
  EXPECT_EQ(pairs("shift:4", one_host(6)), (Pairs{{0, 4}, {1, 5}}));
  EXPECT_EQ(notices("shift:4", one_host(6)), Notices{"ranks 2 and 3 have no partner 4 ranks further and are left out"});
  EXPECT_EQ(pairs("shift:7", kTwoByFour), (Pairs{{0, 7}}));
  EXPECT_EQ(notices("shift:7", kTwoByFour), Notices{"ranks 1 to 6 have no partner 7 ranks further and are left out"});
}

TEST(Shift, IsRefusedWhereTheDistanceIsNone) {
  for (const char* distance : {"", "0", "-1", "4", "5", "99999999999", "1x", "x", "1.5", " 1", "+1"}) {
    EXPECT_EQ(refusal(fmt::format("shift:{}", distance), kInTurn),
              fmt::format("--pairs shift:{0}: '{0}' is not a distance within 4 ranks; use a whole number from 1 "
                          "to 3",
                          distance));
  }
  EXPECT_EQ(refusal("shift:2", one_host(2)), "--pairs shift:2: '2' is not a distance within 2 ranks; use shift:1");
}

TEST(ListedPairs, AreThoseOfTheList) {
  EXPECT_EQ(pairs("0-4,7-1", kTwoByFour), (Pairs{{0, 4}, {7, 1}})) << "the first one sends";
  EXPECT_EQ(pairs("3-0", kTwoByFour), (Pairs{{3, 0}}));
  EXPECT_EQ(pairs(" 0-4, 7-1 , 2-3", kTwoByFour), (Pairs{{0, 4}, {7, 1}, {2, 3}}));
  EXPECT_EQ(pairs("00-01", kInTurn), (Pairs{{0, 1}}));
  EXPECT_EQ(choose_pairs("3-0", kInTurn).rule, "ranks 3 and 0, as --pairs says");
  EXPECT_EQ(choose_pairs("0-4,7-1", kTwoByFour).rule, "the 2 pairs that --pairs lists");
}

TEST(ListedPairs, NameTheRanksThatAreInNone) {
  EXPECT_EQ(notices("0-1,3-2", kInTurn), Notices{});
  EXPECT_EQ(notices("0-4,7-1", kTwoByFour), Notices{"ranks 2, 3, 5 and 6 are in no pair and idle"});
  EXPECT_EQ(notices("0-1", one_host(3)), Notices{"rank 2 is in no pair and idle"});
  std::string every_fourth = "0-1";
  for (int rank = 4; rank < 80; rank += 4) every_fourth += fmt::format(",{}-{}", rank, rank + 1);
  EXPECT_EQ(notices(every_fourth, one_host(80)),
            Notices{"ranks 2, 3, 6, 7, 10, 11, 14, 15 and others are in no pair and idle"});
}

TEST(ListedPairs, AreRefusedWithTheReasonAndTheRemedy) {
  const struct {
    std::string list;
    std::string message;
  } cases[] = {{"0-9", "--pairs 0-9: there is no rank 9, the last one is 3"},
               {"4-0", "--pairs 4-0: there is no rank 4, the last one is 3"},
               {"0-1,2-99999999999", "--pairs 2-99999999999: there is no rank 99999999999, the last one is 3"},
               {"2-2", "--pairs 2-2: both are rank 2; name two different ones"},
               {"0-1,2-1", "--pairs 2-1: rank 1 is already paired with rank 0; name every rank once"},
               {"0-1,1-0", "--pairs 1-0: rank 1 is already paired with rank 0; name every rank once"},
               {"0-1,2", "--pairs 2 is not a pair of ranks; write one such as 0-1, or a list such as 0-4,7-1"},
               {"0-1-2", "--pairs 0-1-2 is not a pair of ranks; write one such as 0-1, or a list such as 0-4,7-1"},
               {"-1-2", "--pairs -1-2 is not a pair of ranks; write one such as 0-1, or a list such as 0-4,7-1"},
               {"0-", "--pairs 0- is not a pair of ranks; write one such as 0-1, or a list such as 0-4,7-1"},
               {"-", "--pairs - is not a pair of ranks; write one such as 0-1, or a list such as 0-4,7-1"},
               {" ,", "--pairs ' ,' has no pair; write one such as 0-1, or a list such as 0-4,7-1"}};
  for (const auto& [list, message] : cases) EXPECT_EQ(refusal(list, kInTurn), message);
}

TEST(ManyToOne, HaveTheFirstRanksOfOtherHostsMeetTheFirstHost) {
  EXPECT_EQ(pairs("many-to-one", {"a", "a", "a", "b", "c", "d"}), (Pairs{{3, 0}, {4, 1}, {5, 2}}));
  EXPECT_EQ(pairs("one-to-many", {"a", "a", "a", "b", "c", "d"}), (Pairs{{0, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(pairs("many-to-one", {"a", "b"}), (Pairs{{1, 0}}));
  EXPECT_EQ(pairs("one-to-many", {"a", "b", "c", "a"}), (Pairs{{0, 1}, {3, 2}})) << "in whatever order they are";
  EXPECT_EQ(choose_pairs("many-to-one", kInTurn).rule, "from the first rank of each other host to host a");
  EXPECT_EQ(choose_pairs("one-to-many", kInTurn).rule, "from host a to the first rank of each other host");
  EXPECT_EQ(notices("many-to-one", {"a", "a", "b", "c"}), Notices{});
  EXPECT_EQ(notices("many-to-one", {"a", "a", "a", "b", "c", "c"}),
            Notices{"ranks 2 and 5 are left out: only one rank of host a is used for each other host, and only the "
                    "first rank of those"});
}

TEST(ManyToOne, TakeARankOfTheFirstHostForEachOther) {
  EXPECT_EQ(
      refusal("many-to-one", one_host(4)),
      "--pairs many-to-one needs two hosts or more, and all 4 ranks are on host a; start some on others, or write "
      "--pairs adjacent or all");
  EXPECT_EQ(refusal("one-to-many", {"a", "b", "c", "d"}),
            "--pairs one-to-many: host a has rank 0, and needs a rank for each of the 3 other hosts; start 3 there, "
            "such as with mpirun -H a:3,b,c,d");
  Hosts many = {"h0", "h0"};
  for (int host = 1; host <= 20; ++host) many.push_back(fmt::format("h{}", host));
  EXPECT_EQ(refusal("many-to-one", many),
            "--pairs many-to-one: host h0 has ranks 0 and 1, and needs a rank for each of the 20 other hosts; start 20 "
            "there, such as with mpirun -H h0:20,h1,h2,h3,h4,h5,h6,h7,...");
}

TEST(EveryTwoRanks, MeetOnce) {
  EXPECT_EQ(pairs("all", one_host(2)), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("all", kInTurn), (Pairs{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(pairs("all", one_host(64)).size(), 2016U);
  EXPECT_EQ(choose_pairs("all", kInTurn).rule, "every two ranks once, the lower one first");
  EXPECT_EQ(notices("all", one_host(3)), Notices{});
}

TEST(PairsOfAFile, AreReadLineByLine) {
  const std::string file =
      "# ranks\n"
      "0 4\n"
      "\n"
      "  7,1  # and back\n"
      "\t5 , 2\t\n"
      "6\t3";
  EXPECT_EQ(pairs("pairs.txt", kTwoByFour, file), (Pairs{{0, 4}, {7, 1}, {5, 2}, {6, 3}}));
  EXPECT_EQ(pairs("pairs.txt", kTwoByFour, "0 4\r\n\r\n7 1\r\n"), (Pairs{{0, 4}, {7, 1}}));
  EXPECT_EQ(choose_pairs("pairs.txt", kTwoByFour, file).rule, "the 4 pairs that --pairs lists");
  EXPECT_EQ(choose_pairs("pairs.txt", kTwoByFour, "1 6").rule, "ranks 1 and 6, as --pairs says");
  EXPECT_EQ(notices("pairs.txt", kTwoByFour, file), Notices{});
  EXPECT_EQ(notices("pairs.txt", kTwoByFour, "0 4"), Notices{"ranks 1 to 3 and 5 to 7 are in no pair and idle"});
}

TEST(PairsOfAFile, TakeAHostNameForItsFirstRankThatIsFree) {
  EXPECT_EQ(pairs("f", kTwoByFour, "a b\n"), (Pairs{{0, 4}}));
  EXPECT_EQ(pairs("f", kTwoByFour, "a b\nb a\n"), (Pairs{{0, 4}, {5, 1}}));
  EXPECT_EQ(pairs("f", kTwoByFour, "a a\n"), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs("f", kTwoByFour, "0 a\na 4\n"), (Pairs{{0, 1}, {2, 4}}));
  EXPECT_EQ(pairs("f", kInTurn, "b,a"), (Pairs{{1, 0}}));
  EXPECT_EQ(pairs("f", {"node-1", "node-2.rack"}, "node-2.rack node-1"), (Pairs{{1, 0}}));
}

TEST(PairsOfAFile, AreRefusedWithTheLine) {
  const struct {
    std::string file;
    std::string message;
  } cases[] = {
      {"0 1\n\n2 9\n", "--pairs f, line 3: there is no rank 9, the last one is 3"},
      {"# x\r\n1 1\r\n", "--pairs f, line 2: both are rank 1; name two different ones"},
      {"a 0\n", "--pairs f, line 1: both are rank 0; name two different ones"},
      {"a b\n0 3\n", "--pairs f, line 2: rank 0 is already paired with rank 1; name every rank once"},
      {"a c\n", "--pairs f, line 1: the job has no host 'c'; it has a and b"},
      {"a b\na b\na b\n",
       "--pairs f, line 3: host a has no rank left, only ranks 0 and 2; name it less often, or start more ranks there"},
      {"0 1\n2\n",
       "--pairs f, line 2: '2' is not a pair; write two rank numbers or host names with a blank or a comma between"},
      {"0,  1 # b\n2 3 a\n",
       "--pairs f, line 2: '2 3 a' is not a pair; write two rank numbers or host names with a blank or a comma "
       "between"},
      {"0-1\n",
       "--pairs f, line 1: '0-1' is not a pair; write two rank numbers or host names with a blank or a comma between"},
      {"", "--pairs f: the file has no pair; write two rank numbers or host names a line"},
      {"\n# 0 1\r\n \n", "--pairs f: the file has no pair; write two rank numbers or host names a line"}};
  for (const auto& [file, message] : cases) EXPECT_EQ(refusal("f", kInTurn, file), message);
}

TEST(PairsOfAFile, NameNotMoreHostsThanFitInAMessage) {
  Hosts hosts;
  for (int host = 10; host < 30; ++host) hosts.push_back(fmt::format("n{}", host));
  EXPECT_EQ(refusal("f", hosts, "n10 n30"),
            "--pairs f, line 1: the job has no host 'n30'; it has n10, n11, n12, n13, n14, n15, n16, n17 and others");
}

TEST(Pairs, TakeTwoRanks) {
  for (const std::string rule : {"", "adjacent", "halves", "hosts", "loopback", "shift:1", "0-0", "pairs.txt"}) {
    EXPECT_EQ(refusal(rule, one_host(1), "a a"),
              "a pair needs two ranks, and the job has 1; start at least two, for instance with mpirun -np 2");
  }
}

TEST(Pairs, AreOfAFileWhereTheRuleIsNeitherAWordNorAList) {
  for (const std::string rule : {"", "adjacent", "halves", "hosts", "loopback", "shift:2", "shift:", "shift:x",
                                 "0-4,7-1", "0", "12", "-", "0-", " 1 - 2 "}) {
    EXPECT_FALSE(names_a_file(rule)) << rule;
  }
  for (const std::string rule :
       {"pairs.txt", "./12", "/tmp/pairs", "Adjacent", "host", "shift", "./shift:1", "a-b", "0-a"}) {
    EXPECT_TRUE(names_a_file(rule)) << rule;
  }
}

/// Others read what the programs print, and look for hosts behind ` on ` and for these words.
TEST(Pairs, HaveRulesThatAreOneClauseAndNothingElse) {
  const std::regex other(" on |FAILED|bandwidth|[.;\n]");
  for (const Hosts& hosts : {kTwoByFour, kInTurn, Hosts{"a", "b", "b"}}) {
    for (const std::string rule :
         {"", "adjacent", "halves", "hosts", "loopback", "shift:2", "0-2", "bandwidth on FAILED"}) {
      const std::string clause = choose_pairs(rule, hosts, "0 2").rule;
      EXPECT_FALSE(clause.empty());
      EXPECT_FALSE(std::regex_search(clause, other)) << clause;
    }
  }
}

}  // namespace pairs_test
