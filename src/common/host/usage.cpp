#include "common/host/usage.h"

#include <sys/resource.h>

#include <cerrno>
#include <sstream>
#include <string>
#include <system_error>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

rusage usage_of(int who) {
  rusage usage{};
  if (getrusage(who, &usage) != 0) {
    throw std::system_error(errno, std::generic_category(), "getrusage");
  }
  return usage;
}

}  // namespace

std::int64_t involuntary_context_switches() { return usage_of(RUSAGE_THREAD).ru_nivcsw; }

std::uint64_t peak_resident_bytes() {
  constexpr std::uint64_t kBytesPerKibibyte = 1024;
  return static_cast<std::uint64_t>(usage_of(RUSAGE_SELF).ru_maxrss) * kBytesPerKibibyte;
}

std::optional<std::uint64_t> stolen_ticks(const std::filesystem::path& root) {
  // `cpu user nice system idle iowait irq softirq steal ...`
  constexpr int kFieldsBeforeSteal = 7;
  std::istringstream fields(find_value(root / "proc/stat", "cpu").value_or(""));
  std::string field;
  for (int skipped = 0; skipped <= kFieldsBeforeSteal; ++skipped) {
    if (!(fields >> field)) return std::nullopt;
  }
  return parse_integer<std::uint64_t>(field);
}

}  // namespace fabricbench::host
