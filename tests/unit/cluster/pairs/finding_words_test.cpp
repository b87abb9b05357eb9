
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "verdict_text_test_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace finding_words_test {

using namespace verdict_text_parts;

TEST(FindingWords, TellADeadRailFromASlowOne) {
  const Sweep sweep = with_rails_and_leaves();
  Finding dead = finding_of(Blame::kRail, {});
  dead.rail = 1;
  dead.rate = dead.ratio = 0;
  dead.failed = dead.readings = 40;
  dead.partners = 8;
  dead.working_partners = 7;
  Verdict verdict = verdict_of({dead});
  EXPECT_EQ(sentence(sweep, verdict, dead),
            "nothing can be measured over rail mlx5_1, though 7 of 8 hosts work over other rails");
  EXPECT_EQ(evidence(dead), "40 readings of 8 hosts, none of them with a figure");
  EXPECT_EQ(headline(sweep, verdict), "1 rail is dead; all 8 hosts are fine");
  EXPECT_NE(verdict_lines(sweep, verdict).find("\nDead rail: mlx5_1\n"), std::string::npos);
}

constexpr Direction kBoth = Direction::kBoth;
constexpr Direction kSends = Direction::kSends;
constexpr Direction kReceives = Direction::kReceives;

/// The sentence on a finding with three slow meetings; of leaves, on east and west.
std::string said(Blame blame, std::vector<std::int32_t> hosts, Direction direction, std::int32_t rail = -1) {
  Verdict verdict;
  verdict.groupings = {east_and_west()};
  Finding finding = finding_of(blame, std::move(hosts), direction);
  finding.rail = rail;
  finding.leaf = 0;
  finding.other_leaf = 1;
  finding.slow = 3;
  finding.slow_rounds = {2, 5, 6, 7};
  return sentence(with_rails_and_leaves(), verdict, finding);
}

TEST(FindingWords, NameWhatIsSlow) {
  EXPECT_EQ(said(Blame::kHost, {0}, kBoth), "node01 is slow with all partners, sending and receiving");
  EXPECT_EQ(said(Blame::kHost, {0}, kSends), "node01 is slow with all partners, sending; receiving is fine");
  EXPECT_EQ(said(Blame::kHost, {0}, kReceives), "node01 is slow with all partners, receiving; sending is fine");
  EXPECT_EQ(
      said(Blame::kNic, {0}, kBoth, 1),
      "node01 is slow with all partners over rail mlx5_1, sending and receiving; it is fine over 1 of 1 other rail");
  EXPECT_EQ(said(Blame::kNic, {0}, kSends, 1),
            "node01 is slow with all partners over rail mlx5_1, sending; receiving is fine; it is fine over 1 of 1 "
            "other rail");
  EXPECT_EQ(said(Blame::kNic, {0}, kReceives, 1),
            "node01 is slow with all partners over rail mlx5_1, receiving; sending is fine; it is fine over 1 of 1 "
            "other rail");
  EXPECT_EQ(said(Blame::kPair, {0, 1}, kBoth),
            "the path between node01 and node02 is slow, both ways; both hosts are fine with others");
  EXPECT_EQ(
      said(Blame::kPair, {0, 1}, kSends, 0),
      "the path from node01 to node02 over rail mlx5_0 is slow; the way back is fine; both hosts are fine with others");
  EXPECT_EQ(said(Blame::kPair, {0, 1}, kReceives),
            "the path from node02 to node01 is slow; the way back is fine; both hosts are fine with others");
  EXPECT_EQ(said(Blame::kLeaf, {}, kBoth),
            "leaf east (node[01-04]) reaches other leaves at 50 %, sending and receiving; its hosts are fine with each "
            "other: slow uplinks");
  EXPECT_EQ(said(Blame::kLeafPair, {}, kSends),
            "the path from leaf east (node[01-04]) to leaf west (node[05-08]) is slow, or longer than others; both are "
            "fine with other leaves");
  EXPECT_EQ(said(Blame::kLeafPair, {}, kReceives),
            "the path from leaf west (node[05-08]) to leaf east (node[01-04]) is slow, or longer than others; both are "
            "fine with other leaves");
  EXPECT_EQ(said(Blame::kLeafPair, {}, kBoth),
            "the path between leaf east (node[01-04]) and leaf west (node[05-08]) is slow, or longer than others; both "
            "are fine with other leaves");
  EXPECT_EQ(said(Blame::kRail, {}, kBoth, 0), "7 of 7 hosts are slower over rail mlx5_0 than over other rails");
}

