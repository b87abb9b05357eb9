#include "common/backends/verbs/device.h"

#include <endian.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/backends/verbs/explain.h"
#include "common/core/clock.h"
#include "common/core/directory.h"
#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

constexpr unsigned kPartition = 0x7fff;  // the bits of a key that tell partitions apart

namespace fs = std::filesystem;

/// An open device and its attributes.
struct DeviceQuery {
  DeviceContext context;
  ibv_device_attr limits{};
  std::vector<ibv_port_attr> ports;  // from port 1 on
  DeviceState state;
};

std::string first_line(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

bool is_ethernet(const ibv_port_attr& port) { return port.link_layer == IBV_LINK_LAYER_ETHERNET; }

bool is_of_other_layer(const ibv_port_attr& port) { return port.link_layer == IBV_LINK_LAYER_UNSPECIFIED; }

double rate_of(const ibv_port_attr& port, const fs::path& sysfs) {
  return port_rate(speed_code(port.active_speed, first_line(sysfs / "rate")), port.active_width, is_ethernet(port));
}

fs::path sysfs_of(const ibv_device& device, int port) {
  return fs::path(device.ibdev_path) / "ports" / std::to_string(port);
}

void read_attributes(DeviceQuery& found) {
  check_returned(ibv_query_device(found.context.get(), &found.limits), "ibv_query_device");
  for (int number = 1; number <= found.limits.phys_port_cnt; ++number) {
    ibv_port_attr port{};
    check_returned(ibv_query_port(found.context.get(), static_cast<std::uint8_t>(number), &port), "ibv_query_port");
    found.ports.push_back(port);
    found.state.ports.push_back({number, port.state, port.phys_state, is_ethernet(port),
                                 rate_of(port, sysfs_of(*found.context->device, number)), is_of_other_layer(port)});
  }
}

/// A device that fails is refused: the others of its host, and those of other hosts, may still be good.
DeviceQuery query(ibv_device* device) {
  DeviceQuery found;
  found.state.name = ibv_get_device_name(device);
  if (device->transport_type == IBV_TRANSPORT_IWARP) {
    found.state.refusal = "is an iWARP device, whose queue pairs only rdma_cm connects; take an InfiniBand or RoCE one";
    return found;
  }
  // Source: Documentation/ABI/testing/sysfs-bus-pci of Linux.
  found.state.virtual_function = fs::exists(fs::path(device->ibdev_path) / "device/physfn");
  found.context.reset(ibv_open_device(device));
  if (!found.context) {
    found.state.refusal = fmt::format("cannot be opened: {}", explain_call("ibv_open_device", errno));
    return found;
  }
  try {
    read_attributes(found);
  } catch (const Error& error) {
    found.state.refusal = fmt::format("does not answer: {}", error.what());
    found.state.ports.clear();
    found.context.reset();
  }
  return found;
}

GidType gid_type(std::uint32_t type) {
  if (type == IBV_GID_TYPE_ROCE_V2) return GidType::kRoceV2;
  return type == IBV_GID_TYPE_ROCE_V1 ? GidType::kRoceV1 : GidType::kInfiniBand;
}

Gid gid_from(int index, GidType type, const ibv_gid& raw) {
  Gid gid{index, type, {}};
  std::copy(std::begin(raw.raw), std::end(raw.raw), gid.raw.begin());
  return gid;
}

bool is_zero(const ibv_gid& gid) {
  return std::all_of(std::begin(gid.raw), std::end(gid.raw), [](std::uint8_t byte) { return byte == 0; });
}

// One entry at a time, for kernels and drivers that cannot return the whole table.
std::vector<Gid> read_gids_singly(const DeviceQuery& device, int port) {
  const ibv_port_attr& facts = device.ports.at(static_cast<std::size_t>(port - 1));
  const fs::path types = sysfs_of(*device.context->device, port) / "gid_attrs/types";
  std::vector<Gid> gids;
  for (int index = 0; index < facts.gid_tbl_len; ++index) {
    ibv_gid raw{};
    if (ibv_query_gid(device.context.get(), static_cast<std::uint8_t>(port), index, &raw) != 0 || is_zero(raw))
      continue;
    GidType type = GidType::kInfiniBand;
    if (is_ethernet(facts)) {  // the kernel reports both versions as `IB/RoCE v1`
      type = first_line(types / std::to_string(index)) == "RoCE v2" ? GidType::kRoceV2 : GidType::kRoceV1;
    }
    gids.push_back(gid_from(index, type, raw));
  }
  return gids;
}

std::vector<Gid> read_gids(const DeviceQuery& device, int port) {
  std::size_t most = 0;  // size of the table over all ports
  for (const ibv_port_attr& one : device.ports) most += static_cast<std::size_t>(std::max(one.gid_tbl_len, 0));
  std::vector<ibv_gid_entry> entries(most);
  const auto count = ibv_query_gid_table(device.context.get(), entries.data(), entries.size(), 0);
  if (count < 0) return read_gids_singly(device, port);
  entries.resize(static_cast<std::size_t>(count));
  std::vector<Gid> gids;
  for (const ibv_gid_entry& entry : entries) {
    if (entry.port_num != static_cast<std::uint32_t>(port) || is_zero(entry.gid)) continue;
    gids.push_back(gid_from(static_cast<int>(entry.gid_index), gid_type(entry.gid_type), entry.gid));
  }
  return gids;
}

PartitionTable read_partitions(ibv_context* device, int port, int entries) {
  PartitionTable keys;
  for (int index = 0; index < entries; ++index) {
    __be16 key = 0;
    if (ibv_query_pkey(device, static_cast<std::uint8_t>(port), index, &key) != 0) break;
    keys.push_back(be16toh(key));
  }
  while (!keys.empty() && keys.back() == 0) keys.pop_back();
  return keys;
}

bool is_x86() {
  utsname system{};
  return uname(&system) == 0 && std::string_view(system.machine) == "x86_64";
}

std::string driver_of(const fs::path& device) {
  std::error_code error;
  return fs::read_symlink(device / "device/driver", error).filename();
}

PortFacts facts_of(const DeviceQuery& device, int number) {
  const ibv_port_attr& port = device.ports.at(static_cast<std::size_t>(number - 1));
  PortFacts facts;
  facts.device = device.state.name;
  facts.port = number;
  facts.active = port.state == IBV_PORT_ACTIVE;
  facts.state = name(port.state);
  facts.ethernet = is_ethernet(port);
  facts.other_layer = is_of_other_layer(port);
  facts.lid = port.lid;
  facts.mtu = 128 << port.active_mtu;  // Source: enum ibv_mtu, where 1 is 256
  facts.largest_message = port.max_msg_sz;
  const fs::path sysfs = sysfs_of(*device.context->device, number);
  facts.rate = rate_of(port, sysfs);
  facts.rate_text = first_line(sysfs / "rate");
  facts.most_outstanding = std::min(device.limits.max_qp_rd_atom, device.limits.max_qp_init_rd_atom);
  facts.atomics = device.limits.atomic_cap != IBV_ATOMIC_NONE;
  facts.most_requests = device.limits.max_qp_wr;
  facts.most_completions = device.limits.max_cqe;
  facts.most_shared_queues = device.limits.max_srq;
  facts.most_shared_receives = device.limits.max_srq_wr;
  facts.needs_global_route = facts.other_layer || (port.flags & IBV_QPF_GRH_REQUIRED) != 0;
  facts.partitions = read_partitions(device.context.get(), number, port.pkey_tbl_len);
  facts.driver = driver_of(device.context->device->ibdev_path);
  facts.tells_order = is_x86() && facts.driver == "mlx5_core";
  facts.gids = read_gids(device, number);
  if (facts.other_layer) {
    for (Gid& gid : facts.gids) gid.type = GidType::kOther;
  }
  return facts;
}

/// The devices of this host; those that can be opened stay open while this lives.
class Devices {
 public:
  Devices() {
    errno = 0;
    list_.reset(ibv_get_device_list(&count_));
    if (!list_ || count_ == 0) throw Error(ExitStatus::kMissing, why_no_device(list_ ? 0 : errno));
  }

  [[nodiscard]] std::vector<ibv_device*> all() const { return {list_.get(), list_.get() + count_}; }

  [[nodiscard]] std::vector<ibv_device*> named(const std::string& asked) const {
    std::string names;
    for (ibv_device* device : all()) {
      if (asked == ibv_get_device_name(device)) return {device};
      names += fmt::format("{}{}", names.empty() ? "" : ", ", ibv_get_device_name(device));
    }
    const bool several = asked.find(',') != std::string::npos;
    throw Error(ExitStatus::kMissing,
                fmt::format("there is no RDMA device '{}'; choose one of: {}{}", asked, names,
                            several ? "; --devices takes several, one for each rank of a host" : ""));
  }

 private:
  int count_ = 0;
  DeviceList list_;
};

// What to check if a port does not come up. Source of the physical states: InfiniBand specification 14.2.5.6.
const char* advice(const PortState& port) {
  constexpr int kPolling = 2;
  constexpr int kDisabled = 3;
  if (port.ethernet)
    return "set its network interface up (rdma link tells its NAME; ip link set dev NAME up), and check the cable "
           "and the switch";
  if (port.state == IBV_PORT_INIT || port.state == IBV_PORT_ARMED) {
    return "the link is up, but no subnet manager has configured it; start one (opensm), or check the running one";
  }
  if (port.physical_state == kDisabled) return "it is disabled; enable it (ibportstate)";
  if (port.physical_state == kPolling) return "no link partner answers; check the cable and the switch's port";
  return "check the cable, the switch's port and ibstat";
}

constexpr const char* kMakeOne =
    "load its driver (modprobe mlx5_ib and ib_uverbs), or create a software device on a network interface (modprobe "
    "rdma_rxe; rdma link add rxe0 type rxe netdev NAME)";

}  // namespace

