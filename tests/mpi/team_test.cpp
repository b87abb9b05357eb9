// Who is in which group, and what a group tells the job's first process.

#include "common/ranks/team.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/engine/case_list.h"

namespace fabricbench {
namespace {

using mpi::Communicator;

std::vector<int> all_processes(const Communicator& world) {
  std::vector<int> processes(static_cast<std::size_t>(world.size()));
  std::iota(processes.begin(), processes.end(), 0);
  return processes;
}

TEST(Team, WithoutARuleIsOneGroupOfAll) {
  const Communicator world = Communicator::world();
  const Team team(world, "");
  EXPECT_EQ(team.groups(), 1);
  EXPECT_EQ(team.group_number(), 0);
  EXPECT_EQ(team.group().size(), world.size());
  EXPECT_EQ(team.group().rank(), world.rank());
  EXPECT_EQ(&team.world(), &world);
  EXPECT_EQ(team.processes_of(0), all_processes(world));
}

TEST(Team, OfARuleHasThoseOfEqualColourInTheirOrder) {
  const Communicator world = Communicator::world();
  const Team team(world, "MOD 2");
  EXPECT_EQ(team.groups(), world.size() > 1 ? 2 : 1);
  EXPECT_EQ(team.group_number(), world.rank() % 2);
  EXPECT_EQ(team.group().size(), (world.size() + 1 - world.rank() % 2) / 2);
  EXPECT_EQ(team.group().rank(), world.rank() / 2);
  EXPECT_EQ(team.group().broadcast(std::int64_t{world.rank()}), world.rank() % 2) << "messages stay in the group";
  for (int process = 0; process < world.size(); ++process) EXPECT_EQ(team.group_of(process), process % 2);
}

TEST(Team, NumbersItsGroupsByTheirFirstProcessesWhateverTheColours) {
  const Communicator world = Communicator::world();
  const Team each(world, "OR 0");  // colours 0, 1, 2, ...
  EXPECT_EQ(each.groups(), world.size());
  EXPECT_EQ(each.group_number(), world.rank());
  const Team by_second_bit(world, "AND 2");  // colours 0, 0, 2, 2, 0
  EXPECT_EQ(by_second_bit.groups(), world.size() > 2 ? 2 : 1);
  EXPECT_EQ(by_second_bit.group_number(), world.rank() / 2 % 2);
  const Team one(world, "OR 0xff");  // one colour that is not 0
  EXPECT_EQ(one.groups(), 1);
  EXPECT_EQ(one.processes_of(0), all_processes(world));
}

TEST(Team, ReportsItsGroupsByTheNumbersGiven) {
  const Communicator world = Communicator::world();
  std::vector<int> numbers;
  for (int process = 0; process < world.size(); ++process) numbers.push_back(10 + 2 * process);
  const Team each(world, "OR 0", std::nullopt, numbers);
  EXPECT_EQ(each.group_number(), world.rank());
  EXPECT_EQ(each.reported_number(), 10 + 2 * world.rank());
  EXPECT_EQ(Team(world, "OR 0").reported_number(), world.rank());
}

TEST(Team, KnowsTheProcessesOfEveryGroupOnEveryProcess) {
  const Communicator world = Communicator::world();
  const Team team(world, "DIV 2");
  int found = 0;
  for (int group = 0; group < team.groups(); ++group) {
    for (const int process : team.processes_of(group)) {
      EXPECT_EQ(process, found++) << "in order, each once";
      EXPECT_EQ(team.group_of(process), group);
      EXPECT_EQ(group, process / 2);
    }
  }
  EXPECT_EQ(found, world.size());
  const std::vector<int> own = team.processes_of(team.group_number());
  EXPECT_EQ(own[static_cast<std::size_t>(team.group().rank())], world.rank());
}

TEST(Team, BringsTheTextsOfTheGroupsToTheJobsFirstProcess) {
  const Communicator world = Communicator::world();
  for (const std::string rule : {"", "MOD 2", "DIV 2", "DIV 1"}) {
    const Team team(world, rule);
    const auto texts = team.from_each_group("group " + std::to_string(team.group_number()) + " by process " +
                                            std::to_string(world.rank()) + std::string(1000, '.'));
    ASSERT_EQ(texts.size(), world.is_root() ? static_cast<std::size_t>(team.groups()) : 0u) << rule;
    for (std::size_t group = 0; group < texts.size(); ++group) {
      const int first = team.processes_of(static_cast<int>(group)).front();
      const std::string expected = "group " + std::to_string(group) + " by process " + std::to_string(first);
      EXPECT_EQ(texts[group], expected + std::string(1000, '.'));
    }
  }
}

TEST(Team, RefusesWhatIsNoRule) {
  const Communicator world = Communicator::world();
  EXPECT_THROW(Team(world, "XOR 2"), UsageError);
  EXPECT_THROW(Team(world, "MOD 0"), UsageError);
}

TEST(GroupSizes, CountTheRanksOfEveryGroup) {
  const Communicator world = Communicator::world();
  const Team team(world, "MOD 2");
  for (const int local_ranks : {1, 3}) {
    const GroupSizes sizes = group_sizes(team, local_ranks);
    ASSERT_EQ(sizes.ranks.size(), static_cast<std::size_t>(team.groups()));
    EXPECT_EQ(sizes.own, team.group_number());
    EXPECT_EQ(sizes.ranks.front(), (world.size() + 1) / 2 * local_ranks);
    if (world.size() > 1) {
      EXPECT_EQ(sizes.ranks.back(), world.size() / 2 * local_ranks);
    }
    EXPECT_EQ(sizes.smallest(), sizes.ranks.back());
    EXPECT_EQ(sizes.ranks[static_cast<std::size_t>(sizes.own)], team.group().size() * local_ranks);
  }
}

}  // namespace
}  // namespace fabricbench
