// An MPI datatype of more elements than a call can count.

#include "common/mpi/mpi_backend.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/mpi/communicator.h"

namespace fabricbench::mpi {
namespace {

constexpr std::size_t kPage = std::size_t{1} << 20;

std::size_t bytes_of(const Block& block) {
  MPI_Count size = 0;
  MPI_Type_size_x(block.get(), &size);
  return static_cast<std::size_t>(size);
}

std::size_t extent_of(const Block& block) {
  MPI_Count lower = -1;
  MPI_Count extent = 0;
  MPI_Type_get_extent_x(block.get(), &lower, &extent);
  EXPECT_EQ(lower, 0);
  return static_cast<std::size_t>(extent);
}

TEST(Block, HoldsItsElementsOneBehindTheOther) {
  for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{7}, kPage - 1, kPage, kPage + 1,
                                     3 * kPage + 5, (std::size_t{1} << 31) + 3, std::size_t{1} << 40}) {
    const Block floats(MPI_FLOAT, elements);
    EXPECT_EQ(bytes_of(floats), 4 * elements);
    EXPECT_EQ(extent_of(floats), 4 * elements);
    const Block octets(MPI_UINT8_T, elements);
    EXPECT_EQ(bytes_of(octets), elements);
    EXPECT_EQ(extent_of(octets), elements);
  }
}

TEST(Block, KnowsWhatItWasMadeFor) {
  const Block block(MPI_INT32_T, 12);
  EXPECT_TRUE(block.is(MPI_INT32_T, 12));
  EXPECT_FALSE(block.is(MPI_INT32_T, 13));
  EXPECT_FALSE(block.is(MPI_FLOAT, 12));
}

/// To the next rank of a ring, as one of a block and taken as so many elements.
TEST(Block, CarriesEveryElementToItsPlace) {
  const Communicator world = Communicator::world();
  const int next = (world.rank() + 1) % world.size();
  const int before = (world.rank() + world.size() - 1) % world.size();
  for (const std::size_t elements : {std::size_t{1}, std::size_t{100}, kPage, 2 * kPage + 3}) {
    const Block block(MPI_INT32_T, elements);
    std::vector<std::int32_t> send(elements);
    std::iota(send.begin(), send.end(), world.rank());
    std::vector<std::int32_t> recv(elements + 1, -1);
    MPI_Sendrecv(send.data(), 1, block.get(), next, 0, recv.data(), static_cast<int>(elements), MPI_INT32_T, before, 0,
                 world.get(), MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < elements; ++i) ASSERT_EQ(recv[i], before + static_cast<std::int32_t>(i));
    EXPECT_EQ(recv.back(), -1);
  }
}

TEST(Block, ManyCanBeMadeAndFreed) {
  for (std::size_t i = 0; i < 20'000; ++i) EXPECT_NE(Block(MPI_FLOAT, i).get(), MPI_DATATYPE_NULL);
}

}  // namespace
}  // namespace fabricbench::mpi