bool hear_each_other(std::uint16_t first, std::uint16_t second) {
  const bool same = ((first ^ second) & kPartition) == 0 && (first & kPartition) != 0;
  return same && ((first | second) & kFullMember) != 0;
}

std::optional<PartitionPair> choose_partition(const PartitionTable& first, const PartitionTable& second,
                                              const std::optional<std::int64_t>& index) {
  if (index) {
    const auto place = static_cast<std::size_t>(*index);
    const int both = static_cast<int>(*index);
    if (first.empty() || second.empty()) return PartitionPair{both, both};
    if (place >= first.size() || place >= second.size()) return std::nullopt;
    if (!hear_each_other(first[place], second[place])) return std::nullopt;
    return PartitionPair{both, both, first[place]};
  }
  if (first.empty() || second.empty()) return PartitionPair{};
  std::optional<PartitionPair> found;
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (std::size_t j = 0; j < second.size(); ++j) {
      if (!hear_each_other(first[i], second[j])) continue;
      const bool is_default = (first[i] & kPartition) == kPartition;
      if (!found || is_default) found = PartitionPair{static_cast<int>(i), static_cast<int>(j), first[i]};
      if (is_default) return found;
    }
  }
  return found;
}

std::string describe(const PartitionTable& table) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] != 0) keys.push_back(fmt::format("{}: {:#06x}", i, table[i]));
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

