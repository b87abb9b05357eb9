// What hwloc hands out, each with its owner. Private to this directory.
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>
#include <string_view>

namespace fabricbench::host {

struct HwlocDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};

using TopologyHandle = std::unique_ptr<hwloc_topology, HwlocDeleter>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, HwlocDeleter>;

// Throws std::runtime_error that names the call and says what errno means where the status is negative.
void check_hwloc(int status, std::string_view call);

// The whole machine without I/O devices, which takes milliseconds. Throws std::runtime_error.
[[nodiscard]] TopologyHandle load_machine();

// The numbers of a list such as `0-3,8`; none where it is no such list. Throws std::bad_alloc.
[[nodiscard]] Bitmap bitmap_of(std::string_view list);

// Such a list of the numbers of a bitmap. Throws std::runtime_error.
[[nodiscard]] std::string list_of(hwloc_const_bitmap_t bitmap);

}  // namespace fabricbench::host
