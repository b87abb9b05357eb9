// Data moved by MPI: every primitive that reduces nothing, from and to every rank, whole and by blocks or messages.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <vector>

#include "../support/job_clock.h"
#include "backend_support.h"
#include "common/mpi/mpi_backend.h"

namespace fabricbench::mpi {
namespace {

constexpr std::size_t kMovedCounts[] = {0, 1, 2, 7, 8, 15, 37, 1000};

/// The ranks of the job, one operation of theirs, and what belongs where afterwards.
class Moving {
 public:
  Moving(const Communicator& all, MpiBackend& tested, const PatternTable& table, const Example& given)
      : world(all),
        backend(tested),
        example(given),
        rank(static_cast<std::size_t>(world.rank())),
        ranks(static_cast<std::size_t>(world.size())),
        table_(table) {}

  /// This rank's data from `position` on.
  void fill(std::span<std::byte> part, std::size_t position) const { table_.fill(part, place(rank, position)); }
  void expect(std::span<const std::byte> part, std::size_t source, std::size_t position) const {
    expect_none(table_.check(part, place(source, position)), fmt::format("rank {}'s from {}", source, position));
  }
  /// As many elements as `count` parts of the example have.
  [[nodiscard]] Elements parts(std::size_t count) const { return {example.type, count * example.count}; }
  [[nodiscard]] bool is_root() const { return world.rank() == example.root; }

  const Communicator& world;
  MpiBackend& backend;
  Example example;
  std::size_t rank;
  std::size_t ranks;

