// Where a rank's RDMA device is in its host, and whether the rank runs near it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/rdma_options.h"
#include "common/host/pci.h"
#include "common/host/topology.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// What was done about the place of a rank.
enum class Move {
  kNone,     ///< nothing had to be, or could be done
  kThreads,  ///< its threads run on the node now, and its memory comes from where they run
  kBoth      ///< its threads run there, and its memory comes from there
};

/// One rank and its device.
struct AdapterAffinity {
  int rank = 0;
  std::string host;
  std::string device;
  std::optional<int> adapter_node{};  ///< empty if the kernel gives none
  host::PciLinks links{};
  std::optional<int> wanted_node{};                         ///< where the rank should be; empty: anywhere
  host::NodeBinding binding = host::NodeBinding::kUnknown;  ///< before the move, relative to `wanted_node`
  std::string processors{};                                 ///< that it may run on, before the move, such as 0-15
  Move move = Move::kNone;
};

/// Such as `mlx5_0 on NUMA node 1, PCIe 32 GT/s x16; threads and host buffers moved there`. Ranks with the same text
/// share a line of the banner.
[[nodiscard]] std::string text_of(const AdapterAffinity& place);

/// What makes this rank slow, a sentence each, with rank, host and remedy: a PCI Express link below what the device can
/// do or above it, and a rank that its launcher has bound to other NUMA nodes.
[[nodiscard]] std::vector<std::string> warnings_of(const AdapterAffinity& place);

/// A process that stays near its device while this lives.
struct ProcessBinding {
  std::unique_ptr<host::NearNode> near{};
  std::vector<std::string> notices{};  ///< the same on every process
};

/// Moves this process's threads and memory as --numa says, but never to processors on which its launcher does not let
/// it run. `device`: empty if the process uses none. Collective over the job. Throws UsageError, the same on every
/// process, for a node that a host does not have.
[[nodiscard]] ProcessBinding bind_near_device(const mpi::Communicator& job, const std::string& host,
                                              const std::string& device, const RdmaOptions& options);

}  // namespace fabricbench
