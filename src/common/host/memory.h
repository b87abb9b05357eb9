// How much memory this process may still allocate, and the control group that limits it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace fabricbench::host {

// The huge pages that the kernel has set aside, of its usual huge size. Not from hwloc, which does not tell how many of
// them are free.
struct HugePages {
  std::uint64_t page_bytes = 0;  // 0: this kernel has none
  std::uint64_t total = 0;       // set aside: vm.nr_hugepages
  std::uint64_t free = 0;        // of these, neither in use nor reserved
};

// Reads Hugepagesize and HugePages_* of /proc/meminfo; missing values count as 0. `root` stands for `/`. Source:
// Documentation/admin-guide/mm/hugetlbpage.rst.
[[nodiscard]] HugePages huge_pages(const std::filesystem::path& root = "/");

// Both figures count every process that shares the machine or the cgroup, not one rank's share:
// divide by the ranks of identity.h's memory_domain() and cgroup_domain().
struct FreeMemory {
  // What the kernel estimates can be had without swapping.
  std::uint64_t machine_bytes;
  // The room left below the tightest cgroup limit; none where nothing is limited.
  std::optional<std::uint64_t> cgroup_bytes;
  // The file that states the smaller of the two, such as `/proc/meminfo`.
  std::string source;
};

// Reads MemAvailable of /proc/meminfo, and of the memory cgroup and all its ancestors the smallest
// limit - usage + inactive file pages (which the kernel drops first), for cgroup versions 1 and 2.
// A cgroup whose files are missing or malformed counts as unlimited. `root` is the directory that
// stands for `/`. Throws std::runtime_error, with the path, where MemAvailable cannot be read.
// Source: proc_meminfo(5), Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
[[nodiscard]] FreeMemory free_memory(const std::filesystem::path& root = "/");

// One limit on memory that this process is subject to. This and what follows is for identity.h.
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