 private:
  static PatternPosition place(std::size_t source, std::size_t position) {
    return {position, pattern::source_shift(source)};
  }
  const PatternTable& table_;
};

void all_gather(Moving moving) {
  const std::size_t count = moving.example.count;
  Elements send = moving.parts(1);
  Elements recv = moving.parts(moving.ranks);
  const auto own = moving.example.in_place ? recv.part(moving.rank * count, count) : send.part(0, count);
  moving.fill(own, 0);
  moving.backend.all_gather(own.data(), recv.at(0), count, moving.example.type);
  for (std::size_t rank = 0; rank < moving.ranks; ++rank) moving.expect(recv.part(rank * count, count), rank, 0);
  moving.expect(own, moving.rank, 0);
  EXPECT_TRUE(recv.guards_hold());
}

void broadcast(Moving moving) {
  const auto& [type, reduction, count, in_place, root] = moving.example;
  Elements send = moving.parts(1);
  Elements recv = moving.parts(1);
  Elements& input = in_place ? recv : send;
  moving.fill(input.part(0, count), 0);
  moving.backend.broadcast(input.at(0), recv.at(0), count, type, root);
  if (in_place || !moving.is_root()) {
    moving.expect(recv.part(0, count), static_cast<std::size_t>(root), 0);
  } else {
    EXPECT_TRUE(recv.is_untouched(0, count)) << "MPI does not copy at the root";
  }
  if (!in_place) moving.expect(send.part(0, count), moving.rank, 0);
  EXPECT_TRUE(recv.guards_hold());
}

void all_to_all(Moving moving) {
  if (moving.example.in_place) return;  // there is no such form
  const std::size_t count = moving.example.count;
  Elements send = moving.parts(moving.ranks);
  Elements recv = moving.parts(moving.ranks);
  moving.fill(send.part(0, moving.ranks * count), 0);
  moving.backend.all_to_all(send.at(0), recv.at(0), count, moving.example.type);
  for (std::size_t rank = 0; rank < moving.ranks; ++rank) {
    moving.expect(recv.part(rank * count, count), rank, moving.rank * count);
  }
  moving.expect(send.part(0, moving.ranks * count), moving.rank, 0);
  EXPECT_TRUE(recv.guards_hold());
}

void gather(Moving moving) {
  const auto& [type, reduction, count, in_place, root] = moving.example;
  Elements send = moving.parts(1);
  Elements recv = moving.parts(moving.ranks);
  const auto own = in_place ? recv.part(moving.rank * count, count) : send.part(0, count);
  moving.fill(own, 0);
  moving.backend.gather(own.data(), recv.at(0), count, type, root);
  for (std::size_t rank = 0; rank < moving.ranks; ++rank) {
    if (moving.is_root()) moving.expect(recv.part(rank * count, count), rank, 0);
    const bool is_input = in_place && rank == moving.rank;
    if (!moving.is_root() && !is_input) {
      EXPECT_TRUE(recv.is_untouched(rank * count, count));
    }
  }
  moving.expect(own, moving.rank, 0);
  EXPECT_TRUE(recv.guards_hold());
}

void scatter(Moving moving) {
  const auto& [type, reduction, count, in_place, root] = moving.example;
  Elements send = moving.parts(moving.ranks);
  Elements recv = moving.parts(1);
  const std::size_t own_begin = moving.rank * count;
  const auto own = in_place ? send.part(own_begin, count) : recv.part(0, count);
  moving.fill(send.part(0, moving.ranks * count), 0);
  moving.backend.scatter(send.at(0), own.data(), count, type, root);
  moving.expect(own, static_cast<std::size_t>(root), own_begin);
  moving.expect(send.part(0, own_begin), moving.rank, 0);
  const std::size_t behind = own_begin + count;
  moving.expect(send.part(behind, moving.ranks * count - behind), moving.rank, behind);
  EXPECT_TRUE(send.guards_hold() && recv.guards_hold());
}

/// To the next rank in a ring, to the rank itself, and back and forth between neighbours.
void send_recv(Moving moving) {
  if (moving.example.in_place) return;
  const int rank = moving.world.rank();
  const int ranks = moving.world.size();
  const int neighbour = (rank ^ 1) < ranks ? rank ^ 1 : rank;
  const Partners ring{.to = (rank + 1) % ranks, .from = (rank + ranks - 1) % ranks};
  for (const Partners& partners : {ring, Partners{rank, rank}, Partners{neighbour, neighbour}}) {
    const std::size_t count = moving.example.count;
    Elements send = moving.parts(1);
    Elements recv = moving.parts(1);
    moving.fill(send.part(0, count), 0);
    moving.backend.send_recv(send.at(0), recv.at(0), count, moving.example.type, partners);
    moving.expect(recv.part(0, count), static_cast<std::size_t>(partners.from), 0);
    moving.expect(send.part(0, count), moving.rank, 0);
    EXPECT_TRUE(recv.guards_hold());
  }
}

constexpr std::size_t kGap = 3;  // elements between the parts of an exchange

/// What `from` sends to `to`: none to the rank before it, more the higher both are.
std::size_t part_between(std::size_t from, std::size_t to, const Moving& moving) {
  return moving.ranks > 1 && (to + 1) % moving.ranks == from ? 0 : moving.example.count + 2 * from + 5 * to;
}

AllToAllVCounts exchange_of(std::size_t rank, const Moving& moving) {
  AllToAllVCounts counts;
  std::size_t send_end = kGap;
  std::size_t recv_end = 2 * kGap;
  for (std::size_t peer = 0; peer < moving.ranks; ++peer) {
    counts.send_counts.push_back(part_between(rank, peer, moving));
    counts.recv_counts.push_back(part_between(peer, rank, moving));
    counts.send_offsets.push_back(send_end);
    counts.recv_offsets.push_back(recv_end);
    send_end += counts.send_counts.back() + kGap;
    recv_end += counts.recv_counts.back() + kGap;
  }
  counts.busiest = std::max(send_end, recv_end);
  return counts;
}

void all_to_all_v(Moving moving) {
  if (moving.example.in_place) return;
  AllToAllVCounts counts = exchange_of(moving.rank, moving);
  for (std::size_t rank = 0; rank < moving.ranks; ++rank) {
    counts.busiest = std::max(counts.busiest, exchange_of(rank, moving).busiest);
  }
  Elements send(moving.example.type, counts.busiest);
  Elements recv(moving.example.type, counts.busiest);
  moving.fill(send.part(0, counts.busiest), 0);
  moving.backend.all_to_all_v(send.at(0), recv.at(0), counts, moving.example.type);
  for (std::size_t rank = 0; rank < moving.ranks; ++rank) {
    const std::size_t begin = counts.recv_offsets[rank];
    const std::size_t count = counts.recv_counts[rank];
    const std::size_t sent_from = exchange_of(rank, moving).send_offsets[moving.rank];
    moving.expect(recv.part(begin, count), rank, sent_from);
    EXPECT_TRUE(recv.is_untouched(begin - kGap, kGap)) << "before the part of " << rank;
  }
  EXPECT_TRUE(recv.guards_hold());
}

/// By how many elements one MPI call may be given.
class MpiMoves : public testing::TestWithParam<std::size_t> {
 protected:
  void expect_right(const std::function<void(Moving)>& operation, bool has_root) {
    for (const DataType type : supported_types()) {
      const PatternTable table = PatternTable::moved(type, 0);
      for (const std::size_t count : kMovedCounts) {
        for (const bool in_place : {false, true}) {
          for (int root = 0; root < (has_root ? world_.size() : 1); ++root) {
            const Example example{type, Reduction::kNone, count, in_place, root};
            SCOPED_TRACE(describe(example));
            operation(Moving(world_, backend_, table, example));
          }
        }
      }
    }
  }

