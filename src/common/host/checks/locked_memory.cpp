#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

constexpr std::uint64_t kEnough = std::uint64_t{32} << 30;  // source: ROCm's cluster validation suite

void examine_locked_memory(Look& host) {
  const std::string limits = host.field("/proc/self/limits", "Max locked memory");
  const std::string soft = limits.substr(0, limits.find(' '));
  if (soft == "unlimited") return;
  const auto bytes = host.number_in<std::uint64_t>("/proc/self/limits", soft);
  if (bytes >= kEnough) return;
  host.report({.level = CheckLevel::kFailure,
               .measured = fmt::format("at most {} KiB of memory can be locked", bytes >> 10),
               .expected = "unlimited, or at least 32 GiB",
               .expected_by = "what buffers of RDMA take",
               .consequence = "ibv_reg_mr fails, and NCCL with it",
               .next =
                   "memlock in /etc/security/limits.conf; under Slurm, LimitMEMLOCK=infinity of slurmd's unit, which "
                   "ignores that file"});
}

}  // namespace

Check locked_memory_check() {
  return {.name = "locked_memory",
          .what = "Memory can be locked without limit, or at least 32 GiB of it, where there is RDMA.",
          .reads = "/proc/self/limits",
          .is_required = true,
          .absent = no_rdma_device,
          .look = examine_locked_memory};
}

}  // namespace fabricbench::host
