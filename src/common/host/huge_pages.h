// The huge pages that the kernel has set aside, of its usual huge size. Not from hwloc, which does not tell how many of
// them are free.
#pragma once

#include <cstdint>
#include <filesystem>

namespace fabricbench::host {

struct HugePages {
  std::uint64_t page_bytes = 0;  // 0: this kernel has none
  std::uint64_t total = 0;       // set aside: vm.nr_hugepages
  std::uint64_t free = 0;        // of these, neither in use nor reserved
};

// Reads Hugepagesize and HugePages_* of /proc/meminfo; missing values count as 0. `root` stands for `/`. Source:
// Documentation/admin-guide/mm/hugetlbpage.rst.
[[nodiscard]] HugePages huge_pages(const std::filesystem::path& root = "/");

}  // namespace fabricbench::host
