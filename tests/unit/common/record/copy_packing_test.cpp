#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/record/packing.h"
#include "copy_row_examples.h"

using namespace fabricbench;

namespace copy_packing_test {

void expect_equal(const CopyGpu& a, const CopyGpu& b) {
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.pci, b.pci);
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.numa_node, b.numa_node);
}

void expect_equal(const CopyRow& a, const CopyRow& b) {
  EXPECT_EQ(a.host, b.host);
  expect_equal(a.gpu, b.gpu);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.memory_node, b.memory_node);
  ASSERT_EQ(a.peer.has_value(), b.peer.has_value());
  if (a.peer) expect_equal(*a.peer, *b.peer);
  EXPECT_EQ(a.over_host, b.over_host);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.summary.median, b.summary.median);
  EXPECT_EQ(a.summary.interval.has_value(), b.summary.interval.has_value());
  EXPECT_EQ(a.summary.samples, b.summary.samples);
  EXPECT_EQ(a.bandwidth, b.bandwidth);
  EXPECT_EQ(a.directions, b.directions);
  EXPECT_EQ(a.bound.bytes_per_s, b.bound.bytes_per_s);
  EXPECT_EQ(a.bound.by, b.bound.by);
  EXPECT_EQ(a.wrong, b.wrong);
  EXPECT_EQ(a.first_wrong, b.first_wrong);
}

TEST(CopyPacking, KeepsWhatWasMeasured) {
  const std::vector<CopyRow> rows = {test::example_copy(), test::example_both_ways(), test::example_peer_copy()};
  const std::vector<CopyRow> unpacked = record::unpack<std::vector<CopyRow>>(record::pack(rows));
  ASSERT_EQ(unpacked.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) expect_equal(unpacked[i], rows[i]);
  EXPECT_TRUE(record::unpack<std::vector<CopyRow>>(record::pack(std::vector<CopyRow>())).empty());
}

}  // namespace copy_packing_test
