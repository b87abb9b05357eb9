#include "cluster/pairs/report/verdict_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cluster/pairs/attribution/attribution.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace map_layout_test {

using cluster::Sweep;
using Texts = std::vector<std::string>;
using RateOf = std::function<std::optional<double>(int sender, int receiver)>;

Texts names_in(const HeatLayout& layout, const Sweep& sweep) {
  Texts names;
  for (const std::size_t host : layout.order) names.push_back(sweep.hosts[host]);
  return names;
}

/// All pairs of hosts n0, n1 and so on; GB/s, or nothing where it fails. Each round has one pair.
Sweep sweep_of(int hosts, const RateOf& rate) {
  Sweep sweep;
  for (int host = 0; host < hosts; ++host) sweep.hosts.push_back(fmt::format("n{}", host));
  sweep.tests = {"send_recv_bw 4 MiB"};
  for (int from = 0; from < hosts; ++from) {
    for (int to = 0; to < hosts; ++to) {
      if (from == to) continue;
      Reading reading;
      reading.from = from;
      reading.to = to;
      reading.round = (from + to) % hosts;
      const std::optional<double> measured = rate(from, to);
      reading.outcome = measured ? Outcome::kMeasured : Outcome::kFailed;
      // Healthy readings scatter by a per cent or so, the same in every run.
      reading.rate = static_cast<float>(measured.value_or(0) * (1 + 0.002 * ((7 * from + 3 * to) % 11 - 5)) * 1e9);
      sweep.readings.push_back(reading);
    }
  }
  return sweep;
}

Verdict verdict_on(const Sweep& sweep) { return judge(sweep, {}); }

HeatLayout layout_of(const Sweep& sweep) { return map_layout(sweep, verdict_on(sweep)); }

Group group_of(const std::string& name, std::vector<std::int32_t> hosts) { return {name, std::move(hosts)}; }

Texts texts_of(const std::vector<HeatBlock>& blocks) {
  Texts texts;
  for (const HeatBlock& block : blocks) {
    texts.push_back(fmt::format("{} {}: {} to {}", block.level, block.name, block.first, block.last));
  }
  return texts;
}

TEST(MapLayout, OfAHealthySweepIsByName) {
  const Sweep sweep = sweep_of(12, [](int, int) { return 24; });
  const HeatLayout layout = layout_of(sweep);
  EXPECT_EQ(names_in(layout, sweep), (Texts{"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11"}));
  EXPECT_EQ(layout.marks, std::string(12, ' '));
  EXPECT_TRUE(layout.blocks.empty());
}

TEST(MapLayout, IsOfHostsInTheOrderOfPeopleHoweverTheyAreNumbered) {
  Sweep sweep = sweep_of(12, [](int, int) { return 24; });
  std::reverse(sweep.hosts.begin(), sweep.hosts.end());
  EXPECT_EQ(names_in(layout_of(sweep), sweep).front(), "n0");
  EXPECT_EQ(names_in(layout_of(sweep), sweep).back(), "n11");
}

TEST(MapLayout, HasTwoHallsOfUnequalSizeAsBlocks) {
  const auto small = [](int host) { return host == 1 || host == 4 || host == 9; };
  const Sweep sweep = sweep_of(12, [&](int a, int b) { return small(a) == small(b) ? 24 : 8; });
  const HeatLayout layout = layout_of(sweep);
  EXPECT_EQ(names_in(layout, sweep), (Texts{"n0", "n2", "n3", "n5", "n6", "n7", "n8", "n10", "n11", "n1", "n4", "n9"}));
  EXPECT_EQ(texts_of(layout.blocks), (Texts{"0 group 1: 0 to 9", "0 group 2: 9 to 12"}));
}

