#include "common/host/hwloc_handles.h"

#include <cerrno>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>

namespace fabricbench::host {

void check_hwloc(int status, std::string_view call) {
  if (status >= 0) return;
  throw std::runtime_error("hwloc: " + std::string(call) + ": " + std::generic_category().message(errno));
}

TopologyHandle load_machine() {
  hwloc_topology_t machine = nullptr;
  check_hwloc(hwloc_topology_init(&machine), "hwloc_topology_init");
  TopologyHandle owner(machine);
  check_hwloc(hwloc_topology_set_flags(machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED), "hwloc_topology_set_flags");
  check_hwloc(hwloc_topology_load(machine), "hwloc_topology_load");
  return owner;
}

Bitmap bitmap_of(std::string_view list) {
  Bitmap bitmap(hwloc_bitmap_alloc());
  if (!bitmap) throw std::bad_alloc();
  if (hwloc_bitmap_list_sscanf(bitmap.get(), std::string(list).c_str()) != 0) hwloc_bitmap_zero(bitmap.get());
  return bitmap;
}

std::string list_of(hwloc_const_bitmap_t bitmap) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  char* list = nullptr;
  check_hwloc(hwloc_bitmap_list_asprintf(&list, bitmap), "hwloc_bitmap_list_asprintf");
  const std::unique_ptr<char, Free> owner(list);
  return list;
}

}  // namespace fabricbench::host
