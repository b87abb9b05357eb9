// Devices that libibverbs seems to have: the test program that includes this, once, has functions of libibverbs of its
// own.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fabricbench::test {

struct FakeVerbsDevice {
  ibv_device device{};
  ibv_context context{};
  ibv_device_attr limits{};
  std::vector<ibv_port_attr> ports;
  std::vector<ibv_gid_entry> gids;  // zero ones are listed too, as some drivers do
  int open_error = 0;
  int query_error = 0;
  int table_error = 0;  // of ibv_query_gid_table
  int opened = 0;       // less closed
};

struct FakeVerbs {
  std::optional<int> list_error;  // 0: a list without devices
  std::deque<FakeVerbsDevice> devices;
  int lists = 0;  // less those that were freed

  FakeVerbsDevice& add(const std::string& name, const std::string& ibdev_path = "") {
    FakeVerbsDevice& added = devices.emplace_back();
    std::strncpy(added.device.name, name.c_str(), sizeof added.device.name - 1);
    std::strncpy(added.device.ibdev_path, ibdev_path.c_str(), sizeof added.device.ibdev_path - 1);
    added.device.transport_type = IBV_TRANSPORT_IB;
    added.context.device = &added.device;
    return added;
  }

  template <typename Handle>
  FakeVerbsDevice& of(const Handle* handle) {
    return *std::find_if(devices.begin(), devices.end(), [&](const FakeVerbsDevice& one) {
      return static_cast<const void*>(handle) == &one.device || static_cast<const void*>(handle) == &one.context;
    });
  }
};

/// What the functions below serve.
inline FakeVerbs& fake_verbs() {
  static FakeVerbs verbs;
  return verbs;
}

}  // namespace fabricbench::test

extern "C" {

// In parentheses, as verbs.h has macros of some of these names.
ibv_device**(ibv_get_device_list)(int* count) {
  auto& verbs = fabricbench::test::fake_verbs();
  *count = 0;
  errno = verbs.list_error.value_or(0);
  if (errno != 0) return nullptr;
  auto** const list = new ibv_device* [verbs.devices.size() + 1] {};
  for (auto& one : verbs.devices) list[(*count)++] = &one.device;
  ++verbs.lists;
  return list;
}

void(ibv_free_device_list)(ibv_device** list) {
  --fabricbench::test::fake_verbs().lists;
  delete[] list;
}

const char*(ibv_get_device_name)(ibv_device* device) { return device->name; }

ibv_context*(ibv_open_device)(ibv_device* device) {
  auto& one = fabricbench::test::fake_verbs().of(device);
  errno = one.open_error;
  if (errno != 0) return nullptr;
  ++one.opened;
  return &one.context;
}

int(ibv_close_device)(ibv_context* context) {
  --fabricbench::test::fake_verbs().of(context).opened;
  return 0;
}

int(ibv_query_device)(ibv_context* context, ibv_device_attr* limits) {
  auto& one = fabricbench::test::fake_verbs().of(context);
  *limits = one.limits;
  limits->phys_port_cnt = static_cast<std::uint8_t>(one.ports.size());
  return one.query_error;
}

// verbs.h hands its struct over as one of an older kind that it does not define.
int(ibv_query_port)(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attributes) {
  *reinterpret_cast<ibv_port_attr*>(attributes) =
      fabricbench::test::fake_verbs().of(context).ports.at(static_cast<std::size_t>(port - 1));
  return 0;
}

int(ibv_query_gid)(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  for (const ibv_gid_entry& entry : fabricbench::test::fake_verbs().of(context).gids) {
    if (entry.port_num != port || entry.gid_index != static_cast<std::uint32_t>(index)) continue;
    *gid = entry.gid;
    return 0;
  }
  return -1;
}

ssize_t(_ibv_query_gid_table)(ibv_context* context, ibv_gid_entry* entries, std::size_t most, std::uint32_t /*flags*/,
                              std::size_t /*entry_size*/) {
  auto& one = fabricbench::test::fake_verbs().of(context);
  if (one.table_error != 0) return -one.table_error;
  if (one.gids.size() > most) return -EINVAL;  // as the kernel does
  std::copy(one.gids.begin(), one.gids.end(), entries);
  return static_cast<ssize_t>(one.gids.size());
}

}  // extern "C"
