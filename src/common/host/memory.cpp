#include "common/host/memory.h"

#include <stdexcept>
#include <string_view>

#include "common/host/cgroup.h"
#include "common/host/files.h"

namespace fabricbench::host {
namespace {

// The line reads `MemAvailable:   24416012 kB`, where kB has meant KiB since Linux 2.0.
std::uint64_t available_bytes(const std::filesystem::path& file) {
  constexpr std::string_view kUnit = " kB";
  constexpr std::uint64_t kBytesPerUnit = 1024;
  const auto text = find_value(file, "MemAvailable").value_or("");
  const std::string_view view = text;
  if (view.ends_with(kUnit)) {
    const auto count = view.substr(0, view.size() - kUnit.size());
    if (const auto units = parse_integer<std::uint64_t>(count)) return *units * kBytesPerUnit;
  }
  throw std::runtime_error("cannot read MemAvailable of " + file.string() + ": found '" + text +
                           "'; free memory is unknown without it (Linux 3.14 or later states it)");
}

}  // namespace

FreeMemory free_memory(const std::filesystem::path& root) {
  FreeMemory memory{available_bytes(root / "proc/meminfo"), std::nullopt, "/proc/meminfo"};
  if (const auto limit = tightest_memory_limit(root)) {
    memory.cgroup_bytes = limit->free_bytes;
    if (limit->free_bytes < memory.machine_bytes) memory.source = limit->file;
  }
  return memory;
}

}  // namespace fabricbench::host