TEST(FindingWords, NameWhatIsUnsteadyOrDeadOrUndecided) {
  EXPECT_EQ(said(Blame::kTransient, {3}, kBoth),
            "node04 is slow now and then: in 3 of 14 meetings (21 %), in rounds 2, 5-7");
  EXPECT_EQ(
      said(Blame::kTransient, {3, 4}, kBoth),
      "the path between node04 and node05 is slow now and then, in 3 of 14 readings; both hosts are fine with others");
  EXPECT_EQ(said(Blame::kDead, {3}, kBoth),
            "nothing can be measured with node04, though its partners work with others");
  EXPECT_EQ(said(Blame::kDeadPair, {3, 4}, kBoth),
            "nothing can be measured between node04 and node05, though both work with others");
  EXPECT_EQ(said(Blame::kUndecided, {3, 4}, kBoth),
            "bandwidth is low between node04 and node05, and the readings cannot tell whether one of the hosts or a "
            "path is to blame");
  EXPECT_EQ(
      said(Blame::kUndecided, {0, 1, 2}, kBoth),
      "bandwidth is low between node[01-03], and the readings cannot tell whether one of the hosts or a path is to "
      "blame");
  EXPECT_EQ(said(Blame::kUndecided, {3}, kBoth),
            "bandwidth is low with node04, and the readings cannot tell whether the host or its partners are to blame");
  EXPECT_EQ(sentence(with_rails_and_leaves(), {}, failing(finding_of(Blame::kUndecided, {3, 4}))),
            "nothing could be measured between node04 and node05, and the readings cannot tell whether one of the "
            "hosts or a path is to blame");
}

TEST(FindingWords, SayWithWhomAHostIsSlow) {
  const Sweep sweep = with_rails_and_leaves();
  Finding finding = finding_of(Blame::kHost, {0});
  finding.receives.slow = 5;
  EXPECT_EQ(sentence(sweep, {}, finding),
            "node01 is slow with all partners, sending, and with 5 of 7 partners, receiving");
  finding.sends = finding.receives = {7, 3, 3};
  EXPECT_EQ(sentence(sweep, {}, finding),
            "node01 is slow with all partners that would show it (3 of 7), sending and receiving");
  finding.both_ways = true;
  finding.sends = {7, 7, 7};
  EXPECT_EQ(sentence(sweep, {}, finding), "node01 is slow with all partners, both directions taken together");
  finding.both_ways = false;
  finding.direction = Direction::kSends;
  finding.other_way_fine = false;
  finding.tests = {0};
  EXPECT_EQ(sentence(sweep, {}, finding), "node01 is slow with all partners, in rdma_write_bw 1 MiB, sending");
}

