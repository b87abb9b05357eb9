#include "common/host/memory.h"

#include <stdexcept>
#include <string_view>

#include "common/host/cgroup.h"
#include "common/host/files.h"

namespace fabricbench::host {
namespace {

std::uint64_t number_at(const std::filesystem::path& file, std::string_view key) {
  const auto text = find_value(file, key).value_or("");
  const std::string_view view = text;
  return parse_integer<std::uint64_t>(view.substr(0, view.find(' '))).value_or(0);
}

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

HugePages huge_pages(const std::filesystem::path& root) {
  constexpr std::uint64_t kBytesPerUnit = 1024;  // the line reads `Hugepagesize:   2048 kB`
  const std::filesystem::path file = root / "proc/meminfo";
  const std::uint64_t free = number_at(file, "HugePages_Free");
  const std::uint64_t promised = number_at(file, "HugePages_Rsvd");
  return {number_at(file, "Hugepagesize") * kBytesPerUnit, number_at(file, "HugePages_Total"),
          free > promised ? free - promised : 0};
}

FreeMemory free_memory(const std::filesystem::path& root) {
  FreeMemory memory{available_bytes(root / "proc/meminfo"), std::nullopt, "/proc/meminfo"};
  if (const auto limit = tightest_memory_limit(root)) {
    memory.cgroup_bytes = limit->free_bytes;
    if (limit->free_bytes < memory.machine_bytes) memory.source = limit->file;
  }
  return memory;
}

}  // namespace fabricbench::host
