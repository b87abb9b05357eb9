// The memory control group of this process and the limits it stands under. Private to this
// directory; memory.h and identity.h are the public faces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace fabricbench::host {

// One limit on memory that this process is subject to.
struct CgroupLimit {
  std::string cgroup;        // the limited group, as /proc/self/cgroup would name it
  std::string file;          // the file that states the limit, as an absolute path below the root
  std::uint64_t free_bytes;  // what may still be allocated before the limit is hit
};

// The memory cgroup of this process as /proc/self/cgroup names it, such as `/user.slice/job_7`;
// empty where the kernel has no cgroups.
[[nodiscard]] std::string memory_cgroup(const std::filesystem::path& root);

// Of the limits on this process's memory cgroup and on each of its ancestors, the one with the
// least room left; nothing where none is set. Among equals it is the outermost, which more
// processes share. A level whose files are missing or malformed counts as having no limit.
// Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux.
[[nodiscard]] std::optional<CgroupLimit> tightest_memory_limit(const std::filesystem::path& root);

}  // namespace fabricbench::host
