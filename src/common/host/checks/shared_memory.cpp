#include "common/host/checks/checks.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

constexpr std::uint64_t kLeast = std::uint64_t{256} << 20;  // below this, a few ranks fail
constexpr std::uint64_t kUsual = std::uint64_t{8} << 30;    // source: ROCm's cluster validation suite

void examine_shared_memory(Look& host) {
  const std::string source = "system/free/dev/shm";
  const std::string text = host.text(source);
  const auto free = host.number_in<std::uint64_t>(source, text.substr(0, text.find(' ')));
  if (free >= kUsual) return;
  host.report({.level = free < kLeast ? CheckLevel::kFailure : CheckLevel::kNote,
               .device = "/dev/shm",
               .measured = fmt::format("{} MiB are free", free >> 20),
               .expected = free < kLeast ? "at least 256 MiB" : "8 GiB",
               .expected_by = "what ranks of one host exchange there",
               .consequence = "NCCL and MPI fail with 'No space left on device'",
               .next = "docker run --shm-size=8g, or mount -o remount,size=50% /dev/shm"});
}

}  // namespace

Check shared_memory_check() {
  return {.name = "shared_memory",
          .what = "At least 8 GiB are free in /dev/shm, through which ranks of one host exchange messages.",
          .reads = "statvfs(3) of /dev/shm",
          .look = examine_shared_memory};
}

}  // namespace fabricbench::host