TEST(MapLayout, PutsSlowAndDeadHostsLastAndMarksThem) {
  const Sweep sweep = sweep_of(12, [](int a, int b) -> std::optional<double> {
    if (a == 2 || b == 2) return std::nullopt;
    return a == 5 || b == 5 ? 12 : 24;
  });
  const HeatLayout layout = layout_of(sweep);
  const Texts names = names_in(layout, sweep);
  EXPECT_EQ(Texts(names.end() - 2, names.end()), (Texts{"n5", "n2"}));
  EXPECT_EQ(layout.marks, "  x  !      ");
}

TEST(MapLayout, MarksWhatIsUnsteadyOrSuspect) {
  const Sweep sweep = sweep_of(8, [](int, int) { return 24; });
  Verdict verdict = verdict_on(sweep);
  verdict.findings.resize(2);
  verdict.findings[0].blame = Blame::kTransient;
  verdict.findings[0].hosts = {3};
  verdict.findings[1].blame = Blame::kUndecided;
  verdict.findings[1].hosts = {1, 6};
  const HeatLayout layout = map_layout(sweep, verdict);
  EXPECT_EQ(layout.marks, " ? ~  ? ");
  EXPECT_EQ(names_in(layout, sweep), (Texts{"n0", "n2", "n4", "n5", "n7", "n1", "n6", "n3"})) << "the worse, the later";
}

TEST(MapLayout, SortsByCoarseGroupsThenByFineOnes) {
  const Sweep sweep = sweep_of(9, [](int, int) { return 24; });
  Verdict verdict;
  verdict.groupings.resize(2);
  verdict.groupings[0].groups = {group_of("group 1", {0, 4}), group_of("group 2", {1, 5}), group_of("group 3", {2, 6}),
                                 group_of("group 4", {3, 7})};
  verdict.groupings[1].groups = {group_of("group 1", {0, 4, 2, 6}), group_of("group 2", {1, 5, 3, 7})};
  const HeatLayout layout = map_layout(sweep, verdict);
  EXPECT_EQ(names_in(layout, sweep), (Texts{"n0", "n4", "n2", "n6", "n1", "n5", "n3", "n7", "n8"}));
  EXPECT_EQ(texts_of(layout.blocks), (Texts{"1 group 1: 0 to 4", "1 group 2: 4 to 8", "0 group 1: 0 to 2",
                                            "0 group 3: 2 to 4", "0 group 2: 4 to 6", "0 group 4: 6 to 8"}));
}

TEST(MapLayout, SortsGroupsByTheirNames) {
  const Sweep sweep = sweep_of(4, [](int, int) { return 24; });
  Verdict verdict;
  verdict.groupings.resize(1);
  verdict.groupings[0].groups = {group_of("rack10", {0, 1}), group_of("rack9", {2, 3})};
  EXPECT_EQ(names_in(map_layout(sweep, verdict), sweep), (Texts{"n2", "n3", "n0", "n1"}));
}

TEST(MapLayout, PartsTwoKindsOfHosts) {
  const Sweep sweep = sweep_of(12, [](int a, int b) { return a % 2 == 1 || b % 2 == 1 ? 14 : 24; });
  const HeatLayout layout = layout_of(sweep);
  EXPECT_EQ(texts_of(layout.blocks), (Texts{"0 faster: 0 to 6", "0 slower: 6 to 12"}));
  EXPECT_EQ(names_in(layout, sweep).front(), "n0");
  EXPECT_EQ(names_in(layout, sweep)[6], "n1");
}

/// The line of a receiver, with a character for each sender.
std::string line_of(const std::string& receiver, const Sweep& sweep, const Verdict& verdict) {
  const std::string map = sweep_map(sweep, verdict, false);
  const std::size_t begin = map.find(" " + receiver + " ");
  return map.substr(begin, map.find('\n', begin) - begin);
}

TEST(SweepMap, HoldsFarAndSlowKindsAgainstNearOnes) {
  const Sweep sweep = sweep_of(8, [](int a, int b) { return a / 4 == b / 4 ? 20 : 6; });
  Verdict verdict;
  verdict.strata.resize(3);
  verdict.strata[0].centre = 5e9;
  verdict.strata[0].distance = 1;
  verdict.strata[0].readings = 32;
  verdict.strata[1].centre = 20e9;
  verdict.strata[1].readings = 24;
  verdict.strata[2].centre = 90e9;  // too few readings to be the usual
  verdict.strata[2].readings = 1;
  EXPECT_EQ(line_of("n0", sweep, verdict), " n0 |\\...3333|");
}

