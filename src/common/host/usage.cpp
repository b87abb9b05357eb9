#include "common/host/usage.h"

#include <sys/resource.h>

#include <cerrno>
#include <ctime>
#include <sstream>
#include <string>
#include <system_error>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

constexpr std::uint64_t kBytesPerKibibyte = 1024;

}  // namespace

std::int64_t involuntary_context_switches() {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) {
    throw std::system_error(errno, std::generic_category(), "getrusage");
  }
  return usage.ru_nivcsw;
}

double processor_time() {
  timespec used{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) {
    throw std::system_error(errno, std::generic_category(), "clock_gettime");
  }
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

std::optional<std::uint64_t> peak_resident_bytes(const std::filesystem::path& root) {
  std::istringstream fields(find_value(root / "proc/self/status", "VmHWM").value_or(""));
  std::uint64_t kibibytes = 0;
  if (!(fields >> kibibytes)) return std::nullopt;
  return kibibytes * kBytesPerKibibyte;
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
