#pragma once

#include <string>
#include <vector>

#include "common/core/units.h"

namespace fabricbench::nccl {

/// A process's use of its devices' memory, by purpose (-M): differences of free memory, which includes the use by
/// others.
class MemoryReport {
 public:
  /// Queries nothing and reports nothing unless `wanted`. Starts before the initialisation.
  MemoryReport(std::vector<int> devices, bool wanted);

  void end_initialisation();
  /// The free memory of each device now, for the two methods below.
  [[nodiscard]] std::vector<Bytes> free_now() const;
  void buffers_taken(const std::vector<Bytes>& free_before);
  void buffers_released(const std::vector<Bytes>& free_before);

  /// In nccl-tests' form: each figure is the largest over the process's devices, with buffers at their maximum.
  /// Collective is the memory taken after the initialisation, except for buffers.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<int> devices_;
  std::vector<Bytes> at_first_;
  std::vector<Bytes> after_initialisation_;
  std::vector<Bytes> in_buffers_;
  std::vector<Bytes> most_in_buffers_;
};

/// Three digits and B, KB, MB or GB in powers of 1024, as in nccl-tests.
[[nodiscard]] std::string memory_text(Bytes bytes);

}  // namespace fabricbench::nccl
