// What every rank must know after each of Communicator's operations.

#include "common/mpi/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/job_clock.h"
#include "common/core/clock.h"

namespace fabricbench::mpi {
namespace {

using Octets = std::vector<std::uint8_t>;

TEST(Communicator, BroadcastsTextOfAnyLength) {
  const Communicator world = Communicator::world();
  const std::string with_zeros("a\0b\0", 4);
  for (const std::string& text : {std::string(), std::string("x"), with_zeros, std::string(100'000, 'y')}) {
    // The others start with something longer, shorter or empty.
    for (const std::string& before : {std::string(), std::string("something else"), std::string(200'000, 'z')}) {
      EXPECT_EQ(world.broadcast(world.is_root() ? text : before), text);
    }
  }
}

TEST(Communicator, BroadcastsBytes) {
  const Communicator world = Communicator::world();
  Octets all(256);
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  EXPECT_EQ(world.broadcast(world.is_root() ? all : Octets{1, 2, 3}), all);
  EXPECT_EQ(world.broadcast(world.is_root() ? Octets{} : Octets{1, 2, 3}), Octets{});
}

TEST(Communicator, BroadcastsNumbers) {
  const Communicator world = Communicator::world();
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(world.broadcast(world.is_root() ? largest : std::int64_t{world.rank()}), largest);
  EXPECT_EQ(world.broadcast(std::int64_t{-7 - world.rank()}), -7);
  EXPECT_EQ(world.broadcast(Seconds{0.1 + world.rank()}), 0.1);
}

TEST(Communicator, FindsLargestSmallestAndSum) {
  const Communicator world = Communicator::world();
  const std::int64_t last = world.size() - 1;
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(world.max(std::int64_t{world.rank()}), last);
  EXPECT_EQ(world.max(-large - world.rank()), -large);
  EXPECT_EQ(world.max(-0.5 - world.rank()), -0.5);
  EXPECT_EQ(world.min(std::int64_t{-world.rank()}), -last);
  EXPECT_EQ(world.min(large + world.rank()), large);
  EXPECT_EQ(world.sum(large + world.rank()), large * world.size() + last * (last + 1) / 2);
}

TEST(Communicator, FindsTheLargestWithPatience) {
  const Communicator world = Communicator::world();
  EXPECT_EQ(world.max_asleep(world.rank(), [] {}), world.size() - 1);
  EXPECT_EQ(world.max_asleep(-1 - world.rank(), [] {}), -1);
}

TEST(Communicator, ReducesElementByElement) {
  const Communicator world = Communicator::world();
  const double rank = world.rank();
  const double last = world.size() - 1;
  const double sum = last * (last + 1) / 2;
  const std::vector<double> values{rank, -rank, 1, 0.25};
  EXPECT_EQ(world.all_reduce(values, MPI_SUM), (std::vector<double>{sum, -sum, last + 1, 0.25 * (last + 1)}));
  EXPECT_EQ(world.all_reduce(values, MPI_MIN), (std::vector<double>{0, -last, 1, 0.25}));
  EXPECT_TRUE(world.all_reduce({}, MPI_MAX).empty());
}

TEST(Communicator, LocatesTheLargest) {
  const Communicator world = Communicator::world();
  const double rank = world.rank();
  // The largest is on the last rank, on rank 0, and on all of them: then the first one counts.
  const int own = 10 * world.rank();  // a number that need not be the rank
  const auto located = world.max(std::vector<Communicator::Located>{{rank, own}, {-rank, own}, {5, own}});
  ASSERT_EQ(located.size(), 3u);
  EXPECT_EQ(located[0].value, world.size() - 1);
  EXPECT_EQ(located[0].rank, 10 * (world.size() - 1));
  EXPECT_EQ(located[1].value, 0);
  EXPECT_EQ(located[1].rank, 0);
  EXPECT_EQ(located[2].value, 5);
  EXPECT_EQ(located[2].rank, 0);
}

/// Rank 0 comes when every other rank has paused often enough, or has left too early.
TEST(Communicator, NobodyLeavesABarrierBeforeTheLastOneHasCome) {
  constexpr int kTag = 0;
  constexpr std::size_t kEnough = 60;
  enum News { kPaused, kLeft };
  test::ScriptedClock clock;
  const Communicator world = Communicator::world();
  const Communicator aside = Communicator::world();
  std::vector<Seconds> pauses;
  const auto tell = [&](int news) { MPI_Send(&news, 1, MPI_INT, 0, kTag, aside.get()); };
  clock.when_sleeping([&](Seconds pause) {
    pauses.push_back(pause);
    if (pauses.size() == kEnough) tell(kPaused);
  });
  for (int rank = 1; world.is_root() && rank < world.size(); ++rank) {
    int news = kLeft;
    MPI_Recv(&news, 1, MPI_INT, rank, kTag, aside.get(), MPI_STATUS_IGNORE);
    EXPECT_EQ(news, kPaused) << "rank " << rank;
  }
  world.barrier_asleep(!world.is_root());
  if (world.is_root()) {
    EXPECT_TRUE(pauses.empty()) << "a rank that is not to sleep polls";
    return;
  }
  if (pauses.size() < kEnough) tell(kLeft);
  ASSERT_GE(pauses.size(), kEnough);
  EXPECT_EQ(pauses.front(), 50e-6);
  EXPECT_TRUE(std::is_sorted(pauses.begin(), pauses.end()));
  const Seconds before = std::accumulate(pauses.begin(), pauses.begin() + 20, 0.0);
  EXPECT_NEAR(pauses[20], before / 8, 1e-9) << "an eighth of the wait so far";
  EXPECT_EQ(pauses.back(), 10e-3) << "at most";
}

TEST(Communicator, ABarrierEndsWhenTheLastOneHasCome) {
  test::JobClock clock;
  const Communicator world = Communicator::world();
  Seconds latest = clock.shows();
  for (int late = 0; late < world.size(); ++late) {
    latest += 1;
    if (world.rank() == late) clock.advance(1);
    world.barrier();
    EXPECT_NEAR(clock.shows(), latest, 1e-9);
  }
}

TEST(Communicator, LocatesTheLargestOfNothing) {
  EXPECT_TRUE(Communicator::world().max(std::vector<Communicator::Located>()).empty());
}

TEST(Communicator, FindsTheLargestOfEachByte) {
  const Communicator world = Communicator::world();
  const bool is_last = world.rank() == world.size() - 1;
  const Octets values{0, static_cast<std::uint8_t>(world.is_root() ? 255 : 1),
                      static_cast<std::uint8_t>(is_last ? 7 : 0)};
  EXPECT_EQ(world.max(values), (Octets{0, 255, 7}));
  EXPECT_EQ(world.max(Octets{}), Octets{});
}

TEST(Communicator, Rank0GetsEveryRanksValuesByRank) {
  const Communicator world = Communicator::world();
  const double rank = world.rank();
  const auto all = world.gather(std::vector<double>{rank, 100 + rank});
  ASSERT_EQ(all.size(), world.is_root() ? 2 * static_cast<std::size_t>(world.size()) : 0u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], static_cast<double>(i / 2) + (i % 2 == 1 ? 100 : 0));
  }
  EXPECT_TRUE(world.gather(std::vector<double>{}).empty());
}

TEST(Communicator, AllRanksGetEveryRanksValue) {
  const Communicator world = Communicator::world();
  constexpr std::uint64_t kAbove63Bits = std::uint64_t{1} << 63;
  const auto values = world.all_gather(kAbove63Bits + static_cast<std::uint64_t>(world.rank()));
  ASSERT_EQ(values.size(), static_cast<std::size_t>(world.size()));
  for (std::size_t rank = 0; rank < values.size(); ++rank) EXPECT_EQ(values[rank], kAbove63Bits + rank);
}

/// A text that differs in content and length from rank to rank; that of every second rank is empty.
std::string text_of(std::size_t rank, bool odd_ones_empty) {
  if ((rank % 2 == 1) == odd_ones_empty) return {};
  return "rank " + std::to_string(rank) + std::string(rank * 1000, '.');
}

TEST(Communicator, Rank0GetsTextsOfDifferentLengths) {
  const Communicator world = Communicator::world();
  for (const bool odd_ones_empty : {true, false}) {
    const auto texts = world.gather(text_of(static_cast<std::size_t>(world.rank()), odd_ones_empty));
    ASSERT_EQ(texts.size(), world.is_root() ? static_cast<std::size_t>(world.size()) : 0u);
    for (std::size_t rank = 0; rank < texts.size(); ++rank) EXPECT_EQ(texts[rank], text_of(rank, odd_ones_empty));
  }
}

TEST(Communicator, Rank0GetsEmptyTexts) {
  const Communicator world = Communicator::world();
  const auto texts = world.gather("");
  EXPECT_EQ(texts, std::vector<std::string>(world.is_root() ? static_cast<std::size_t>(world.size()) : 0u));
}

TEST(Communicator, SplitsByColourInTheOrderOfRanks) {
  const Communicator world = Communicator::world();
  const auto part = world.split(world.rank() % 2);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->size(), (world.size() + 1 - world.rank() % 2) / 2);
  EXPECT_EQ(part->rank(), world.rank() / 2);
  EXPECT_EQ(part->is_root(), world.rank() < 2);
  // Traffic stays within a part.
  EXPECT_EQ(part->broadcast(std::int64_t{world.rank()}), world.rank() % 2);
}

TEST(Communicator, RanksWithoutAColourGetNothing) {
  const Communicator world = Communicator::world();
  const bool takes_part = world.rank() == world.size() - 1;
  const auto part = world.split(takes_part ? std::optional(7) : std::nullopt);
  ASSERT_EQ(part.has_value(), takes_part);
  if (part) {
    EXPECT_EQ(part->size(), 1);
    EXPECT_TRUE(part->is_root());
  }
}

TEST(Communicator, MovesItsHandle) {
  Communicator first = Communicator::world();
  const MPI_Comm handle = first.get();
  Communicator second = std::move(first);
  EXPECT_EQ(second.get(), handle);
  Communicator third = Communicator::world();
  third = std::move(second);
  EXPECT_EQ(third.get(), handle);
  EXPECT_EQ(third.max(std::int64_t{third.rank()}), third.size() - 1);
}

TEST(Communicator, IsNotTheApplicationsOwn) {
  const Communicator one = Communicator::world();
  const Communicator other = Communicator::world();
  int result = MPI_IDENT;
  MPI_Comm_compare(one.get(), other.get(), &result);
  EXPECT_EQ(result, MPI_CONGRUENT);
  MPI_Comm_compare(one.get(), MPI_COMM_WORLD, &result);
  EXPECT_EQ(result, MPI_CONGRUENT);
}

/// What MPI calls where it frees a communicator that has an attribute; it is told what the attribute is.
int count_freed(MPI_Comm /*communicator*/, int /*key*/, void* freed, void* /*extra*/) {
  ++*static_cast<int*>(freed);
  return MPI_SUCCESS;
}

TEST(Communicator, IsFreedWithItsObject) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_freed, &key, nullptr);
  int freed = 0;
  for (int i = 0; i < 3; ++i) {
    const std::optional<Communicator> part = Communicator::world().split(0);
    MPI_Comm_set_attr(part->get(), key, &freed);
    EXPECT_EQ(freed, i);
  }
  EXPECT_EQ(freed, 3);
  MPI_Comm_free_keyval(&key);
}

}  // namespace
}  // namespace fabricbench::mpi
