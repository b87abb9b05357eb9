#include "common/mpi/check.h"

#include <mpi.h>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::mpi {

void fail(int code, const char* call) {
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ExitStatus::kFailure, fmt::format("mpi: {}: {}", call, text));
}

}  // namespace fabricbench::mpi
