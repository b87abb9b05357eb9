#include "common/host/memory.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

std::uint64_t number_at(const fs::path& file, std::string_view key) {
  const auto text = find_value(file, key).value_or("");
  const std::string_view view = text;
  return parse_integer<std::uint64_t>(view.substr(0, view.find(' '))).value_or(0);
}

// The line reads `MemAvailable:   24416012 kB`, where kB has meant KiB since Linux 2.0.
std::uint64_t available_bytes(const fs::path& file) {
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

// Version 1 spells "no limit" as the largest multiple of the page size in 63 bits, which depends
// on the page size; nothing real comes near 2^60.
constexpr std::uint64_t kNoLimitBytes = std::uint64_t{1} << 60;

// The names that one version of cgroups gives to the files of a memory cgroup.
struct FileNames {
  std::string_view limit;
  std::string_view usage;
  std::string_view reclaimable;  // a key of memory.stat, the cgroup's descendants included
};

constexpr FileNames kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr FileNames kVersion2{"memory.max", "memory.current", "inactive_file"};

struct Membership {
  std::string cgroup;
  FileNames names;
  fs::path mount;  // relative to the root directory
};

// One line of /proc/self/cgroup: `4:memory:/job` (version 1) or `0::/job` (version 2).
struct CgroupLine {
  std::string_view controllers;
  std::string_view path;
};

std::optional<CgroupLine> parse_cgroup_line(std::string_view line) {
  const auto first = line.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  // The path comes last and may hold colons itself.
  const CgroupLine parsed{line.substr(first + 1, second - first - 1), line.substr(second + 1)};
  if (!parsed.path.starts_with('/')) return std::nullopt;
  return parsed;
}

bool lists_memory(std::string_view controllers) {
  const std::string padded = "," + std::string(controllers) + ",";
  return padded.find(",memory,") != std::string::npos;
}

fs::path unified_mount(const fs::path& root) {
  const fs::path hybrid = "sys/fs/cgroup/unified";
  std::error_code error;
  return fs::is_directory(root / hybrid, error) ? hybrid : fs::path("sys/fs/cgroup");
}

// A controller belongs to one version at a time, so a memory line of version 1 settles it.
std::optional<Membership> find_membership(const fs::path& root) {
  std::optional<Membership> unified;
  for (const std::string& text : read_lines(root / "proc/self/cgroup")) {
    const auto line = parse_cgroup_line(text);
    if (!line) continue;
    if (lists_memory(line->controllers)) {
      return Membership{std::string(line->path), kVersion1, "sys/fs/cgroup/memory"};
    }
    if (line->controllers.empty()) {
      unified = Membership{std::string(line->path), kVersion2, unified_mount(root)};
    }
  }
  return unified;
}

// Inside a container the path often is the host's, while only the container's own cgroup is
// mounted; and a path with `..` leads out of the cgroup namespace. Both name nothing below the
// mount, whose top directory then is the closest cgroup that can be seen.
bool is_below_mount(const fs::path& root, const Membership& membership) {
  const fs::path relative = fs::path(membership.cgroup).relative_path();
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) return false;
  std::error_code error;
  return fs::is_directory(root / membership.mount / relative, error);
}

std::optional<CgroupLimit> read_limit(const fs::path& directory, const FileNames& names) {
  const auto limit_bytes = read_integer<std::uint64_t>(directory / names.limit);
  const auto usage_bytes = read_integer<std::uint64_t>(directory / names.usage);
  if (!limit_bytes || !usage_bytes || *limit_bytes >= kNoLimitBytes) return std::nullopt;
  // Without statistics nothing is known to be reclaimable: the limit stands, with less room.
  const auto text = find_value(directory / "memory.stat", names.reclaimable);
  const auto reclaimable_bytes = text ? parse_integer<std::uint64_t>(*text) : std::nullopt;
  // The three files are read one after another and need not agree.
  const auto held_bytes = *usage_bytes - std::min(*usage_bytes, reclaimable_bytes.value_or(0));
  const auto free_bytes = *limit_bytes - std::min(*limit_bytes, held_bytes);
  return CgroupLimit{"", "", free_bytes};
}

// The cgroup and its ancestors as paths relative to the mount, outermost (empty) first.
std::vector<fs::path> levels_of(const std::string& cgroup) {
  std::vector<fs::path> levels;
  fs::path level = fs::path(cgroup).relative_path();
  for (; !level.empty(); level = level.parent_path()) levels.push_back(level);
  levels.emplace_back();
  std::reverse(levels.begin(), levels.end());
  return levels;
}

}  // namespace

HugePages huge_pages(const fs::path& root) {
  constexpr std::uint64_t kBytesPerUnit = 1024;  // the line reads `Hugepagesize:   2048 kB`
  const fs::path file = root / "proc/meminfo";
  const std::uint64_t free = number_at(file, "HugePages_Free");
  const std::uint64_t promised = number_at(file, "HugePages_Rsvd");
  return {number_at(file, "Hugepagesize") * kBytesPerUnit, number_at(file, "HugePages_Total"),
          free > promised ? free - promised : 0};
}

FreeMemory free_memory(const fs::path& root) {
  FreeMemory memory{available_bytes(root / "proc/meminfo"), std::nullopt, "/proc/meminfo"};
  if (const auto limit = tightest_memory_limit(root)) {
    memory.cgroup_bytes = limit->free_bytes;
    if (limit->free_bytes < memory.machine_bytes) memory.source = limit->file;
  }
  return memory;
}

std::string memory_cgroup(const fs::path& root) {
  const auto membership = find_membership(root);
  return membership ? membership->cgroup : std::string();
}

std::optional<CgroupLimit> tightest_memory_limit(const fs::path& root) {
  const auto membership = find_membership(root);
  if (!membership) return std::nullopt;
  const bool below_mount = is_below_mount(root, *membership);
  std::optional<CgroupLimit> tightest;
  for (const fs::path& level : levels_of(below_mount ? membership->cgroup : "/")) {
    const fs::path directory = level.empty() ? membership->mount : membership->mount / level;
    auto limit = read_limit(root / directory, membership->names);
    if (!limit || (tightest && tightest->free_bytes <= limit->free_bytes)) continue;
    limit->cgroup = below_mount ? "/" + level.string() : membership->cgroup;
    limit->file = "/" + (directory / membership->names.limit).string();
    tightest = std::move(limit);
  }
  return tightest;
}

}  // namespace fabricbench::host
