#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/outlier_detection.h"
#include "common/core/statistics.h"
#include "common/core/units.h"
#include "common/record/field.h"
#include "common/record/interval.h"

namespace fabricbench {

enum class CopyKind {
  kHostToDevice,
  kDeviceToHost,
  kBothWays,        ///< both of these at once
  kDeviceToDevice,  ///< within the memory of one GPU
  kPeer             ///< from one GPU to another
};

/// As JSON and CSV spell them.
constexpr auto names_of(CopyKind) {
  return std::to_array<std::string_view>({"host_to_device", "device_to_host", "both_ways", "device_to_device", "peer"});
}
/// As the table spells it, such as `H->D`.
[[nodiscard]] std::string_view short_name(CopyKind kind);

/// What a copy cannot be faster than.
struct CopyBound {
  double bytes_per_s = 0;  ///< 0: not known
  std::string by;          ///< such as `PCIe 32 GT/s x16`
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
  Summary summary;                 ///< of the time in which `size` bytes are copied
  double bandwidth = 0;            ///< bytes per second; both ways: of both directions together
  std::vector<double> directions;  ///< both ways: bytes per second to the device, and back; else empty
  CopyBound bound;
  std::optional<std::uint64_t> wrong;         ///< wrong bytes; nothing where unchecked
  std::string first_wrong;                    ///< where, what was expected and what was there
  std::optional<Comparison> peer_comparison;  ///< of a peer copy, of the GPU that receives
  Comparison comparison;                      ///< with the same copies of other GPUs

  [[nodiscard]] double of_bound() const { return bound.bytes_per_s > 0 ? bandwidth / bound.bytes_per_s : 0; }
  [[nodiscard]] double of_others() const { return comparison.others > 0 ? comparison.own / comparison.others : 0; }
};

template <typename Form, record::Of<CopyGpu> Record>
void describe(Form& form, Record& gpu) {
  using namespace record;
  form.part("copy_gpu", "One GPU of a host");
  form("device", natural(gpu.device), "CUDA's number in the process that measured it");
  form("pci", gpu.pci, "its address");
  form("model", gpu.model, "");
  form("numa_node", gpu.numa_node, "null: not known");
}

template <typename Form, record::Of<CopyRow> Record>
void describe(Form& form, Record& row) {
  using namespace record;
  auto& summary = row.summary;
  form.line("copy", "Of copies within hosts, in the place of rows");
  form("host", row.host, "");
  form("gpu", row.gpu, "the GPU that copies; between GPUs, the one that sends");
  form("copy", row.kind, "");
  form("memory_node", row.memory_node, "NUMA node of the host's memory; null: anywhere, or the host takes no part");
  form("peer", row.peer, "the GPU that receives; null of other kinds");
  form("over_host", row.over_host, "whether a copy between GPUs goes over the host's memory");
  form("size_bytes", natural(row.size), "of a copy");
  form("time_us_median", us(summary.median), "of a copy, the median over epochs; both ways, a sample is a visit");
  form("time_us_interval", summary.interval, "of that median; null with fewer than 6 epochs");
  form("time_us_min", us(summary.min), "");
  form("time_us_max", us(summary.max), "");
  form("epochs", natural(summary.epochs), "");
  form("samples", natural(summary.samples), "");
  form("bandwidth_gb_per_s", gb_per_s(row.bandwidth), "both ways, of both directions together");
  form("directions_gb_per_s", null_if_none(gb_per_s(row.directions)), "both ways: to the GPU, and back");
  form("bound_gb_per_s", null_if_none(gb_per_s(row.bound.bytes_per_s)),
       "what it cannot be faster than; null: not known");
  form("bound_by", null_if_none(row.bound.by), "what sets that, such as `PCIe 32 GT/s x16`, `NVLink` or `memory`");
  form("others_gb_per_s", null_if_none(gb_per_s(row.comparison.others)),
       "the median of the other GPUs that this one was compared with; null: there are none");
  form("across_hosts", row.comparison.across_hosts, "whether they are of other hosts too");
  form("standing", row.comparison.status, "of this GPU among them; undecided: one of two that differ");
  form.derived("peer_standing", row.peer_comparison ? std::optional(row.peer_comparison->status) : std::nullopt,
               "the same of the GPU that receives; null where none does");
  form("wrong_elements", row.wrong, "wrong bytes; null where unchecked");
  form.hidden(row.first_wrong);
}

}  // namespace fabricbench
