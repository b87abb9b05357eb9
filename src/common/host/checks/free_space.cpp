#include "common/host/checks/checks.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

void examine_folder(Look& host, const std::string& folder) {
  constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
  constexpr std::uint64_t kShare = 20;  // 5 %; source: imbue-ai/cluster-health
  const std::string source = "system/free" + folder;
  const std::string text = host.text(source);
  const std::size_t blank = text.find(' ');
  const auto free = host.number_in<std::uint64_t>(source, std::string_view(text).substr(0, blank));
  const auto total = host.number_in<std::uint64_t>(source, std::string_view(text).substr(blank + 1));
  const bool is_full = free < kLeast;
  if (!is_full && free >= total / kShare) return;
  host.report({.level = is_full ? CheckLevel::kFailure : CheckLevel::kWarning,
               .device = folder,
               .measured = fmt::format("{} MiB of {} MiB are free", free >> 20, total >> 20),
               .expected = "more than 5 %",
               .consequence = is_full ? "mpirun cannot make its session folder, and programs cannot write results"
                                      : "it will be full soon, and then jobs do not start",
               .next = fmt::format("du -xsh {}/* | sort -h", folder)});
}

void examine_free_space(Look& host) {
  host.attempt([&] { examine_folder(host, host.text_if_any("env/TMPDIR").value_or("/tmp")); });
  host.attempt([&] { examine_folder(host, host.text("system/home")); });
}

}  // namespace

Check free_space_check() {
  return {.name = "free_space",
          .what = "More than 5 % of the file systems of temporary files and of the home folder is free.",
          .reads = "statvfs(3) of /tmp or TMPDIR, and of the home folder",
          .look = examine_free_space};
}

}  // namespace fabricbench::host
