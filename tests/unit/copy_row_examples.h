#pragma once

#include "common/record/copy_row.h"

namespace fabricbench::test {

/// 256 MiB from NUMA node 1 to GPU 3 in 5 ms, half as fast as other GPUs.
inline CopyRow example_copy() {
  CopyRow row;
  row.host = "node1";
  row.gpu = {3, "0000:13:00.0", "H200", 0};
  row.kind = CopyKind::kHostToDevice;
  row.memory_node = 1;
  row.size = Bytes{256} << 20;
  row.summary.median = 5e-3;
  row.summary.interval = Interval{4e-3, 8e-3, 0.96, 5e-3};
  row.summary.min = 3e-3;
  row.summary.max = 9e-3;
  row.summary.epochs = 9;
  row.summary.samples = 27;
  row.bandwidth = 50e9;
  row.bound = CopyBound{63e9, "PCIe 32 GT/s x16"};
  row.wrong = 0;
  row.comparison = {OutlierStatus::kSlow, 50e9, 100e9, true};
  return row;
}

/// From GPU 3 to GPU 0, over the host.
inline CopyRow example_peer_copy() {
  CopyRow row = example_copy();
  row.kind = CopyKind::kPeer;
  row.memory_node.reset();
  row.gpu.numa_node.reset();
  row.peer = CopyGpu{0, "0000:10:00.0", "H200", 1};
  row.over_host = true;
  row.bound = {};
  row.summary.interval.reset();
  row.wrong.reset();
  row.comparison = {OutlierStatus::kAlone, 50e9};
  row.peer_comparison = Comparison{OutlierStatus::kUndecided, 50e9, 25e9};
  return row;
}

inline CopyRow example_both_ways() {
  CopyRow row = example_copy();
  row.kind = CopyKind::kBothWays;
  row.bandwidth = 100e9;
  row.directions = {60e9, 40e9};
  row.bound.bytes_per_s = 126e9;
  row.wrong = 7;
  row.first_wrong = "first at byte 5: expected 1, got 2";
  row.comparison = {OutlierStatus::kUsual, 100e9, 100e9};
  return row;
}

}  // namespace fabricbench::test
