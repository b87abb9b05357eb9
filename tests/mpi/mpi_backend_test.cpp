// All-reduce by MPI: every datatype and reduction against the patterns, whole and cut into several calls.

#include "common/mpi/mpi_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/core/datatype.h"
#include "common/core/pattern_table.h"

namespace fabricbench::mpi {
namespace {

constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax,
                                     Reduction::kAvg};
constexpr std::size_t kGuard = 64;
constexpr std::byte kPoison{pattern::kPoisonByte};

struct Example {
  DataType type;
  Reduction reduction;
  std::size_t count;
  bool in_place;
};

std::string describe(const Example& example) {
  return fmt::format("{} {} of {}, {}", facts(example.type).name, name(example.reduction), example.count,
                     example.in_place ? "in-place" : "out-of-place");
}

/// Runs one all-reduce and holds its result against the pattern, bit by bit.
void expect_right(const Communicator& world, MpiBackend& backend, const Example& example) {
  SCOPED_TRACE(describe(example));
  constexpr std::uint64_t kPosition = 4000;  // so that longer messages cross a period's end
  const std::size_t bytes = example.count * facts(example.type).size;
  std::vector<std::byte> send(bytes + kGuard, kPoison);
  std::vector<std::byte> recv(bytes + kGuard, kPoison);
  const PatternTable sent = PatternTable::sent(example.type, example.reduction, world.rank(), world.size());
  sent.fill(std::span(example.in_place ? recv : send).first(bytes), kPosition);

  backend.all_reduce(example.in_place ? recv.data() : send.data(), recv.data(), example.count, example.type,
                     example.reduction);
  backend.wait();

  const PatternTable reduced = PatternTable::reduced(example.type, example.reduction, world.size());
  const auto wrong = reduced.check(std::span(recv).first(bytes), kPosition);
  EXPECT_FALSE(wrong) << wrong->count << " wrong, the first at " << wrong->first_offset << ": expected "
                      << wrong->expected << ", got " << wrong->got;
  EXPECT_EQ(std::count(recv.end() - kGuard, recv.end(), kPoison), kGuard) << "written behind the message";
  if (example.in_place) return;
  EXPECT_FALSE(sent.check(std::span(send).first(bytes), kPosition)) << "the send buffer was written to";
}

void expect_all_right(std::size_t most_per_call, const std::vector<std::size_t>& counts) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world, most_per_call);
  for (const DataTypeFacts& type : kDataTypes) {
    for (const Reduction reduction : kReductions) {
      for (const std::size_t count : counts) {
        for (const bool in_place : {false, true}) {
          expect_right(world, backend, {type.type, reduction, count, in_place});
        }
      }
    }
  }
}

TEST(MpiBackend, EveryDatatypeAndReductionIsExact) {
  // 0 and 1; one below, at and above a power of two; more than two periods; no multiple of anything.
  expect_all_right(std::size_t{1} << 30, {0, 1, 2, 15, 16, 17, 1023, 20'011});
}

TEST(MpiBackend, CallsOfOneElement) { expect_all_right(1, {0, 1, 2, 37}); }

TEST(MpiBackend, CallsOfThreeElements) { expect_all_right(3, {0, 1, 2, 3, 4, 6, 100}); }

TEST(MpiBackend, CallsOfAThousandElements) { expect_all_right(1000, {999, 1000, 1001, 2000, 4567}); }

TEST(MpiBackend, NothingIsReducedToNothing) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world);
  backend.all_reduce(nullptr, nullptr, 0, DataType::kFloat, Reduction::kSum);
  std::byte untouched = kPoison;
  std::byte unread = kPoison;
  backend.all_reduce(&unread, &untouched, 0, DataType::kDouble, Reduction::kAvg);
  EXPECT_EQ(untouched, kPoison);
}

/// On the last rank one element differs from what it ought to send.
TEST(MpiBackend, AWrongContributionIsFound) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world);
  std::vector<float> values(100);
  PatternTable::sent(DataType::kFloat, Reduction::kSum, world.rank(), world.size())
      .fill(std::as_writable_bytes(std::span(values)), 0);
  if (world.rank() == world.size() - 1) values[42] += 1;
  backend.all_reduce(values.data(), values.data(), values.size(), DataType::kFloat, Reduction::kSum);
  const auto wrong =
      PatternTable::reduced(DataType::kFloat, Reduction::kSum, world.size()).check(std::as_bytes(std::span(values)), 0);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->count, 1u);
  EXPECT_EQ(wrong->first_offset, 42u);
}

TEST(MpiBackend, SeveralBackendsLiveSideBySide) {
  const Communicator world = Communicator::world();
  MpiBackend first(world);
  {
    MpiBackend second(world, 10);
    expect_right(world, second, {DataType::kHalf, Reduction::kSum, 33, false});
  }
  expect_right(world, first, {DataType::kHalf, Reduction::kSum, 33, false});  // its reductions are its own
}

TEST(MpiBackend, NamesTheLibrary) { EXPECT_FALSE(MpiBackend(Communicator::world()).library().empty()); }

}  // namespace
}  // namespace fabricbench::mpi
