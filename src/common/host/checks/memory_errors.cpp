#include "common/host/checks/checks.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

const std::string kControllers = "/sys/devices/system/edac/mc";

/// Source: the kernel's Documentation/admin-guide/RAS/main.rst.
void examine_controller(Look& host, const std::string& name) {
  const std::string folder = fmt::format("{}/{}/", kControllers, name);
  const auto corrected = host.number<std::uint64_t>(folder + "ce_count");
  const auto uncorrected = host.number<std::uint64_t>(folder + "ue_count");
  const auto seconds = host.number<std::uint64_t>(folder + "seconds_since_reset");
  if (corrected == 0 && uncorrected == 0) return;
  constexpr std::uint64_t kHour = 3600;
  host.report({.level = uncorrected > 0 ? CheckLevel::kWarning : CheckLevel::kNote,
               .device = name,
               .measured = fmt::format("{} memory errors that could not be corrected and {} that were, in {} hours",
                                       uncorrected, corrected, seconds / kHour),
               .expected = "none",
               .consequence = uncorrected > 0 ? "processes were or will be killed; the host may stop"
                                              : "a module may be failing; many of them slow the host down",
               .next = "ras-mc-ctl --errors, or the BMC's log: which module it is"});
}

bool is_controller(const std::string& name) {
  return name.starts_with("mc") && name.size() > 2 && name.find_first_not_of("0123456789", 2) == std::string::npos;
}

std::vector<std::string> memory_controllers(Look& host) {
  std::vector<std::string> controllers;
  const auto names = host.names_if_any(kControllers);
  if (!names) static_cast<void>(host.names("/sys/devices/system"));  // without it, nothing is known of controllers
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    if (is_controller(name)) controllers.push_back(name);
  }
  return controllers;
}

void examine_memory_errors(Look& host) {
  const auto controllers = memory_controllers(host);
  host.state({.key = "controllers", .value = fmt::format("{}", controllers.size())});
  host.each(controllers, [&](const std::string& name) { examine_controller(host, name); });
}

std::optional<std::string> no_controller(Look& host) {
  if (!memory_controllers(host).empty()) return std::nullopt;
  return "no memory controller that reports errors (EDAC)";
}

}  // namespace

Check memory_errors_check() {
  return {.name = "memory_errors",
          .what = "Memory controllers have counted no errors.",
          .reads = "/sys/devices/system/edac/mc/mc*/{ce_count,ue_count,seconds_since_reset}",
          .absent = no_controller,
          .look = examine_memory_errors,
          .compared = {{.key = "controllers",
                        .title = "memory controllers that report errors",
                        .level = CheckLevel::kNote,
                        .consequence = "errors of memory are not seen on some hosts",
                        .next = "lsmod | grep edac",
                        .is_count = true}}};
}

}  // namespace fabricbench::host