bool is_efa(const PortFacts& port) { return port.driver == "efa"; }

const char* network_of(const PortFacts& port) {
  if (is_efa(port)) return "EFA";
  if (port.other_layer) return "unspecified link layer";
  return port.ethernet ? "RoCE" : "InfiniBand";
}

OpenDevice open_device(const std::string& device, int port) {
  const Devices devices;
  std::vector<DeviceState> seen;
  for (ibv_device* candidate : device.empty() ? devices.all() : devices.named(device)) {
    DeviceQuery found = query(candidate);
    const int number = active_port(found.state, port);
    if (number > 0) {
      PortFacts facts = facts_of(found, number);
      std::vector<UnusableDevice> passed_by;
      passed_by.reserve(seen.size());
      for (const DeviceState& each : seen) passed_by.push_back({each.name, why_unusable(each, port)});
      return {std::move(found.context), std::move(facts), std::move(passed_by)};
    }
    seen.push_back(std::move(found.state));
  }
  throw Error(ExitStatus::kMissing, why_none_active(seen, port));
}

void check_shared_receives(const PortFacts& port, int receives) {
  if (port.most_shared_queues == 0) {
    throw Error(ExitStatus::kMissing,
                fmt::format("--use-srq: {} has no shared receive queues (ibv_devinfo -v: max_srq); leave it out, or "
                            "choose another device with -d",
                            port.device));
  }
  if (receives <= port.most_shared_receives) return;
  throw UsageError(fmt::format("-r {}: a shared receive queue of {} has at most {} entries; lower it", receives,
                               port.device, port.most_shared_receives));
}

std::optional<ibv_port_state> current_state(const OpenDevice& device) {
  ibv_port_attr port{};
  if (ibv_query_port(device.context.get(), static_cast<std::uint8_t>(device.port.port), &port) != 0) {
    return std::nullopt;
  }
  return port.state;
}

std::optional<ibv_port_state> stable_state(const OpenDevice& device) {
  constexpr Seconds kMoment = 0.5;
  constexpr Seconds kPause = 0.01;
  const Seconds until = now() + kMoment;
  std::optional<ibv_port_state> state = current_state(device);
  while (state == IBV_PORT_ACTIVE && now() < until) {
    sleep_for(kPause);
    state = current_state(device);
  }
  return state;
}

std::string own_port_text(const PortFacts& port, std::optional<ibv_port_state> state) {
  return fmt::format("{} port {} of this host is {}", port.device, port.port,
                     state ? name(*state) : "in an unknown state, because the device no longer answers");
}

