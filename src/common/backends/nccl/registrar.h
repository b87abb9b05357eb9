#pragma once

#include <cstddef>
#include <vector>

#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl_device/device_collectives.h"
#include "common/core/options.h"

namespace fabricbench::nccl {

/// The registration that takes the place of `wanted`: local registration where the library has no symmetric windows
/// yet, as in nccl-tests.
[[nodiscard]] Registration possible_registration(const Library& library, Registration wanted);

/// Registers blocks of memory with NCCL in advance (-R).
class Registrar {
 public:
  /// `communicators` must outlive this. Throws Error (missing) with the reason if the library does not support it.
  Registrar(const Communicators& communicators, Registration kind);

  /// Registers a block on each of this process's ranks. Collective over all processes for symmetric windows.
  void enrol(const std::vector<std::byte*>& blocks, std::size_t bytes);
  /// Collective too; does nothing after the communicators were aborted.
  void withdraw(const std::vector<std::byte*>& blocks) noexcept;

  /// The place of `address` in a rank's symmetric windows. Throws Error: missing if NCCL made no window for its block,
  /// failure if it lies in none.
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
