// What the fake libefa has for a device, and what it was asked for. It refuses what providers/efa of rdma-core refuses.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <functional>

struct FakeEfa {
  bool is_efa = true;                   // the device, whichever it is
  std::uint32_t capabilities = 0b1011;  // reads, retries of a receiver that is not ready, writes
  std::uint32_t most_rdma = 1U << 30;   // bytes of a read or write
  std::uint32_t most_inline = 32;       // bytes
  std::uint32_t most_parts_received = 1;
  /// Makes a queue pair that these attributes describe.
  std::function<ibv_qp*(ibv_pd*, const ibv_qp_init_attr_ex&)> create{};
};

/// A test begins with a new one.
FakeEfa& fake_efa();