 private:
  Communicator world_ = Communicator::world();
  MpiBackend backend_{world_, GetParam()};
};

TEST_P(MpiMoves, AllGather) { expect_right(all_gather, false); }
TEST_P(MpiMoves, Broadcast) { expect_right(broadcast, true); }
TEST_P(MpiMoves, AllToAll) { expect_right(all_to_all, false); }
TEST_P(MpiMoves, AllToAllV) { expect_right(all_to_all_v, false); }
TEST_P(MpiMoves, Gather) { expect_right(gather, true); }
TEST_P(MpiMoves, Scatter) { expect_right(scatter, true); }
TEST_P(MpiMoves, SendRecv) { expect_right(send_recv, false); }

INSTANTIATE_TEST_SUITE_P(ElementsPerCall, MpiMoves, testing::Values(kAnyCount, 7, 1));

TEST(MpiAllToAllV, OfRanksWithUnlikeAmountsIsCarriedInTheSameWayByAll) {
  // Only the last rank's buffers hold more than one call may be given.
  const Communicator world = Communicator::world();
  MpiBackend backend(world, 20);
  const auto last = static_cast<std::size_t>(world.size()) - 1;
  const auto rank = static_cast<std::size_t>(world.rank());
  const auto amount = [&](std::size_t from, std::size_t to) -> std::uint64_t {
    return from == last && to == last ? 21 : 1;
  };
  AllToAllVCounts counts;
  for (std::size_t peer = 0; peer <= last; ++peer) {
    counts.send_offsets.push_back(peer);
    counts.recv_offsets.push_back(peer);
    counts.send_counts.push_back(amount(rank, peer));
    counts.recv_counts.push_back(amount(peer, rank));
  }
  counts.busiest = last + 21;
  std::vector<std::int32_t> send(last + 21, world.rank());
  std::vector<std::int32_t> recv(last + 21, -1);
  collectives(backend).all_to_all_v(send.data(), recv.data(), counts, DataType::kInt32);
  for (std::size_t peer = 0; peer <= last; ++peer) EXPECT_EQ(recv[peer], static_cast<std::int32_t>(peer));
  EXPECT_EQ(recv.back(), rank == last ? world.rank() : -1);
}

TEST(MpiCopy, CopiesWithinThisRanksMemory) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world);
  std::vector<int> values{1, 2, 3, 4};
  collectives(backend).copy(values.data(), values.data() + 2, 2 * sizeof(int));
  EXPECT_EQ(values, (std::vector<int>{1, 2, 1, 2}));
  collectives(backend).copy(values.data(), values.data(), 4 * sizeof(int));
  collectives(backend).copy(nullptr, nullptr, 0);
  EXPECT_EQ(values, (std::vector<int>{1, 2, 1, 2}));
}

TEST(MpiCopy, IsDoneByWhatTheMemoryTakes) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world, kAnyCount,
                     [](const void*, void* into, std::size_t bytes) { std::memset(into, 0x77, bytes); });
  const int from = 7;
  int into = 0;
  collectives(backend).copy(&from, &into, sizeof into);
  EXPECT_EQ(into, 0x77777777);
}

TEST(MpiBarrier, EndsOnNoRankBeforeEveryRankHasStartedIt) {
  test::JobClock clock;
  const Communicator world = Communicator::world();
  MpiBackend backend(world);
  Seconds latest = clock.shows();
  for (int late = 0; late < world.size(); ++late) {
    latest += 1;
    if (world.rank() == late) clock.advance(1);
    backend.barrier();
    EXPECT_NEAR(clock.shows(), latest, 1e-9);
  }
}

}  // namespace
}  // namespace fabricbench::mpi
