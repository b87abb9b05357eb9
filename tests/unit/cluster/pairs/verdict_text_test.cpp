#include "cluster/pairs/report/verdict_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "verdict_text_test_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace verdict_text_test {

using namespace verdict_text_parts;

TEST(VerdictText, OfACleanSweepIsShort) {
  EXPECT_EQ(text_of(example_sweep(), verdict_of({})),
            "Nothing is slow; all 8 hosts are fine.\n"
            "\n"
            "Fine: node[01-08]\n"
            "\n"
            "Measured: 56 readings in 7 rounds; slow means more than 5 % below the expected bandwidth\n"
            "                          readings  usual GB/s   spread\n"
            "    rdma_write_bw 1 MiB         56       12.00    1.1 %\n");
}

TEST(VerdictText, SaysWhatToDo) {
  Verdict verdict = verdict_of({finding_of(Blame::kHost, {6}, Direction::kSends)});
  verdict.findings[0].confirmed = true;
  verdict.follow_ups = {{1, 2, 0, 3, "12 % slower than both hosts are with others"}};
  verdict.outliers = 0.0123;
  verdict.links = {.pairs = 6, .readings = 12, .slowed = 0, .alone = 6.1e9, .beside = 6e9, .are_shared = false};
  EXPECT_EQ(
      text_of(example_sweep(), verdict),
      "1 host is slow, 1 path is suspect; 7 of 8 hosts are fine.\n"
      "\n"
      "SLOW HOST    node07 is slow with all partners, sending; receiving is fine\n"
      "    how bad     6.00 GB/s where 12.00 are expected: 50 % of it\n"
      "    rests on    14 readings with 7 partners\n"
      "    how sure    fewer than 1 of 10,000 sweeps of healthy hosts look like this; seen again when measured alone\n"
      "    next        scripts/sweep_pairs.sh -H 'node[01-03,07]' --all-pairs --max-concurrent 1 --test rdma_write_bw  "
      "# again, one pair at a time, with healthy hosts\n"
      "                ssh node07 ibstat  # state and rate of its InfiniBand or RoCE ports\n"
      "                ibqueryerrors --report-port --ca | grep -F -w -A 8 node07  # error counters of its InfiniBand "
      "ports\n"
      "\n"
      "Slow: node07\n"
      "Fine: node[01-06,08]\n"
      "\n"
      "Measured: 56 readings in 7 rounds; slow means more than 5 % below the expected bandwidth\n"
      "                          readings  usual GB/s   spread\n"
      "    rdma_write_bw 1 MiB         56       12.00    1.1 %\n"
      "    Of the readings outside all findings, 1.2 % are slow.\n"
      "    6 pairs, slow among others, reach 6.10 GB/s alone and 6.00 GB/s among all others: other pairs are not the "
      "cause.\n"
      "\n"
      "Open questions, which more readings would decide:\n"
      "    node02 with node03: 3 more readings; 12 % slower than both hosts are with others\n");
}

TEST(VerdictText, SaysThatLinksAreShared) {
  Verdict verdict = verdict_of({});
  EXPECT_EQ(text_of(example_sweep(), verdict).find("alone"), std::string::npos) << "nothing was compared";
  verdict.links = {.pairs = 1, .readings = 2, .slowed = 2, .alone = 12e9, .beside = 6e9, .are_shared = true};
  EXPECT_NE(text_of(example_sweep(), verdict)
                .find("    1 pair, slow among others, reaches 12.00 GB/s alone and 6.00 GB/s among all others: links "
                      "are shared. "
                      "Where all hosts send at once, as in training, these get at most 50 % of their bandwidth.\n"
                      "    Hosts are judged by readings with near hosts, or alone.\n"),
            std::string::npos);
  verdict.links = {.pairs = 6, .readings = 12, .slowed = 3, .alone = 12e9, .beside = 12e9, .are_shared = true};
  EXPECT_NE(text_of(example_sweep(), verdict)
                .find("    6 pairs, slow among others, reach 12.00 GB/s alone and less in 3 of 12 readings among all "
                      "others: links are shared.\n    Hosts are judged"),
            std::string::npos);
  verdict.links.are_shared = false;
  EXPECT_NE(text_of(example_sweep(), verdict).find("less in 3 of 12 readings among all others, too few to tell why.\n"),
            std::string::npos);
}