TEST(FindingWords, SayNoMoreThanIsKnown) {
  const Sweep sweep = with_rails_and_leaves();
  Verdict verdict;
  verdict.groupings = {east_and_west()};
  Finding finding = finding_of(Blame::kNic, {0});
  finding.rail = 1;
  finding.other_rails = 3;
  EXPECT_TRUE(sentence(sweep, verdict, finding).ends_with("; it is fine over 1 of 3 other rails"));
  finding.fine_rails = 0;
  EXPECT_TRUE(sentence(sweep, verdict, finding).ends_with("sending and receiving"));
  finding = failing(finding);
  finding.has_worked = true;
  EXPECT_EQ(sentence(sweep, verdict, finding), "nothing can be measured with node01 over rail mlx5_1 any more");
  finding.fine_rails = 3;
  EXPECT_TRUE(sentence(sweep, verdict, finding).ends_with(" any more; it works over 3 of 3 other rails"));

  finding = finding_of(Blame::kPair, {0, 1});
  finding.fine_hosts = {false, true};
  finding.rail = 1;
  finding.other_rail = 0;
  EXPECT_EQ(
      sentence(sweep, verdict, finding),
      "the path between node01 and node02 over rail mlx5_1 of node01 and rail mlx5_0 of node02 is slow, both ways; "
      "node02 is fine with others");
  finding.fine_hosts = {false, false};
  finding.both_ways = true;
  EXPECT_TRUE(sentence(sweep, verdict, finding).ends_with(" is slow, both directions taken together"));

  finding = finding_of(Blame::kLeaf, {});
  finding.leaf = 0;
  finding.sends = finding.receives = {4, 4, 3};
  finding.fine_elsewhere = false;
  EXPECT_EQ(sentence(sweep, verdict, finding),
            "at least 3 of 4 hosts of leaf east (node[01-04]) reach other leaves at 50 %, sending and receiving: slow "
            "uplinks");
  finding = finding_of(Blame::kDead, {0});
  finding.working_partners = 2;
  finding.has_worked = true;
  EXPECT_EQ(sentence(sweep, verdict, finding),
            "nothing can be measured with node01 any more, though 2 of its 7 partners work with others");
  finding = finding_of(Blame::kDeadPair, {0, 1}, Direction::kSends);
  EXPECT_EQ(sentence(sweep, verdict, finding),
            "nothing can be measured from node01 to node02, though the way back works, and both work with others");
}

TEST(FindingWords, OfGroupsThatWereFound) {
  Verdict verdict;
  verdict.groupings = {{{{"group 1", {0, 1}}, {"group 2", {2, 3, 4, 5, 6, 7}}}, 0.5, false, 1e-12}};
  Finding finding = finding_of(Blame::kLeaf, {});
  finding.leaf = 0;
  EXPECT_EQ(sentence(example_sweep(), verdict, finding),
            "group 1 (node[01-02]) reaches other groups at 50 %, sending and receiving; its hosts are fine with each "
            "other: slow uplinks, or farther away");
  EXPECT_NE(verdict_lines(example_sweep(),
                          [&] {
                            Verdict blaming = verdict_of({finding});
                            blaming.groupings = verdict.groupings;
                            return blaming;
                          }())
                .find("Slow group: node[01-02]\n"),
            std::string::npos);
  Finding path = finding_of(Blame::kLeafPair, {});
  path.leaf = 0;
  path.other_leaf = 1;
  Verdict blaming = verdict_of({path});
  blaming.groupings = verdict.groupings;
  EXPECT_NE(verdict_lines(example_sweep(), blaming).find("Slow path of leaves: node[01-02] node[03-08]\n"),
            std::string::npos);
}

std::string extent_of(const Finding& finding) { return extent(example_sweep(), {&finding}); }

