#include "common/host/checks/checks.h"

namespace fabricbench::host {
namespace {

void examine_kernel(Look& host) {
  host.state({.key = "kernel", .value = host.text("system/kernel")});
  host.state({.key = "command_line", .value = host.text("/proc/cmdline")});
}

}  // namespace

Check kernel_check() {
  return {.name = "kernel",
          .what = "Hosts run the same kernel, with the same options on its command line.",
          .reads = "uname(2), /proc/cmdline",
          .look = examine_kernel,
          .compared = {{.key = "kernel",
                        .title = "kernel",
                        .consequence = "drivers and network stacks differ, and so does speed",
                        .next = "install one image on all hosts"},
                       {.key = "command_line",
                        .title = "kernel command line",
                        .level = CheckLevel::kNote,
                        .consequence = "options such as iommu=pt and mitigations change speed",
                        .next = "compare /proc/cmdline"}}};
}

}  // namespace fabricbench::host
