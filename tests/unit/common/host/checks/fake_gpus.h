// GPUs for hosts in memory.
#pragma once

#include "common/host/checks/fake_host.h"

namespace fabricbench::host {

/// Eight H100 SXM, idle: their links are x16, and at the speed of PCIe 1.
void add_h100_gpus(FakeHost& host);

}  // namespace fabricbench::host
