#pragma once

#include <string>
#include <string_view>

#include "cluster/import/text.h"

namespace fabricbench::cluster {

/// The program by its title, `RDMA_Write Bidirectional BW Test`; empty where it is none of these.
inline std::string perftest_test_of(std::string_view title) {
  if (has(title, "RDMA_Write")) return "ib_write_bw";
  if (has(title, "RDMA_Read")) return "ib_read_bw";
  return has(title, "Send") ? "ib_send_bw" : "";
}

}  // namespace fabricbench::cluster
