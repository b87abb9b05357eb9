#include "common/host/checks/checks.h"
#include "common/host/checks/processes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

/// Programs that measure, and are left over from an earlier job if they run beside this one.
bool is_benchmark(const std::string& name) {
  constexpr auto kEnds = std::to_array<std::string_view>({"_perf", "_bw", "_lat", "_rate"});
  constexpr auto kBeginnings =
      std::to_array<std::string_view>({"ib_", "raw_ethernet_", "osu_", "iperf", "nvbandwidth"});
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return name.ends_with(end); }) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

void tell_processes(Look& host, const std::vector<std::string>& ids, const std::string& what,
                    const std::string& consequence, const std::string& next) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> some(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, ids.size())));
  if (some.size() < ids.size()) some.push_back(fmt::format("{} more", ids.size() - some.size()));
  host.report({.measured = fmt::format("{}: {}", what, fmt::join(some, ", ")),
               .expected = "none",
               .consequence = consequence,
               .next = next});
}

void examine_other_processes(Look& host) {
  const std::map<std::string, Process> processes = processes_of(host);
  const Process self = process_in("/proc/self/stat", host.text("/proc/self/stat"));
  std::set<std::string> own = {self.id};
  for (auto at = processes.find(self.parent); at != processes.end() && own.insert(at->first).second;) {
    at = processes.find(at->second.parent);
  }
  std::vector<std::string> left_over;
  std::vector<std::string> waiting;
  bool has_irqbalance = false;
  for (const auto& [id, process] : processes) {
    const std::string text = fmt::format("{} ({})", process.name, id);
    has_irqbalance = has_irqbalance || process.name == "irqbalance";
    if (process.state == 'D' && process.parent != "2") waiting.push_back(text);  // 2: threads of the kernel
    const bool is_ours = own.count(id) > 0 || process.session == self.session || process.parent == self.parent;
    if (!is_ours && process.state != 'Z' && is_benchmark(process.name)) left_over.push_back(text);
  }
  if (!left_over.empty()) {
    tell_processes(host, left_over, "programs that measure run here, outside of this job",
                   "they take GPUs, ports and bandwidth: numbers are wrong, or 'address already in use'",
                   "end them, or wait for the job that they belong to");
  }
  constexpr std::size_t kUsual = 4;  // some wait for a disk at any time
  if (waiting.size() >= kUsual) {
    tell_processes(host, waiting, "processes that wait in the kernel (state D)",
                   "a file system, a GPU or an adapter does not answer; jobs hang in the same place",
                   "cat /proc/PID/wchan; dmesg");
  }
  host.state({.key = "irqbalance", .value = has_irqbalance ? "runs" : "does not run"});
}

}  // namespace

Check other_processes_check() {
  return {.name = "other_processes",
          .what = "No programs that measure are left over, and few processes wait in the kernel.",
          .reads = "/proc/*/stat",
          .look = examine_other_processes,
          .compared = {{.key = "irqbalance",
                        .title = "irqbalance",
                        .level = CheckLevel::kNote,
                        .consequence = "interrupts of adapters move between processors on some hosts only",
                        .next = "systemctl status irqbalance"}}};
}

}  // namespace fabricbench::host
