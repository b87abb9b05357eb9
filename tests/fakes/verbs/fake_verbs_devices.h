// Devices that libibverbs seems to have: a test program with fake_verbs_devices.cpp has functions of libibverbs of its
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
  std::vector<ibv_gid_entry> gids;                   // zero ones are listed too, as some drivers do
  std::vector<std::uint16_t> partitions = {0xffff};  // keys, of every port
  int open_error = 0;
  int query_error = 0;
  int port_error = 0;   // of ibv_query_port, as where the firmware no longer answers
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