TEST(VerdictText, NamesRailsLeavesAndDirectionsOfWhatWasMeasured) {
  Verdict verdict = verdict_of({});
  verdict.strata.push_back(example_stratum());
  verdict.groupings = {east_and_west()};
  verdict.strata[1].distance = 1;
  verdict.strata[1].from_rail = verdict.strata[1].to_rail = 1;
  verdict.strata[1].both_ways = true;
  const Texts lines = lines_of(text_of(with_rails_and_leaves(), verdict));
  ASSERT_GE(lines.size(), 8U);
  EXPECT_EQ(lines[6].substr(0, 76), "    rdma_write_bw 1 MiB, rail mlx5_0, within a leaf                         ");
  EXPECT_EQ(lines[7].substr(0, 76), "    rdma_write_bw 1 MiB, rail mlx5_1, both directions together, to another l");
}

TEST(VerdictText, FoldsAlikeFindings) {
  std::vector<Finding> findings(6, finding_of(Blame::kHost, {0}));
  for (int host = 0; host < 6; ++host) findings[static_cast<std::size_t>(host)].hosts = {host};
  findings[1].ratio = 0.4;
  findings[4].ratio = 0.9;
  findings[5].direction = Direction::kSends;
  const Verdict verdict = verdict_of(findings);
  const std::string text = text_of(example_sweep(), verdict);
  EXPECT_NE(text.find("\nSLOW HOST    4 hosts are slow: node[01-04]\n    how bad     40 to 50 "
                      "% of the bandwidth expected: "
                      "node02 40 %, node01 50 %, node03 50 %, node04 50 %\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nSLOW HOST    node05 is slow"), std::string::npos) << "its deficit is less than half of that";
  EXPECT_NE(text.find("\nSLOW HOST    node06 is slow with all partners, sending;"), std::string::npos);
  const std::string all = text_of(example_sweep(), verdict, {.all = true});
  EXPECT_NE(all.find("\nSLOW HOST    node03 is slow"), std::string::npos) << all;
}

TEST(VerdictText, FoldsPathsWithOneHostThatDifferInRails) {
  std::vector<Finding> findings(8, finding_of(Blame::kPair, {2, 5}));
  for (int rail = 0; rail < 8; ++rail) findings[static_cast<std::size_t>(rail)].rail = rail;
  findings[3].fine_hosts = {true, false};
  Sweep sweep = example_sweep();
  sweep.rails = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"};
  const std::string text = text_of(sweep, verdict_of(findings));
  EXPECT_NE(text.find("\nSLOW PATH    the path between node03 and node06 over rails mlx5_[0-2,4-7] is slow, both ways; "
                      "both hosts are fine with others\n    how bad     50 % of the bandwidth expected\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("\nSLOW PATH    the path between node03 and node06 over rail mlx5_3 is slow, both ways; node03 is "
                "fine with others\n"),
      std::string::npos)
      << "another sentence: " << text;
}

TEST(VerdictText, FoldsNicsWithTheirRails) {
  std::vector<Finding> findings(3, finding_of(Blame::kNic, {1}));
  findings[0].rail = findings[2].rail = 1;
  findings[1].rail = 0;
  findings[2].hosts = {6};
  findings[2].ratio = 0.4;
  const std::string text = text_of(with_rails_and_leaves(), verdict_of(findings));
  EXPECT_NE(text.find("\nSLOW NIC     3 NICs are slow: node07 over rail mlx5_1; node02 over "
                      "rails mlx5_[0-1]\n    how bad     40 to 50 % of the bandwidth expected: node07 40 %, node02 "
                      "50 %, node02 50 %\n"),
            std::string::npos)
      << text;
}

