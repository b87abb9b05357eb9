#include "common/host/checks/checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

/// `Xeon` of x86, `POWER9`; Arm has numbers, and more than one kind in one host (big.LITTLE).
std::string processor_models(Look& host) {
  std::set<std::string> models;
  for (const std::string& line : host.lines("/proc/cpuinfo")) {
    for (const char* key : {"model name", "CPU part", "cpu\t"}) {
      if (line.starts_with(key)) models.insert(std::string(without_blanks(line.substr(line.find(':') + 1))));
    }
  }
  if (models.empty()) throw NotSeen("/proc/cpuinfo", "names no model");
  return fmt::format("{}", fmt::join(models, " and "));
}

/// Nodes with processors: memory of GPUs is in nodes without any.
std::string count_nodes(Look& host) {
  const std::string folder = "/sys/devices/system/node";
  const auto names = host.names_if_any(folder);
  if (!names) return "no NUMA in the kernel";
  int count = 0;
  for (const std::string& name : *names) {
    if (!name.starts_with("node") || name.find_first_of("0123456789") != 4) continue;
    const auto processors = host.text_if_any(fmt::format("{}/{}/cpulist", folder, name));
    if (!processors) throw NotSeen(fmt::format("{}/{}/cpulist", folder, name), "is not there");
    if (!processors->empty()) ++count;
  }
  return fmt::format("{}", count);
}

/// Sizes differ by what firmware keeps for itself, DIMMs by gigabytes.
std::string memory_size(Look& host) {
  std::istringstream words(host.field("/proc/meminfo", "MemTotal"));
  std::string kilobytes;
  words >> kilobytes;
  constexpr std::int64_t kStep = 4;
  const auto gibibytes = host.number_in<std::int64_t>("/proc/meminfo", kilobytes) >> 20;
  return fmt::format("about {} GiB", (gibibytes + kStep / 2) / kStep * kStep);
}

void examine_processors(Look& host) {
  const auto state = [&](const char* key, const std::function<std::string()>& value) {
    host.attempt([&] { host.state({.key = key, .value = value()}); });
  };
  state("model", [&] { return processor_models(host); });
  state("online", [&] { return host.text("/sys/devices/system/cpu/online"); });
  state("threads", [&] {
    const auto active = host.text_if_any("/sys/devices/system/cpu/smt/active");
    return active ? (*active == "1" ? "on" : "off") : "not in the kernel";
  });
  state("nodes", [&] { return count_nodes(host); });
  state("memory", [&] { return memory_size(host); });
}

}  // namespace

Check processors_check() {
  const auto compared = [](std::string_view key, std::string_view title, std::string_view consequence,
                           std::string_view next) {
    return Compared{.key = key, .title = title, .consequence = consequence, .next = next};
  };
  return {.name = "processors",
          .what = "Hosts have the same processors, NUMA nodes and memory.",
          .reads =
              "/proc/{cpuinfo,meminfo}, /sys/devices/system/cpu/{online,smt/active}, "
              "/sys/devices/system/node/*/cpulist",
          .look = examine_processors,
          .compared = {compared("model", "processors", "ranks of slower hosts are late", "lscpu"),
                       compared("online", "processors that are online", "bindings by number lead elsewhere",
                                "cat /sys/devices/system/cpu/offline; the firmware's settings of cores"),
                       compared("threads", "two threads a core", "numbers of processors differ, and so does speed",
                                "the firmware's setting, or nosmt on the kernel's command line"),
                       compared("nodes", "number of NUMA nodes", "ranks are placed differently (NPS, SNC)",
                                "the firmware's setting of nodes per socket"),
                       compared("memory", "memory", "a module is missing or off, and its channel with it",
                                "dmidecode -t memory")}};
}

}  // namespace fabricbench::host
