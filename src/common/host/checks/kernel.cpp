#include "common/host/checks/checks.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace fabricbench::host {
namespace {

/// Words that name disks, addresses and images of this host alone.
bool is_of_this_host(const std::string& word) {
  constexpr auto kBeginnings = std::to_array<std::string_view>(
      {"BOOT_IMAGE=", "initrd=", "root=", "resume=", "rd.", "ip=", "BOOTIF=", "hostname=", "systemd.machine_id=",
       "netroot=", "nfsroot=", "ds=", "cloud-config-url=", "ostree="});
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view begin) { return word.starts_with(begin); });
}

std::string common_words(const std::string& command_line) {
  std::string text;
  std::istringstream words(command_line);
  for (std::string word; words >> word;) {
    if (!is_of_this_host(word)) text += (text.empty() ? "" : " ") + word;
  }
  return text.empty() ? "no options" : text;
}

void examine_kernel(Look& host) {
  host.state({.key = "kernel", .value = host.text("system/kernel")});
  host.state({.key = "command_line", .value = common_words(host.text("/proc/cmdline"))});
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