TEST(FindingWords, SayHowBadAndOnWhatItRests) {
  Finding finding = finding_of(Blame::kHost, {0});
  EXPECT_EQ(extent_of(finding), "6.00 GB/s where 12.00 are expected: 50 % of it");
  finding.failed = 2;
  EXPECT_EQ(evidence(finding), "14 readings with 7 partners, 2 readings without a figure");
  EXPECT_EQ(extent_of(failing(finding)), "no figure at all");
  EXPECT_EQ(evidence(failing(finding)), "14 readings with 7 partners, none of them with a figure");
  finding.blame = Blame::kTransient;
  EXPECT_EQ(extent_of(failing(finding)), "no figure in these meetings");
  finding.slow = 2;
  finding.slow_rounds = {3, 9};
  EXPECT_EQ(sentence(example_sweep(), verdict_of({}), failing(finding)),
            "node01 fails now and then: in 2 of 14 meetings (14 %), in rounds 3, 9");
  finding.slow = 0;
  finding.blame = Blame::kHost;
  finding.readings = finding.partners = 1;
  finding.failed = 0;
  EXPECT_EQ(evidence(finding), "1 reading with 1 partner");
  finding = finding_of(Blame::kPair, {0, 1});
  finding.slow = 3;
  EXPECT_EQ(evidence(finding), "14 readings, 3 of them slow");
  finding.slow = 14;
  EXPECT_EQ(evidence(finding), "14 readings, slow");
  finding = finding_of(Blame::kLeaf, {});
  EXPECT_EQ(evidence(finding), "14 readings of 7 hosts");
}

TEST(FindingWords, SayEachDirectionsShare) {
  Finding finding = finding_of(Blame::kHost, {0});
  finding.ratios = {0.9, 0.5};
  EXPECT_EQ(extent_of(finding), "6.00 GB/s where 12.00 are expected: 50 % of it; 90 % sending, 50 % receiving");
  finding.ratios = {0.53, 0.5};
  EXPECT_EQ(extent_of(finding), "6.00 GB/s where 12.00 are expected: 50 % of it");
}

/// Readings of host 0 with one partner a round; `share` gives the rate as a share of the usual one when it sends, and
/// whether it is slow.
struct Met {
  Sweep sweep = example_sweep();
  Verdict verdict;
  Finding finding = finding_of(Blame::kTransient, {0});

  template <typename Share>
  Met(int rounds, Share share, double back = 1) {
    sweep.readings.clear();
    for (std::int32_t round = 0; round < rounds; ++round) {
      const std::int32_t other = 1 + round % 7;
      for (const bool sends : {true, false}) {
        Reading reading;
        reading.from = sends ? 0 : other;
        reading.to = sends ? other : 0;
        reading.round = round;
        const double of_usual = share(round, other);
        reading.rate = 12e9F * static_cast<float>(sends || of_usual > 0.9 ? of_usual : back);
        sweep.readings.push_back(reading);
      }
      if (share(round, other) <= 0.9) finding.slow_rounds.push_back(round);
    }
    verdict.usual.assign(sweep.readings.size(), 12e9F);
    finding.readings = rounds;
    finding.slow = static_cast<std::int64_t>(finding.slow_rounds.size());
  }
  [[nodiscard]] std::string said() const { return sentence(sweep, verdict, finding); }
};

TEST(FindingWords, SaySinceWhenAHostIsSlow) {
  EXPECT_EQ(Met(
                40, [](int round, int) { return round < 10 ? 1 : 0.5; }, 0.5)
                .said(),
            "node01 was fine until round 9, and slow in every meeting since");
  EXPECT_EQ(Met(40, [](int round, int) { return round < 10 || round == 20 ? 1 : 0.5; }).said(),
            "node01 was fine until round 9, and slow in 29 of 30 meetings since, sending");
  EXPECT_EQ(Met(
                14, [](int round, int) { return round % 5 == 1 ? 0.5 : 1; }, 0.5)
                .said(),
            "node01 is slow now and then: in 3 of 14 meetings (21 %), in rounds 1, 6, 11")
      << "that it began in round 1 is chance";
  Met unclear(40, [](int round, int) { return round < 10 ? 1 : 0.5; });
  unclear.finding.slow = 20;
  EXPECT_TRUE(unclear.said().starts_with("node01 is slow now and then: in 20 of 40 meetings"));
}

