// The functions of libibverbs that find devices and look at them.

#include "fake_verbs_devices.h"

#include <endian.h>

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
  auto& one = fabricbench::test::fake_verbs().of(context);
  *reinterpret_cast<ibv_port_attr*>(attributes) = one.ports.at(static_cast<std::size_t>(port - 1));
  return one.port_error;
}

int(ibv_query_pkey)(ibv_context* context, std::uint8_t /*port*/, int index, __be16* key) {
  const auto& keys = fabricbench::test::fake_verbs().of(context).partitions;
  if (static_cast<std::size_t>(index) >= keys.size()) return -1;
  *key = htobe16(keys[static_cast<std::size_t>(index)]);
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
