#include "common/host/checks/checks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

const std::string kNone = "not in the kernel";

/// These choose the frequency by themselves under powersave.
bool is_active_driver(const std::string& driver) {
  return driver == "intel_pstate" || driver.starts_with("amd-pstate");
}

void examine_governors(Look& host) {
  const std::string folder = "/sys/devices/system/cpu/cpufreq";
  const auto policies = host.names_if_any(folder);
  std::set<std::string> governors;
  std::set<std::string> slow;
  for (const std::string& policy : policies.value_or(std::vector<std::string>())) {
    if (!policy.starts_with("policy")) continue;
    const std::string governor = host.text(fmt::format("{}/{}/scaling_governor", folder, policy));
    const std::string driver = host.text(fmt::format("{}/{}/scaling_driver", folder, policy));
    governors.insert(fmt::format("{} of {}", governor, driver));
    if (governor != "performance" && !is_active_driver(driver)) slow.insert(governor);
  }
  host.state(
      {.key = "governor", .value = governors.empty() ? kNone : fmt::format("{}", fmt::join(governors, " and "))});
  if (slow.empty()) return;
  host.report({.measured = fmt::format("governor of processors {}", fmt::join(slow, ", ")),
               .expected = "performance",
               .consequence = "latency varies by microseconds, and small messages are slow",
               .next = "cpupower frequency-set -g performance",
               .maybe_by_design = true});
}

/// The kernel gives the fast counter up where it finds that processors disagree.
void examine_clock_source(Look& host) {
  const std::string source = host.text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  host.state({.key = "clocksource", .value = source});
  if (source != "hpet" && source != "acpi_pm" && source != "jiffies") return;
  host.report({.measured = "clock source " + source,
               .expected = "tsc",
               .consequence = "reading the clock takes a microsecond, and small messages seem and are slow",
               .next = "dmesg | grep -i -e tsc -e clocksource"});
}

void examine_processor_tuning(Look& host) {
  host.attempt([&] { examine_governors(host); });
  host.attempt([&] { examine_clock_source(host); });
  const auto state = [&](const char* key, const std::string& source) {
    host.attempt([&] { host.state({.key = key, .value = host.text_if_any(source).value_or(kNone)}); });
  };
  state("cstates", "/sys/module/intel_idle/parameters/max_cstate");
  state("numa_balancing", "/proc/sys/kernel/numa_balancing");
  state("huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled");
}

}  // namespace

Check processor_tuning_check() {
  const auto compared = [](std::string_view key, std::string_view title, std::string_view next) {
    return Compared{.key = key,
                    .title = title,
                    .level = CheckLevel::kNote,
                    .consequence = "hosts differ in latency, and the slowest sets the pace",
                    .next = next};
  };
  return {.name = "processor_tuning",
          .what = "Processors run at full frequency, the clock is a fast one, and both are alike on all hosts.",
          .reads =
              "/sys/devices/system/cpu/cpufreq/*/scaling_{governor,driver}, current_clocksource, "
              "intel_idle/parameters/max_cstate, numa_balancing, transparent_hugepage/enabled",
          .look = examine_processor_tuning,
          .compared = {
              compared("governor", "governor of processors", "cpupower frequency-info"),
              compared("clocksource", "clock source", "dmesg | grep -i clocksource"),
              compared("cstates", "deepest idle state (max_cstate)", "intel_idle.max_cstate= of the kernel"),
              compared("numa_balancing", "NUMA balancing", "sysctl kernel.numa_balancing"),
              compared("huge_pages", "transparent huge pages", "cat /sys/kernel/mm/transparent_hugepage/enabled")}};
}

}  // namespace fabricbench::host
