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
#include "common/record/row.h"

namespace fabricbench {

enum class CopyKind {
  kHostToDevice,
  kDeviceToHost,
  kBothWays,        ///< the two directions above at once
  kDeviceToDevice,  ///< within the memory of one GPU
  kPeer             ///< from one GPU to another
};

/// As spelled in JSON and CSV.
constexpr auto names_of(CopyKind) {
  return std::to_array<std::string_view>({"host_to_device", "device_to_host", "both_ways", "device_to_device", "peer"});
}
/// As spelled in the table, such as `H->D`.
[[nodiscard]] constexpr std::string_view short_name(CopyKind kind) {
  constexpr std::string_view kNames[] = {"H->D", "D->H", "H<->D", "D->D", "peer"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// The upper bound of a copy's bandwidth.
struct CopyBound {
  double bytes_per_s = 0;  ///< 0: unknown
  std::string by;          ///< such as `PCIe 32 GT/s x16`
};

/// One GPU of a host.
struct CopyGpu {
  int device = 0;  ///< CUDA's number in the process that measured it
  std::string pci;
  std::string model;
  std::optional<int> numa_node;
};

/// The results of one copy at one size. Data only; sinks format it.
struct CopyRow {
  std::string host;
  CopyGpu gpu;  ///< the GPU that copies; of a peer copy, the sender
  CopyKind kind = CopyKind::kHostToDevice;
  std::optional<int> memory_node;  ///< NUMA node of the host's memory; empty: any, or no host memory is involved
  std::optional<CopyGpu> peer;     ///< the receiver of a peer copy
  bool over_host = false;          ///< a peer copy through host memory, because the GPUs cannot reach each other
  Bytes size = 0;
  Summary summary;                 ///< of the time to copy `size` bytes
  double bandwidth = 0;            ///< bytes per second; for both ways, the sum of the directions
  std::vector<double> directions;  ///< both ways: bytes per second to the device and back; else empty
  CopyBound bound;
  std::optional<std::uint64_t> wrong;         ///< wrong bytes; empty: unchecked
  std::string first_wrong;                    ///< place, expected value and found value
  std::optional<Comparison> peer_comparison;  ///< of the receiver of a peer copy
  Comparison comparison;                      ///< with the same copies on other GPUs
  bool cut_short = false;                     ///< the run ended before all epochs were measured

  [[nodiscard]] double of_bound() const { return bound.bytes_per_s > 0 ? bandwidth / bound.bytes_per_s : 0; }
  [[nodiscard]] double of_others() const { return comparison.others > 0 ? comparison.own / comparison.others : 0; }
};

template <typename Visitor, record::Of<CopyGpu> Record>
void describe(Visitor& visitor, Record& gpu) {
  using namespace record;
  visitor.part("copy_gpu", "One GPU of a host");
  visitor("device", natural(gpu.device), "CUDA's number in the measuring process");
  visitor("pci", gpu.pci, "its address");
  visitor("model", gpu.model, "name of the GPU model");
  visitor("numa_node", gpu.numa_node, "null: unknown");
}

template <typename Visitor, record::Of<CopyRow> Record>
void describe(Visitor& visitor, Record& row) {
  using namespace record;
  auto& summary = row.summary;
  visitor.line("copy", "Instead of rows, for copies within hosts");
  visitor("host", row.host, "host of the GPU");
  visitor("gpu", row.gpu, "GPU that copies; between GPUs, the sender");
  visitor("copy", row.kind, "direction of the copy");
  visitor("memory_node", row.memory_node, "NUMA node of the host's memory; null: any node, or no host memory involved");
  visitor("peer", row.peer, "receiving GPU of a copy between GPUs; else null");
  visitor("over_host", row.over_host, "whether a copy between GPUs passes through host memory");
  visitor("size_bytes", natural(row.size), "size of a copy");
  visitor("time_us_median", us(summary.median),
          "time of a copy, median over epochs; for both ways, a sample is a visit");
  visitor("time_us_interval", summary.interval, "interval of that median; null with fewer than 6 epochs");
  visitor("time_us_min", us(summary.min), "shortest sample");
  visitor("time_us_max", us(summary.max), "longest sample");
  visitor("epochs", natural(summary.epochs), "number of epochs with samples");
  visitor("samples", natural(summary.samples), "samples over all epochs");
  visitor("bandwidth_gb_per_s", gb_per_s(row.bandwidth), "bandwidth; for both ways, the sum of the directions");
  visitor("directions_gb_per_s", null_if_none(gb_per_s(row.directions)), "both ways: bandwidth to the GPU and back");
  visitor("bound_gb_per_s", null_if_none(gb_per_s(row.bound.bytes_per_s)),
          "upper bound of the bandwidth; null: unknown");
  visitor("bound_by", null_if_none(row.bound.by),
          "cause of that bound, such as `PCIe 32 GT/s x16`, `NVLink` or `memory`");
  visitor("others_gb_per_s", null_if_none(gb_per_s(row.comparison.others)),
          "median of the other GPUs that this one was compared with; null: none");
  visitor("across_hosts", row.comparison.across_hosts, "whether these include GPUs of other hosts");
  visitor("standing", row.comparison.status, "standing of this GPU among them; undecided: one of two that differ");
  visitor.derived("peer_standing", row.peer_comparison ? std::optional(row.peer_comparison->status) : std::nullopt,
                  "the same for the receiving GPU; null without one");
  visitor("wrong_elements", row.wrong, "wrong bytes; null: unchecked");
  visitor("cut_short", left_out_if_none(row.cut_short),
          "true: the run ended before the row was complete; its figures are of the epochs finished until then");
  visitor.internal(row.first_wrong);
}

}  // namespace fabricbench
