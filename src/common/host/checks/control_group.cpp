#include "common/host/checks/checks.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

/// The process's group of version 2. Source: cgroups(7).
std::string group_of_process(Look& host) {
  const std::string source = "/proc/self/cgroup";
  std::string group;
  for (const std::string& line : host.lines(source)) {
    if (line.find(":memory:") != std::string::npos) throw NotSeen(source, "control groups of version 1 limit memory");
    if (line.starts_with("0::")) group = line.substr(std::string_view("0::").size());
  }
  if (group.empty()) throw NotSeen(source, "names no control group of version 2");
  const std::string folder = group == "/" ? "/sys/fs/cgroup" : "/sys/fs/cgroup" + group;
  if (host.names(folder).empty()) throw NotSeen(folder, "is empty");  // else limits would seem to be none
  return group;
}

/// The lowest limit of this kind of a group and those above it; states all of them.
std::uint64_t lowest_limit(Look& host, const std::string& group, const std::string& name) {
  std::uint64_t least = kNoLimit;
  std::vector<std::string> texts;
  for (std::filesystem::path path = group; path.has_parent_path(); path = path.parent_path()) {
    const bool is_top = path == path.parent_path();
    const std::string file = fmt::format("/sys/fs/cgroup{}/{}", is_top ? "" : path.string(), name);
    if (const auto text = host.text_if_any(file)) {
      texts.push_back(*text);
      if (*text != "max") least = std::min(least, host.number_in<std::uint64_t>(file, *text));
    }
    if (is_top) break;
  }
  const std::string all = texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
  host.state({.key = "limits", .among = name, .device = name, .value = all});
  return least;
}

void examine_tasks(Look& host, const std::string& group) {
  constexpr std::uint64_t kFew = 4096;
  const std::uint64_t tasks = lowest_limit(host, group, "pids.max");
  if (tasks >= kFew) return;
  host.report({.measured = fmt::format("the control group allows {} processes and threads", tasks),
               .expected = "at least 4096",
               .consequence = "threads of NCCL and of data loaders fail to start",
               .next = "TasksMax= of the unit; docker run --pids-limit"});
}

void examine_memory(Look& host, const std::string& group) {
  const std::uint64_t most = lowest_limit(host, group, "memory.max");
  std::istringstream words(host.field("/proc/meminfo", "MemTotal"));
  std::string kilobytes;
  words >> kilobytes;
  const auto total = host.number_in<std::uint64_t>("/proc/meminfo", kilobytes) << 10;
  if (most >= total / 2) return;
  host.report(
      {.level = CheckLevel::kNote,
       .measured = fmt::format("the control group allows {} MiB of the {} MiB of this host", most >> 20, total >> 20),
       .expected = "most of the memory, where the job has the host to itself",
       .consequence = "a job that takes more, in pinned buffers and data loaders, is killed",
       .next = "srun --mem=0; docker run --memory"});
}

void examine_control_group(Look& host) {
  const std::string group = group_of_process(host);
  host.attempt([&] { examine_tasks(host, group); });
  host.attempt([&] { examine_memory(host, group); });
}

}  // namespace

Check control_group_check() {
  return {.name = "control_group",
          .what = "Control groups leave room for the processes and the memory of a job.",
          .reads = "/proc/self/cgroup, /sys/fs/cgroup/**/{pids,memory}.max, /proc/meminfo",
          .look = examine_control_group,
          .compared = {{.key = "limits",
                        .title = "limit of control groups",
                        .level = CheckLevel::kNote,
                        .consequence = "ranks of some hosts run out of memory or processes before others",
                        .next = "systemctl show of the unit; Slurm's cgroup.conf"}}};
}

}  // namespace fabricbench::host