TEST(FindingWords, SayWhoseMeetingsAreSlow) {
  Met met(
      42, [](int, int other) { return other < 4 ? 0.5 : 1; }, 0.5);
  met.verdict.groupings = {east_and_west()};
  EXPECT_TRUE(met.said().ends_with(", in every meeting with hosts of its leaf, and in no other")) << met.said();
  Met others(
      42, [](int, int other) { return other < 4 ? 1 : 0.5; }, 0.5);
  others.verdict.groupings = {east_and_west()};
  EXPECT_TRUE(others.said().ends_with(", in every meeting with hosts outside its leaf, and in no other"));
}

TEST(FindingWords, SayThatItFallsEvenly) {
  Met met(
      60, [](int round, int) { return 1 - 0.01 * round; }, 1);
  EXPECT_TRUE(met.said().ends_with("; it falls evenly, from 93 % to 48 % of the bandwidth expected")) << met.said();
}

TEST(FindingWords, SayHowSure) {
  const struct {
    double false_alarm;
    const char* text;
  } cases[] = {{1, "not at all: sweeps of healthy hosts look like this as well"},
               {0.51, "not at all: sweeps of healthy hosts look like this as well"},
               {0.041, "5 of 100 sweeps of healthy hosts look like this"},
               {0.01, "fewer than 1 of 100 sweeps of healthy hosts look like this"},
               {0.0099, "fewer than 1 of 100 sweeps of healthy hosts look like this"},
               {1e-3, "fewer than 1 of 1,000 sweeps of healthy hosts look like this"},
               {2e-6, "fewer than 1 of 100,000 sweeps of healthy hosts look like this"},
               {2e-7, "cannot be chance; other causes can be"},
               {0, "cannot be chance; other causes can be"}};
  for (const auto& [false_alarm, text] : cases) {
    Finding finding = finding_of(Blame::kHost, {0});
    finding.false_alarm = false_alarm;
    EXPECT_EQ(certainty(finding), text) << false_alarm;
  }
}

/// The commands, one a line.
std::string commands(const Sweep& sweep, const Finding& finding, const Texts& fine) {
  std::string text;
  for (const NextCommand& each : next_commands(sweep, {}, finding, fine)) text += each.command + "\n";
  return text;
}

TEST(FindingAdvice, IsACommandThatFits) {
  Sweep sweep = with_rails_and_leaves();
  const Texts fine = {"node01", "node03", "node04", "node05", "node06"};
  Finding nic = finding_of(Blame::kNic, {1});
  nic.rail = 1;
  EXPECT_EQ(
      commands(sweep, nic, fine),
      "scripts/sweep_pairs.sh -H 'node[01-04]' --all-pairs --max-concurrent 1 --rails mlx5_1 --test rdma_write_bw\n"
      "ssh node02 ibstat mlx5_1\n"
      "ibqueryerrors --report-port --ca | grep -F -w -A 8 node02\n");
  EXPECT_EQ(commands(sweep, finding_of(Blame::kUndecided, {1, 6}), {}),
            "scripts/sweep_pairs.sh -H 'node[02,07]' --all-pairs --max-concurrent 1 --test rdma_write_bw\n");
  EXPECT_EQ(commands(sweep, finding_of(Blame::kPair, {1, 6}), fine),
            "scripts/check_node_pair.sh node02 node07 --test rdma_write_bw\n"
            "iblinkinfo --switches-only\nibqueryerrors --switch\n");
  EXPECT_EQ(commands(sweep, finding_of(Blame::kDead, {1}), fine),
            "ssh node02 uptime\nscripts/check_node_pair.sh node02 node01 --test rdma_write_bw\n");
  EXPECT_EQ(commands(sweep, finding_of(Blame::kDead, {1}), {}), "ssh node02 uptime\n");
  EXPECT_EQ(commands(sweep, finding_of(Blame::kDeadPair, {1, 6}), fine),
            "scripts/check_node_pair.sh node02 node07 --test rdma_write_bw\nssh node02 ping -c 3 node07\n");
  sweep.tests = {"tcp_bibw 1 MiB"};
  sweep.rails = {"0", "eth1"};
  EXPECT_EQ(commands(sweep, nic, {}), "ssh node02 ip -s -s link show eth1\n") << "one host makes no sweep";
  nic.rail = 0;
  sweep.tests = {"pairwise_bw 1 MiB"};
  EXPECT_EQ(commands(sweep, nic, {"node01"}),
            "scripts/sweep_pairs.sh -H 'node[01-02]' --all-pairs --max-concurrent 1 --test pairwise_bw\n"
            "ssh node02 ip -s -s link\n")
      << "a rail that is a number names no device, and no reading is known to have used InfiniBand";
  sweep.devices = {{DeviceKind::kNic, "0x0c42", "mlx5_0"}};
  EXPECT_EQ(commands(sweep, nic, {}),
            "ssh node02 ibstat\nibqueryerrors --report-port --ca | grep -F -w -A 8 node02\nssh node02 ip -s -s link\n");
}

