#include "common/host/checks/checks.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// chrony without `rtcsync` leaves the kernel's flag as it is: this alone is no proof.
void examine_clock_sync(Look& host) {
  const std::string text = host.text("system/clock");
  const std::size_t blank = text.find(' ');
  const auto error_us = host.number_in<std::int64_t>("system/clock", std::string_view(text).substr(blank + 1));
  constexpr std::int64_t kMost = 1'000'000;
  const bool is_synchronized = text.starts_with("synchronized ");
  if (is_synchronized && error_us < kMost) return;
  host.report({.level = CheckLevel::kNote,
               .measured = is_synchronized ? fmt::format("the clock may be off by {} s", error_us / kMost)
                                           : "the kernel does not know its clock to be synchronized",
               .expected = "a clock that follows a time server, to less than 1 s",
               .consequence = "logs of hosts cannot be put in order, and certificates may seem out of date",
               .next = "chronyc tracking, timedatectl; chrony's rtcsync tells the kernel",
               .only_between_hosts = true});
}

}  // namespace

Check clock_sync_check() {
  return {.name = "clock_sync",
          .what = "The kernel's clock follows a time server, to less than a second.",
          .reads = "adjtimex(2)",
          .look = examine_clock_sync};
}

}  // namespace fabricbench::host
