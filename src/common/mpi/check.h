#pragma once

namespace fabricbench::mpi {

[[noreturn]] void fail(int code, const char* call);

/// Throws Error with MPI's own message if a call failed. `call` is the function's name.
inline void check(int code, const char* call) {
  if (code != 0) [[unlikely]]
    fail(code, call);  // MPI_SUCCESS is 0 by the standard
}

}  // namespace fabricbench::mpi