TEST(FindingAdvice, StartsJobsAsTheSweepDid) {
  Sweep sweep = with_rails_and_leaves();
  sweep.tests = {"tcp_bw 1 MiB"};
  sweep.how = {"", "./my agent", "--mca btl self,tcp", "/opt/fb"};
  const std::string how = " --test tcp_bw --agent './my agent' --mpi-options '--mca btl self,tcp' --programs /opt/fb\n";
  EXPECT_EQ(commands(sweep, finding_of(Blame::kHost, {1}), {"node01"}),
            "scripts/sweep_pairs.sh -H 'node[01-02]' --all-pairs --max-concurrent 1" + how +
                "'./my agent' node02 ip -s -s link\n");
  EXPECT_EQ(commands(sweep, finding_of(Blame::kDead, {1}), {"node01"}),
            "'./my agent' node02 uptime\nscripts/check_node_pair.sh node02 node01" + how);
  EXPECT_EQ(commands(sweep, finding_of(Blame::kDeadPair, {1, 6}), {}),
            "scripts/check_node_pair.sh node02 node07" + how + "'./my agent' node02 ping -c 3 node07\n");
  sweep.how = {"srun", "", "", ""};
  EXPECT_EQ(commands(sweep, finding_of(Blame::kPair, {1, 6}), {}),
            "scripts/check_node_pair.sh node02 node07 --test tcp_bw --launcher srun\n");
}

TEST(FindingAdvice, IsToLookAtTheSwitchesWhereTheyMayBeSlow) {
  const Sweep sweep = with_rails_and_leaves();
  for (const Blame blame : {Blame::kLeaf, Blame::kLeafPair, Blame::kRail, Blame::kAll}) {
    EXPECT_EQ(commands(sweep, finding_of(blame, {}), {"node01"}),
              "iblinkinfo --switches-only\nibqueryerrors --switch\n");
  }
}

TEST(FindingAdvice, SaysWhatWouldSettleIt) {
  const Sweep sweep = example_sweep();
  Verdict verdict = verdict_of({finding_of(Blame::kUndecided, {0, 1}), finding_of(Blame::kHost, {2})});
  EXPECT_EQ(open_follow_up(sweep, verdict, verdict.findings[0]), "readings of node[01-02] with healthy hosts");
  EXPECT_EQ(open_follow_up(sweep, verdict, verdict.findings[1]), "");
  verdict.follow_ups = {{0, 7, 0, 2, "of another pair"}, {1, -1, 0, 2, "slow with node01"}, {2, -1, 0, 1, "alone"}};
  EXPECT_EQ(open_follow_up(sweep, verdict, verdict.findings[0]),
            "2 more readings of node02 with healthy hosts (slow with node01)");
  EXPECT_EQ(open_follow_up(sweep, verdict, verdict.findings[1]), "1 more reading of node03 with healthy hosts (alone)");
}

}  // namespace finding_words_test
