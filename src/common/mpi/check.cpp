#include "common/mpi/check.h"

#include <string>

#include <mpi.h>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::mpi {

namespace {

/// Before MPI has started and after it has ended, it ends the process that asks it for a text.
std::string text_of(int code) {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started == 0 || ended != 0) return fmt::format("error code {}", code);
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

}  // namespace

void fail(int code, const char* call) {
  throw Error(ExitStatus::kFailure, fmt::format("mpi: {}: {}", call, text_of(code)));
}

}  // namespace fabricbench::mpi
