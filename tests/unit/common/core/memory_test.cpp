#include "common/core/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;

/// AddressSanitizer, where it is built in, is to refuse as malloc does, and not to end the program.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace memory_test {

TEST(HostMemory, IsPageAlignedAndHasEveryByteAskedFor) {
  HostMemory memory;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4097}}) {
    std::byte* block = HostMemory::allocate(bytes);
    ASSERT_NE(block, nullptr) << "a block of nothing is a block too";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 4096, 0U);
    memory.set({block, bytes}, 0x5A);
    EXPECT_EQ(std::count(block, block + bytes, std::byte{0x5A}), static_cast<std::ptrdiff_t>(bytes));
    HostMemory::release(block);
  }
  HostMemory::release(nullptr);
}

TEST(HostMemory, SaysHowMuchCannotBeHad) {
  for (const std::size_t bytes : {std::size_t{1} << 62, std::numeric_limits<std::size_t>::max()}) {
    try {
      HostMemory::release(HostMemory::allocate(bytes));
      ADD_FAILURE() << "nobody has so much memory";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kMissing);
      EXPECT_NE(std::string(error.what()).find("iB"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("lower --max-bytes"), std::string::npos) << error.what();
    }
  }
}

TEST(HostMemory, FillsAndChecksByTheTable) {
  HostMemory memory;
  const PatternTable table = PatternTable::moved(DataType::kInt32, 0);
  const PatternPosition place{8000, 17};
  std::vector<std::byte> filled(4 * 1000);
  std::vector<std::byte> expected(filled.size());
  memory.fill(filled, table, place);
  table.fill(expected, place);
  EXPECT_EQ(filled, expected);
  EXPECT_FALSE(memory.check(filled, table, place));
  filled[4 * 321] ^= std::byte{1};
  const auto wrong = memory.check(filled, table, place);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->count, 1U);
  EXPECT_EQ(wrong->first_offset, 321U);
}

TEST(HostMemory, CopiesToTheHost) {
  HostMemory memory;
  const std::vector<std::byte> from{std::byte{1}, std::byte{2}, std::byte{3}};
  std::vector<std::byte> into(4, std::byte{9});
  memory.copy_to_host(from, into.data());
  EXPECT_EQ(into, (std::vector<std::byte>{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{9}}));
  memory.copy_to_host(std::span(from).first(0), into.data());
}

}  // namespace memory_test
