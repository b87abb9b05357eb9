#pragma once

#include <string>
#include <vector>

#include "common/core/units.h"

namespace fabricbench::nccl {

/// What a process took of its devices' memory, and for what (-M): differences of what is free, so what others take and
/// give back meanwhile counts too.
class MemoryReport {
 public:
  /// Asks the devices for nothing, and has nothing to say, where it is not `wanted`. Begins with the initialisation.
  MemoryReport(std::vector<int> devices, bool wanted);

  void end_initialisation();
  /// What is free on each device now, for the two methods below.
  [[nodiscard]] std::vector<Bytes> free_now() const;
  void buffers_taken(const std::vector<Bytes>& free_before);
  void buffers_released(const std::vector<Bytes>& free_before);

  /// As nccl-tests writes it: of the process's devices the largest each, buffers at their most. Collective is what was
  /// taken after the initialisation and is not in buffers.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<int> devices_;
  std::vector<Bytes> at_first_;
  std::vector<Bytes> after_initialisation_;
  std::vector<Bytes> in_buffers_;
  std::vector<Bytes> most_in_buffers_;
};

/// Three digits and B, KB, MB or GB, which are powers of 1024, as nccl-tests writes it.
[[nodiscard]] std::string memory_text(Bytes bytes);

}  // namespace fabricbench::nccl
