#pragma once

#include <cstddef>
#include <vector>

#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl_device/device_collectives.h"
#include "common/core/options.h"

namespace fabricbench::nccl {

/// Makes blocks of memory known to NCCL beforehand (-R).
class Registrar {
 public:
  /// `communicators` lives longer. Throws Error (missing) with the reason where the library cannot do it.
  Registrar(const Communicators& communicators, Registration kind);

  /// A block on each of this process's ranks. Collective over all processes for symmetric windows.
  void enrol(const std::vector<std::byte*>& blocks, std::size_t bytes);
  /// In the order of all processes too; nothing where the communicators have been aborted.
  void withdraw(const std::vector<std::byte*>& blocks) noexcept;

  /// Where a rank's symmetric windows have `address`. Throws Error: missing where NCCL made no window of its block,
  /// failure where it lies in none.
  [[nodiscard]] nccl_device::Place place_of(int local_rank, const void* address) const;

 private:
  struct Enrolled {  // a block on each rank
    std::vector<std::byte*> blocks;
    std::size_t bytes;
    std::vector<void*> handles;
  };

  const Communicators* communicators_;
  Registration kind_;
  std::vector<Enrolled> enrolled_;
};

}  // namespace fabricbench::nccl
