#pragma once

#include <memory>
#include <string>

#include "common/core/backend.h"
#include "common/core/options.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// The backend of a run and why it is this one.
struct BackendChoice {
  std::unique_ptr<Backend> backend;
  std::string name;
  std::string reason;  ///< completes "because ..."
};

/// Takes the backend asked for, or the best there is. Throws Error (missing) where that backend is not there, or
/// where options need GPUs that the backend does not use. The same on every rank; `world` must outlive it.
[[nodiscard]] BackendChoice choose_backend(const mpi::Communicator& world, const Options& options);

}  // namespace fabricbench