TEST(SweepMap, LeavesOutWhatHasNoFigureAtAll) {
  Sweep sweep = sweep_of(4, [](int, int) { return 24; });
  sweep.rails = {"mlx5_0", "mlx5_1"};
  const std::vector<Reading> well = sweep.readings;
  for (Reading reading : well) {
    reading.from_rail = reading.to_rail = 1;
    reading.outcome = Outcome::kFailed;
    sweep.readings.push_back(reading);
  }
  Verdict verdict;
  verdict.strata.resize(1);
  verdict.strata[0].centre = 24e9;
  verdict.strata[0].readings = 12;
  EXPECT_EQ(line_of("n0", sweep, verdict), " n0 |\\...|");
  const std::string map = sweep_map(sweep, verdict, false);
  EXPECT_EQ(map.find("no figure, or wrong"), std::string::npos) << map;
}

TEST(SweepMap, OfAFigureOfBothDirectionsIsTheSameBothWays) {
  Sweep sweep = sweep_of(3, [](int a, int b) { return a < b ? std::optional<double>(24) : std::nullopt; });
  std::erase_if(sweep.readings, [](const Reading& reading) { return reading.outcome == Outcome::kFailed; });
  for (Reading& reading : sweep.readings) reading.both_ways = true;
  Verdict verdict;
  verdict.strata.resize(1);
  verdict.strata[0].both_ways = true;
  verdict.strata[0].centre = 24e9;
  verdict.strata[0].readings = 3;
  EXPECT_EQ(line_of("n0", sweep, verdict), " n0 |\\..|");
  EXPECT_EQ(line_of("n2", sweep, verdict), " n2 |..\\|");
}

TEST(SweepMap, IsThisTextOfTwoHallsAndASlowHost) {
  const auto small = [](int host) { return host == 1 || host == 4 || host == 9; };
  const Sweep sweep = sweep_of(12, [&](int a, int b) {
    const double rate = small(a) == small(b) ? 24 : 8;
    return a == 3 || b == 3 ? std::min(rate, 4.8) : rate;
  });
  Verdict verdict = verdict_on(sweep);
  verdict.findings.assign(1, {});
  verdict.findings[0].blame = Blame::kHost;
  verdict.findings[0].hosts = {3};
  verdict.groupings.assign(1, {});
  verdict.groupings[0].groups = {group_of("hall 1", {0, 2, 3, 5, 6, 7, 8, 10, 11}), group_of("hall 2", {1, 4, 9})};
  const std::string map = sweep_map(sweep, verdict, false);
  EXPECT_EQ(map.substr(0, map.find("#\n#      GB/s")),
            "# Map: a line for each receiving host, a column for each sending host\n"
            "#\n"
            "#                     1\n"
            "#          012345678 901\n"
            "#                  !\n"
            "#  0 n0   |\\.......2|333|  hall 1\n"
            "#  1 n2   |.\\......2|333|\n"
            "#  2 n5   |..\\.....2|333|\n"
            "#  3 n6   |...\\....2|333|\n"
            "#  4 n7   |....\\...2|333|\n"
            "#  5 n8   |.....\\..2|333|\n"
            "#  6 n10  |......\\.2|333|\n"
            "#  7 n11  |.......\\2|333|\n"
            "#  8 n3  !|22222222\\|222|\n"
            "#         |---------+---|\n"
            "#  9 n1   |333333332|\\..|  hall 2\n"
            "# 10 n4   |333333332|.\\.|\n"
            "# 11 n9   |333333332|..\\|\n");
  EXPECT_TRUE(map.ends_with("#   !  beside a name and above a column: slow\n")) << map;
}

}  // namespace map_layout_test
