#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/odd_one.h"
#include "common/core/statistics.h"
#include "common/core/units.h"

namespace fabricbench {

enum class CopyKind {
  kHostToDevice,
  kDeviceToHost,
  kBothWays,        ///< both of these at once
  kDeviceToDevice,  ///< within the memory of one GPU
  kPeer             ///< from one GPU to another
};

/// As JSON and CSV spell it, such as `host_to_device`.
[[nodiscard]] std::string_view name(CopyKind kind);
/// As the table spells it, such as `H->D`.
[[nodiscard]] std::string_view short_name(CopyKind kind);

/// What a copy cannot be faster than.
struct CopyBound {
  double bytes_per_s = 0;
  std::string by;  ///< such as `PCIe 32 GT/s x16`
};

/// One GPU of a host.
struct CopyGpu {
  int device = 0;  ///< CUDA's number in the process that measured it
  std::string pci;
  std::string model;
  std::optional<int> numa_node;
};

/// What was measured of one copy at one size. Data only; sinks give it form.
struct CopyRow {
  std::string host;
  CopyGpu gpu;  ///< of a peer copy, the one that sends
  CopyKind kind = CopyKind::kHostToDevice;
  std::optional<int> memory_node;  ///< the NUMA node of the host's memory; nothing: any, or the host takes no part
  std::optional<CopyGpu> peer;     ///< that receives
  bool over_host = false;          ///< a peer copy that goes over the host's memory: the GPUs cannot reach each other
  Bytes size = 0;
  Summary summary;                            ///< of the time in which `size` bytes are copied
  double bandwidth = 0;                       ///< bytes per second; both ways: of both directions together
  std::vector<double> directions;             ///< both ways: bytes per second to the device, and back; else empty
  std::optional<CopyBound> bound;             ///< nothing where it is not known
  std::optional<std::uint64_t> wrong;         ///< wrong bytes; nothing where unchecked
  std::string first_wrong;                    ///< where, what was expected and what was there
  std::optional<Comparison> peer_comparison;  ///< of a peer copy, of the GPU that receives
  Comparison comparison;                      ///< with the same copies of other GPUs

  [[nodiscard]] double of_bound() const { return bound ? bandwidth / bound->bytes_per_s : 0; }
  [[nodiscard]] double of_others() const { return comparison.others > 0 ? comparison.own / comparison.others : 0; }
};

}  // namespace fabricbench