double port_rate(int active_speed, int active_width, bool ethernet) {
  struct Lane {
    int code;
    double nominal;  // Gbit/s
    double coding;   // the fraction left for data
  };
  constexpr double k8b10b = 0.8;
  constexpr double k64b66b = 64.0 / 66;
  constexpr Lane kLanes[] = {{1, 2.5, k8b10b}, {2, 5, k8b10b}, {4, 10, k8b10b}, {8, 10, 1},   {16, 14.0625, k64b66b},
                             {32, 25, 1},      {64, 50, 1},    {128, 100, 1},   {256, 200, 1}};
  constexpr std::pair<int, int> kWidths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
  const auto* const lane =
      std::find_if(std::begin(kLanes), std::end(kLanes), [&](const Lane& known) { return known.code == active_speed; });
  const auto* const width = std::find_if(std::begin(kWidths), std::end(kWidths),
                                         [&](const auto& known) { return known.first == active_width; });
  if (lane == std::end(kLanes) || width == std::end(kWidths)) return 0;
  const double of_lane = ethernet ? lane->nominal : lane->nominal * lane->coding;
  return of_lane * width->second * 1e9 / 8;
}

int speed_code(int active_speed, std::string_view sysfs_rate) {
  constexpr int kXdr = 256;
  return sysfs_rate.find("XDR") != std::string_view::npos ? kXdr : active_speed;
}

std::vector<DeviceState> device_states() {
  const Devices devices;
  std::vector<DeviceState> states;
  for (ibv_device* device : devices.all()) states.push_back(query(device).state);
  return states;
}

int active_port(const DeviceState& device, int asked) {
  for (const PortState& port : device.ports) {
    const bool wanted = asked == 0 || port.number == asked;
    if (wanted && port.state == IBV_PORT_ACTIVE) return port.number;
  }
  return 0;
}

std::string why_unusable(const DeviceState& device, int asked) {
  if (!device.refusal.empty()) return "it " + device.refusal;
  std::vector<std::string> states;
  for (const PortState& port : device.ports) {
    if (asked == 0 || port.number == asked)
      states.push_back(fmt::format("port {} is {}", port.number, name(port.state)));
  }
  if (states.empty()) return fmt::format("it has {} port(s)", device.ports.size());
  return fmt::format("{}", fmt::join(states, ", "));
}

std::string why_none_active(const std::vector<DeviceState>& devices, int asked) {
  std::vector<std::string> states;
  std::string what_to_do;
  for (const DeviceState& device : devices) {
    if (!device.refusal.empty()) {
      states.push_back(fmt::format("{} {}", device.name, device.refusal));
      continue;
    }
    bool there = false;
    for (const PortState& port : device.ports) {
      if (asked != 0 && port.number != asked) continue;
      there = true;
      states.push_back(fmt::format("port {} of {} is {}", port.number, device.name, name(port.state)));
      if (what_to_do.empty()) what_to_do = fmt::format("; {}", advice(port));
    }
    if (!there) states.push_back(fmt::format("{} has {} port(s)", device.name, device.ports.size()));
  }
  return fmt::format("{}no RDMA port to use is ACTIVE: {}{}", asked == 0 ? "" : fmt::format("-i {}: ", asked),
                     fmt::join(states, ", "), what_to_do);
}

std::string why_no_device(int error, const fs::path& root) {
  const std::vector<std::string> known = names_in(root / "sys/class/infiniband");
  const bool files = fs::exists(root / "dev/infiniband");
  if (error == ENOSYS && known.empty()) {
    return fmt::format(
        "the kernel has no RDMA support (ENOSYS): its modules are not loaded, or it was built without; {}", kMakeOne);
  }
  if (error != 0 && error != ENOSYS) return explain_call("ibv_get_device_list", error);
  if (known.empty()) return fmt::format("no RDMA device: the kernel supports RDMA, but has none; {}", kMakeOne);
  const std::string names = fmt::format("{}", fmt::join(known, ", "));
  if (error == ENOSYS) {
    return fmt::format(
        "no RDMA device can be used: the kernel has {}, but not its module ib_uverbs (ENOSYS); load it "
        "(modprobe ib_uverbs)",
        names);
  }
  if (!files) {
    return fmt::format(
        "no RDMA device can be used: the kernel has {}, but there is no /dev/infiniband; start the "
        "container with --device=/dev/infiniband, or load the module ib_uverbs",
        names);
  }
  return fmt::format(
      "no RDMA device can be used: the kernel has {}, but libibverbs has no driver for it, or no file of "
      "it below /dev/infiniband; install ibverbs-providers (rdma-core)",
      names);
}

}  // namespace fabricbench::verbs