TEST(VerdictText, FoldsWhatWasMeasuredOverAlikeRails) {
  Sweep sweep = with_rails_and_leaves();
  Verdict verdict = verdict_of({});
  verdict.strata.push_back(example_stratum());
  verdict.strata[1].from_rail = verdict.strata[1].to_rail = 1;
  verdict.strata[1].centre = 12.2e9;
  verdict.strata[1].scale = 0.02;
  EXPECT_NE(text_of(sweep, verdict).find("    rdma_write_bw 1 MiB, rails mlx5_[0-1]        112       12.10    2.0 %\n"),
            std::string::npos)
      << text_of(sweep, verdict);
  EXPECT_NE(text_of(sweep, verdict, {.all = true}).find(", rail mlx5_1"), std::string::npos);
  verdict.strata[1].centre = 10e9;
  EXPECT_NE(text_of(sweep, verdict).find(", rail mlx5_1"), std::string::npos) << "another bandwidth";
}

TEST(VerdictText, FoldsTheHostsAndPathsOfASlowLeaf) {
  Finding leaf = finding_of(Blame::kLeaf, {});
  leaf.leaf = 0;
  Finding dead = failing(finding_of(Blame::kDead, {3}));
  Verdict verdict = verdict_of({leaf, finding_of(Blame::kHost, {1}), finding_of(Blame::kPair, {2, 6}), dead});
  verdict.groupings = {east_and_west()};
  verdict.follow_ups = {{0, 5, 0, 2, "slow"}, {5, 0, 1, 2, "slow"}, {6, 7, 0, 2, "slow"}, {7, 6, 1, 2, "slow"}};
  const std::string text = text_of(with_rails_and_leaves(), verdict);
  EXPECT_NE(
      text.find("\n    with it     node02 is slow with all partners, sending and receiving; 6.00 GB/s where 12.00 are "
                "expected: 50 % of it\n                the path between node03 and node07 is slow"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\n                1 suspect path to other hosts\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nDEAD HOST "), std::string::npos);
  EXPECT_EQ(text.find("\nSLOW HOST "), std::string::npos);
  EXPECT_NE(text.find("decide:\n    node07 with node08 over rails mlx5_[0-1]: 2 more readings; slow, and 1 more like "
                      "it\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(suspect_paths(verdict).size(), 1U);
  const std::string all = text_of(with_rails_and_leaves(), verdict, {.all = true});
  EXPECT_EQ(all.find("with it"), std::string::npos) << all;
  EXPECT_NE(all.find("\nSLOW HOST    node02 "), std::string::npos) << all;
}

TEST(VerdictText, HasALimitedNumberOfLines) {
  Verdict verdict = verdict_of({finding_of(Blame::kHost, {6})});
  verdict.strata.resize(40, example_stratum());
  verdict.notes.resize(40, "something");
  const Texts one = lines_of(text_of(example_sweep(), verdict));
  EXPECT_EQ(one.size(), 25U);
  EXPECT_EQ(one.back(), "32 lines more: --long");
  for (int host = 0; host < 30; ++host) {
    verdict.findings.push_back(finding_of(Blame::kNic, {host % 8}));
    verdict.findings.back().rail = host % 2;
    verdict.findings.back().ratio = 0.9 - 0.01 * host;
    verdict.findings.back().reason = fmt::format("reason {}", host);
  }
  EXPECT_LE(lines_of(text_of(with_rails_and_leaves(), verdict)).size(), 60U);
  EXPECT_GT(lines_of(text_of(with_rails_and_leaves(), verdict)).size(), 50U);
  EXPECT_GT(lines_of(text_of(with_rails_and_leaves(), verdict, {.all = true})).size(), 250U);
}

TEST(VerdictText, ShowsEveryPathBelowHalf) {
  Sweep sweep = example_sweep();
  Verdict verdict = verdict_of({finding_of(Blame::kHost, {6})});
  verdict.usual.assign(sweep.readings.size(), 12e9F);
  for (Reading& reading : sweep.readings) {
    if (reading.from == 0 && reading.to < 3) reading.rate *= 0.45F;   // in no finding
    if (reading.from == 6 && reading.to == 4) reading.rate *= 0.45F;  // of a host at half of the usual rate
    if (reading.from == 6 && reading.to == 5) reading.rate *= 0.2F;
  }
  const std::string text = text_of(sweep, verdict);
  EXPECT_NE(text.find("\nBelow half of the usual bandwidth, and in no finding: 3 paths, the worst at 20 %: node01 - "
                      "node[02-03]; node06 - node07\n"),
            std::string::npos)
      << text;
  verdict.links.are_shared = true;
  for (Reading& reading : sweep.readings) reading.concurrent = 4;
  EXPECT_EQ(text_of(sweep, verdict).find("Below half"), std::string::npos) << "other pairs may have slowed them";
  verdict.links.are_shared = false;
  verdict.judged = Judged::kClean;
  verdict.findings.clear();
  EXPECT_EQ(text_of(sweep, verdict).find("Below half"), std::string::npos);
}

TEST(VerdictText, AsksOnceForAllRails) {
  Verdict verdict = verdict_of({finding_of(Blame::kUndecided, {0})});
  verdict.follow_ups = {{3, -1, 0, 2, "slow with 3 of 7 partners"}, {3, -1, 1, 2, "slow with 4 of 7 partners"}};
  EXPECT_NE(text_of(with_rails_and_leaves(), verdict)
                .find("    node04 with any healthy host over rails mlx5_[0-1]: 2 more readings; slow with 3 of 7 "
                      "partners, and 1 "
                      "more like it\n"),
            std::string::npos)
      << text_of(with_rails_and_leaves(), verdict);
}

TEST(VerdictText, HasColoursOnlyWhereAskedFor) {
  const Verdict slow = verdict_of({finding_of(Blame::kHost, {6})});
  EXPECT_EQ(text_of(example_sweep(), slow).find('\x1b'), std::string::npos);
  const Texts lines = lines_of(text_of(example_sweep(), slow, {.colour = true}));
  EXPECT_EQ(lines[0], "\x1b[1;31m1 host is slow; 7 of 8 hosts are fine.\x1b[0m");
  EXPECT_EQ(lines[2], "\x1b[1;31mSLOW HOST  \x1b[0m  node07 is slow with all partners, sending and receiving");
  EXPECT_TRUE(text_of(example_sweep(), verdict_of({}), {.colour = true}).starts_with("\x1b[1;32mNothing is slow"));
}

TEST(VerdictText, AsksAboutPathsFirst) {
  Verdict verdict = verdict_of({});
  for (std::int32_t host = 0; host < 8; ++host) verdict.follow_ups.push_back({host, -1, 0, 16, "slow now and then"});
  verdict.follow_ups.push_back({2, 3, 0, 3, "93 % slower"});
  EXPECT_NE(text_of(example_sweep(), verdict).find("decide:\n    node03 with node04: 3 more readings; 93 % slower\n"),
            std::string::npos);
}

TEST(VerdictHeadline, CountsHostsPathsAndWhatIsOpen) {
  const Sweep sweep = with_rails_and_leaves();
  Finding leaf = finding_of(Blame::kLeaf, {});
  leaf.leaf = 0;
  Finding other_leaf = leaf;
  other_leaf.leaf = 1;
  Finding on_another_rail = finding_of(Blame::kPair, {0, 1});
  on_another_rail.rail = 1;
  const struct {
    std::vector<Finding> findings;
    const char* headline;
  } cases[] = {
      {{}, "Nothing is slow; all 8 hosts are fine"},
      {{finding_of(Blame::kHost, {0}), finding_of(Blame::kNic, {0}), finding_of(Blame::kNic, {1})},
       "1 host is slow, 1 NIC is slow; 6 of 8 hosts are fine"},
      {{finding_of(Blame::kDead, {0}), finding_of(Blame::kTransient, {1})},
       "1 host is dead, 1 host is unsteady; 6 of 8 hosts are fine"},
      {{finding_of(Blame::kWrongData, {0}), finding_of(Blame::kWrongData, {2, 3})},
       "1 path is delivering wrong data, 1 host is delivering wrong data; 7 of 8 hosts are fine"},
      {{finding_of(Blame::kPair, {0, 1}), finding_of(Blame::kPair, {2, 3}), finding_of(Blame::kDeadPair, {4, 5})},
       "2 paths are slow, 1 path is dead; all 8 hosts are fine"},
      {{leaf, finding_of(Blame::kLeafPair, {}), finding_of(Blame::kRail, {})},
       "1 leaf is slow towards the others, 1 leaf-to-leaf path is slow, 1 rail is slow; all 8 hosts are fine"},
      {{leaf, other_leaf}, "2 leaves are slow towards the others; all 8 hosts are fine"},
      {{finding_of(Blame::kPair, {0, 1}), on_another_rail}, "1 path is slow; all 8 hosts are fine"},
      {{finding_of(Blame::kUndecided, {0, 1})}, "2 hosts are suspect; 6 of 8 hosts are fine"},
      {{failing(finding_of(Blame::kNic, {0}))}, "1 NIC is dead; 7 of 8 hosts are fine"},
      {{finding_of(Blame::kHost, {0}), finding_of(Blame::kTransient, {0})}, "1 host is slow; 7 of 8 hosts are fine"},
      {{finding_of(Blame::kTransient, {0, 1})}, "1 path is unsteady; all 8 hosts are fine"},
      {{finding_of(Blame::kHost, {0}), finding_of(Blame::kHost, {1}), finding_of(Blame::kUndecided, {0, 1})},
       "2 hosts are slow, 1 more finding is undecided; 6 of 8 hosts are fine"},
      {{finding_of(Blame::kAll, {})}, "Everything is slower than expected; 0 of 8 hosts are fine"},
  };
  for (const auto& [findings, expected] : cases) {
    Verdict verdict = verdict_of(findings);
    verdict.groupings = {east_and_west()};
    EXPECT_EQ(headline(sweep, verdict), expected);
    verdict.groupings[0].is_given = false;
    if (!findings.empty() && findings[0].blame == Blame::kLeaf) {
      EXPECT_NE(headline(sweep, verdict).find("slow towards the others"), std::string::npos);
      EXPECT_EQ(headline(sweep, verdict).find("lea"), std::string::npos) << headline(sweep, verdict);
    }
  }
}

TEST(VerdictHeadline, SaysWhenItCannotJudge) {
  Verdict verdict = verdict_of({});
  verdict.judged = Judged::kUnknown;
  verdict.not_judged = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(headline(example_sweep(), verdict), "Too little was measured to judge; 1 of 8 hosts is fine, 7 not judged");
  Sweep one;
  one.hosts = {"a"};
  verdict.not_judged = {0};
  EXPECT_EQ(headline(one, verdict), "Too little was measured to judge; 0 of 1 host are fine, 1 not judged");
}

TEST(VerdictHeadline, SaysWhyItCannotJudge) {
  Verdict verdict = verdict_of({});
  verdict.judged = Judged::kUnknown;
  verdict.not_judged = {3};
  EXPECT_EQ(headline(example_sweep(), verdict),
            "Too little was measured of 1 host; 7 of 8 hosts are fine, 1 not judged");
  verdict.not_judged.clear();
  verdict.outliers = 0.32;
  EXPECT_EQ(headline(example_sweep(), verdict), "32 % of the readings are slow, and no host stands out")
      << "neither that little was measured, nor that all hosts are fine";
  verdict.outliers = 0;
  verdict.lasting_change = 0.5;
  EXPECT_EQ(headline(example_sweep(), verdict),
            "The usual bandwidth changed too much during the sweep to tell which level is healthy");
  verdict.lasting_change = 0;
  verdict.groups_are_open = true;
  EXPECT_EQ(headline(example_sweep(), verdict), "It is open which hosts are near each other");
  verdict.follow_ups = {{1, 2, 0, 1, ""}};
  EXPECT_EQ(headline(example_sweep(), verdict), "1 path is suspect");
}

TEST(HostLists, HaveEveryHostOnce) {
  const Sweep sweep = example_sweep();
  Verdict verdict =
      verdict_of({finding_of(Blame::kUndecided, {0, 1}), finding_of(Blame::kHost, {1}), finding_of(Blame::kDead, {2}),
                  finding_of(Blame::kTransient, {3}), finding_of(Blame::kPair, {4, 5}), finding_of(Blame::kNic, {3})});
  verdict.not_judged = {6, 2};
  verdict.follow_ups = {{7, -1, 0, 2, "slow with node05"}, {1, -1, 0, 2, "x"}, {4, 5, 0, 1, "y"}};
  const HostLists lists = host_lists(sweep, verdict);
  EXPECT_EQ(lists.slow, (Texts{"node02", "node04"}));
  EXPECT_EQ(lists.dead, Texts{"node03"});
  EXPECT_EQ(lists.unsteady, Texts{});
  EXPECT_EQ(lists.suspect, (Texts{"node01", "node08"}));
  EXPECT_EQ(lists.not_judged, Texts{"node07"});
  EXPECT_EQ(lists.fine, (Texts{"node05", "node06"})) << "where the path between two is slow, they are fine";
}

TEST(VerdictLines, AreForScripts) {
  const Sweep sweep = with_rails_and_leaves();
  Finding leaf = finding_of(Blame::kLeaf, {});
  leaf.leaf = 1;
  Finding spine = finding_of(Blame::kLeafPair, {});
  spine.leaf = 0;
  spine.other_leaf = 1;
  Finding rail = finding_of(Blame::kRail, {});
  rail.rail = 1;
  Verdict verdict =
      verdict_of({finding_of(Blame::kHost, {6}), finding_of(Blame::kNic, {1}), finding_of(Blame::kDead, {4}),
                  finding_of(Blame::kPair, {2, 7}), finding_of(Blame::kDeadPair, {0, 7}), leaf, spine, rail});
  verdict.groupings = {east_and_west()};
  verdict.follow_ups = {{2, 3, 0, 1, ""}, {3, 2, 1, 1, ""}, {7, 2, 0, 1, "is a finding already"}};
  verdict.findings.push_back(finding_of(Blame::kPair, {2, 7}));
  verdict.findings.back().rail = 1;
  EXPECT_EQ(verdict_lines(sweep, verdict),
            "Dead: node05\n"
            "Slow: node[02,07]\n"
            "Fine: node[01,03-04,06,08]\n"
            "Slow path: node03 node08\n"
            "Dead path: node01 node08\n"
            "Slow leaf: west\n"
            "Slow path of leaves: east west\n"
            "Slow rail: mlx5_1\n"
            "Suspect path: node03 node04\n");
  verdict.groupings[0].is_given = false;
  EXPECT_NE(verdict_lines(sweep, verdict).find("\nSlow path of leaves: node[01-04] node[05-08]\n"), std::string::npos);
}

TEST(VerdictLines, NameSoManySuspectPaths) {
  Sweep sweep;
  Verdict verdict;
  for (std::int32_t host = 0; host < 12; ++host) {
    sweep.hosts.push_back(fmt::format("node{:02}", host + 1));
    for (std::int32_t other = 0; other < host; ++other) verdict.follow_ups.push_back({host, other, 0, 1, ""});
  }
  const std::string text = verdict_lines(sweep, verdict);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 50 + 1) << text;
  EXPECT_NE(text.find("\nMore suspect paths: 16, all of them by --json\n"), std::string::npos) << text;
}

TEST(VerdictText, TellsOfGroups) {
  Verdict verdict = verdict_of({});
  verdict.groupings = {east_and_west()};
  verdict.groupings[0].across = 0.25;
  EXPECT_NE(text_of(with_rails_and_leaves(), verdict)
                .find("\nBetween leaves, a pair reaches 25 % of the bandwidth within a leaf.\n"),
            std::string::npos);
  verdict.groupings[0].is_given = false;
  verdict.groupings[0].false_alarm = 1e-5;
  EXPECT_NE(
      text_of(example_sweep(), verdict)
          .find("\nGroups of hosts in the readings: 2 groups, and between them 25 % of the bandwidth within; fewer "
                "than 1 of 100,000 sweeps of healthy hosts look like this\n    east: node[01-04]\n    west: "
                "node[05-08]\n"),
      std::string::npos);
}

TEST(VerdictText, TellsOfKindsOfHosts) {
  Verdict verdict = verdict_of({});
  verdict.judged = Judged::kUnknown;
  verdict.kinds = HostKinds{{0, 1, 2}, {3, 4, 5, 6, 7}, 50e9, 25e9};
  const std::string text = text_of(example_sweep(), verdict);
  EXPECT_TRUE(text.starts_with("There are two kinds of hosts, 5 hosts are suspect; 3 of 8 hosts are fine.\n")) << text;
  EXPECT_NE(text.find("\nTwo kinds of hosts: node[01-03] (3) at 50.00 GB/s, node[04-08] (5) at 25.00 GB/s. The "
                      "readings cannot show which kind is healthy: decide yourself, or give --expect RATE.\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Suspect: node[04-08]\n"), std::string::npos);
  verdict.judged = Judged::kClean;
  verdict.kinds->both_suffice = true;
  const std::string settled = text_of(example_sweep(), verdict);
  EXPECT_TRUE(settled.starts_with("Nothing is slow; all 8 hosts are fine.\n")) << settled;
  EXPECT_NE(settled.find("Both reach the expected bandwidth."), std::string::npos);
}

TEST(SweepMap, HoldsReadingsAgainstWhatIsUsual) {
  Sweep sweep;
  sweep.hosts = {"n10", "n9", "m"};
  sweep.tests = {"a", "b"};
  sweep.rails = {"0", "1"};
  const auto add = [&](std::int32_t from, std::int32_t to, std::int16_t kind, float gb_per_s, std::int16_t rail = 0) {
    Reading reading;
    reading.from = from;
    reading.to = to;
    reading.test = kind;
    reading.from_rail = reading.to_rail = rail;
    reading.rate = gb_per_s * 1e9F;
    reading.outcome = gb_per_s > 0 ? Outcome::kMeasured : Outcome::kFailed;
    sweep.readings.push_back(reading);
  };
  add(0, 1, 0, 10);  // n10 to n9: well
  add(0, 1, 0, 1);   // once slow, which the median does not show
  add(0, 1, 0, 10);
  add(1, 0, 1, 2.5F);   // n9 to n10, of the other kind: half of 5
  add(0, 2, 0, 10, 0);  // n10 to m: one rail of two is slow
  add(0, 2, 0, 3, 1);
  add(2, 0, 0, 0);  // m to n10: failed
  add(2, 1, 0, 10);
  sweep.readings.back().outcome = Outcome::kNotTried;
  Verdict verdict;
  for (const std::int16_t rail : std::vector<std::int16_t>{0, 1}) {
    Stratum stratum;
    stratum.from_rail = stratum.to_rail = rail;
    stratum.centre = 10e9;
    stratum.readings = 100;
    verdict.strata.push_back(stratum);
  }
  verdict.strata.push_back(verdict.strata[0]);
  verdict.strata[2].test = 1;
  verdict.strata[2].centre = 5e9;
  verdict.strata[2].readings = 3;
  for (const Reading& each : sweep.readings) verdict.stratum_of.push_back(each.test == 1 ? 2 : each.from_rail);
  const Texts lines = lines_of(sweep_map(sweep, verdict, false));
  ASSERT_GE(lines.size(), 6U);
  EXPECT_EQ(lines[0], "# Map: a line for each receiving host, a column for each sending host");
  EXPECT_EQ(lines[2], "#         012");
  EXPECT_EQ(lines[3], "#  0 m   |\\ 3|");
  EXPECT_EQ(lines[4], "#  1 n9  | \\.|");
  EXPECT_EQ(lines[5], "#  2 n10 |x5\\|");
}

TEST(SweepMap, SaysWhyThereIsNone) {
  Sweep sweep;
  for (int host = 0; host < 65; ++host) sweep.hosts.push_back(fmt::format("n{}", host));
  EXPECT_EQ(sweep_map(sweep, verdict_of({}), false),
            "# Map: not drawn for more than 64 hosts; fabricbench report draws them\n");
  EXPECT_EQ(sweep_map(example_sweep(), Verdict(), false), "# Map: there is no figure to draw\n");
}

TEST(VerdictText, SaysWhatToKnowOfTheReadings) {
  Verdict verdict = verdict_of({});
  EXPECT_EQ(text_of(example_sweep(), verdict).find("Note: "), std::string::npos);
  verdict.notes = {"readings differ by 9 %", "a and b are slow with the others"};
  const std::string text = text_of(example_sweep(), verdict);
  EXPECT_NE(text.find("\n    Note: readings differ by 9 %\n    Note: a and b are slow with the others\n"),
            std::string::npos)
      << text;
}

TEST(SweepMap, ComesLastWhereAskedFor) {
  const std::string map = sweep_map(example_sweep(), verdict_of({}), false);
  EXPECT_TRUE(text_of(example_sweep(), verdict_of({}), {.map = true}).ends_with("\n\n" + map));
  EXPECT_EQ(text_of(example_sweep(), verdict_of({})).find("# Map"), std::string::npos);
}

}  // namespace verdict_text_test
