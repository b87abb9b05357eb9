#include "common/host/node_memory.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include <linux/mempolicy.h>

#include "scoped_variable.h"

using namespace fabricbench::host;

namespace node_memory_test {

constexpr std::size_t kBytes = 3 * 4096 + 5;

/// The node of a page, as the kernel tells; -1 where it does not.
int node_of(const std::byte* page) {
  int node = -1;
  const long status = syscall(SYS_get_mempolicy, &node, nullptr, 0, page, MPOL_F_NODE | MPOL_F_ADDR);
  return status == 0 ? node : -1;
}

TEST(NodeMemory, IsThereAndZeroed) {
  const NodeMemory memory(kBytes, std::nullopt);
  EXPECT_EQ(memory.bytes().size(), kBytes);
  EXPECT_TRUE(std::all_of(memory.bytes().begin(), memory.bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
  memory.bytes().back() = std::byte{1};
}

TEST(NodeMemory, LiesOnTheNode) {
  const std::vector<int> nodes = memory_nodes();
  ASSERT_FALSE(nodes.empty());
  EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end()));
  for (const int node : nodes) {
    try {
      const NodeMemory memory(kBytes, node);
      if (node_of(memory.bytes().data()) < 0) GTEST_SKIP() << "the kernel does not tell where a page is";
      EXPECT_EQ(node_of(memory.bytes().data()), node);
      EXPECT_EQ(node_of(&memory.bytes().back()), node);
    } catch (const std::runtime_error& error) {
      GTEST_SKIP() << error.what();  // in a container that refuses mbind
    }
  }
}

TEST(NodeMemory, SaysWhyItIsNotThere) {
  try {
    const NodeMemory memory(kBytes, 1000);
    FAIL() << "there is no such node";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("of NUMA node 1000: "), std::string::npos) << error.what();
  }
  EXPECT_THROW(NodeMemory(std::size_t{1} << 60, std::nullopt), std::runtime_error);
}

/// Of a machine that a variable substitutes, hwloc says that it bound memory and does not.
TEST(NodeMemory, IsNotTakenToBeWhereNobodyPutIt) {
  const fabricbench::test::ScopedVariable machine("HWLOC_SYNTHETIC", "numa:2(memory=1073741824) pu:1");
  ASSERT_EQ(memory_nodes(), (std::vector<int>{0, 1}));
  EXPECT_THROW(NodeMemory(kBytes, 1), std::runtime_error);
}

TEST(NodeMemory, Moves) {
  NodeMemory memory(kBytes, std::nullopt);
  const std::byte* first = memory.bytes().data();
  NodeMemory moved = std::move(memory);
  EXPECT_EQ(moved.bytes().data(), first);
  NodeMemory other(1, std::nullopt);
  other = std::move(moved);
  EXPECT_EQ(other.bytes().data(), first);
}

}  // namespace node_memory_test
