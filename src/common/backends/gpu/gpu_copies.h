#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/memory.h"
#include "common/core/ownership.h"
#include "common/core/units.h"
#include "common/record/copy_row.h"

// Copies between the GPUs and the memory of this process's host. A program is built with one of two implementations:
// the files beside this where CUDA and NCCL were found, or those in absent/, which says what to install. Nothing here
// is collective.
namespace fabricbench::gpu {

/// Why this process can copy nothing by a GPU: what is missing; empty where it can.
[[nodiscard]] std::string why_no_copies();

/// A GPU that this process sees.
struct SeenGpu {
  CopyGpu gpu;
  std::string uuid;  ///< tells whether two processes see the same one
};

/// In the order of CUDA's numbers.
[[nodiscard]] std::vector<SeenGpu> visible_gpus();

/// The driver's version, and that of CUDA.
[[nodiscard]] std::string copy_library();

/// What can be allocated on a GPU now. Takes some hundred MiB of it by itself. Throws Error.
[[nodiscard]] Bytes free_on(int device);

struct Copy {
  CopyKind kind = CopyKind::kHostToDevice;
  int device = 0;                  ///< CUDA's number of the GPU that copies
  std::optional<int> memory_node;  ///< one of CopyMemory::nodes, where the host takes part
  int peer = -1;                   ///< CUDA's number of the GPU that receives; -1: none does
};

/// Where copies begin and end.
struct CopyMemory {
  std::vector<int> devices;               ///< of GPUs that copy or receive
  std::vector<std::optional<int>> nodes;  ///< NUMA nodes of the host's memory; nothing: wherever the system puts it
  bool placed = false;                    ///< whether memory is to be asked for on those nodes
  Bytes size = 0;                         ///< of the largest copy
  Seconds limit = 0;                      ///< for one wait; 0: none
};

/// Buffers, and the copies between them. A method returns when its work is done. Throws Error; after a time-out, work
/// may still be under way that the destructor would wait for.
class GpuCopies : public InterfaceBase {
 public:
  /// Fills what the copy reads with the pattern, and what it writes with something else.
  virtual void prepare(const Copy& copy, Bytes size) = 0;
  /// Copies so often, one behind the other. How long each took, by the GPU's clock: a list for each direction.
  [[nodiscard]] virtual std::vector<std::vector<Seconds>> time_copies(const Copy& copy, Bytes size,
                                                                      std::int64_t times) = 0;
  /// Compares what was written since `prepare` with the pattern.
  [[nodiscard]] virtual std::optional<Mismatch> check(const Copy& copy, Bytes size) = 0;

  /// Whether a copy to a peer goes over the host's memory.
  [[nodiscard]] virtual bool over_host(const Copy& copy) const = 0;
  /// What the copy cannot be faster than, as far as it is known; of links that are slower while they are idle, as they
  /// ran during the copies so far.
  [[nodiscard]] virtual std::optional<CopyBound> bound(const Copy& copy) const = 0;
  /// What the user should know of the links, a line each.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

/// Allocates the buffers. Throws Error.
[[nodiscard]] std::unique_ptr<GpuCopies> open_copies(const CopyMemory& memory);

}  // namespace fabricbench::gpu
