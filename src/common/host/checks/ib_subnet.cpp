#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"
#include "common/host/checks/settings.h"

#include <charconv>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// `0x1b`. Throws NotSeen.
unsigned hexadecimal(Look& host, const std::string& file) {
  const std::string text = host.text(file);
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const bool has_prefix = text.starts_with("0x");
  if (!has_prefix || std::from_chars(text.data() + 2, end, value, 16).ptr != end) {
    throw NotSeen(file, fmt::format("'{}' is not a hexadecimal number", text));
  }
  return value;
}

void look_at_lid(Look& host, const RdmaPort& port, const std::string& name, const std::string& consequence) {
  if (hexadecimal(host, fmt::format("{}/{}", port.folder(), name)) != 0) return;
  host.report({.level = CheckLevel::kFailure,
               .device = port.name(),
               .measured = fmt::format("{} is 0", name),
               .expected = "a number above 0",
               .expected_by = "the subnet manager, which gives one to each active port",
               .consequence = consequence,
               .next = "sminfo; is opensm or UFM running on this fabric?"});
}

/// Two limited members of a partition cannot reach each other.
void look_at_partition(Look& host, const RdmaPort& port, const std::string& board) {
  const std::string index = find_nccl_setting(host, "NCCL_IB_PKEY").value_or(Setting{"0", ""}).value;
  const unsigned key = hexadecimal(host, fmt::format("{}/pkeys/{}", port.folder(), index));
  host.state({.key = "pkey", .among = board, .device = port.name(), .value = fmt::format("{:#06x}", key)});
  constexpr unsigned kFullMember = 0x8000;
  if ((key & kFullMember) != 0) return;
  host.report({.level = CheckLevel::kFailure,
               .device = port.name(),
               .measured = key == 0 ? fmt::format("no partition key at index {}", index)
                                    : fmt::format("limited member of partition {:#06x}", key),
               .expected = "a full member",
               .expected_by = fmt::format("the partition key at index {}, which NCCL and MPI use", index),
               .consequence = "hosts that are limited members cannot reach each other, and jobs hang",
               .next = "partitions.conf of the subnet manager; NCCL_IB_PKEY takes another index",
               .only_between_hosts = true});
}

void look_at_subnet(Look& host, const RdmaPort& port) {
  const std::string file = port.folder() + "/sm_lid";
  host.attempt([&] { look_at_lid(host, port, "lid", "no packet reaches the port"); });
  host.attempt([&] {
    look_at_lid(host, port, "sm_lid", "no subnet manager is known: routes are not repaired, connections may fail");
    host.state({.key = "sm_lid", .among = port.name(), .device = port.name(), .value = host.text(file)});
  });
  look_at_partition(host, port, board_of(host, port.device));
}

}  // namespace

Check ib_subnet_check() {
  return {.name = "ib_subnet",
          .what = "Active InfiniBand ports have a LID, one subnet manager, and full membership of one partition.",
          .reads = "/sys/class/infiniband/*/ports/*/{lid,sm_lid,pkeys}, NCCL_IB_PKEY",
          .absent = no_infiniband_port,
          .look =
              [](Look& host) {
                each_active_port(host, "InfiniBand", [&](const RdmaPort& port) { look_at_subnet(host, port); });
              },
          .compared = {{.key = "pkey",
                        .title = "partition key in use",
                        .level = CheckLevel::kFailure,
                        .consequence = "ports of different partitions cannot reach each other, and jobs hang",
                        .next = "partitions.conf of the subnet manager; NCCL_IB_PKEY"},
                       {.key = "sm_lid",
                        .title = "LID of the subnet manager",
                        .consequence = "two subnet managers serve one rail, or the rail is two fabrics",
                        .next = "sminfo on a host of each kind"}}};
}

}  // namespace fabricbench::host
