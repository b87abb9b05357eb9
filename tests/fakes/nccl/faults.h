// What goes wrong on purpose: FAKE_NCCL_FAULT=KIND:RANK[:K], where K counts a rank's operations from 0.
//
//   async_error:RANK:K   operation K never completes, and ncclCommGetAsyncError tells of an error
//   hang:RANK:K          operation K never completes
//   wrong:RANK:K         operation K leaves one wrong element on RANK
//   wrong_from:RANK:K    operation K and all that follow leave one wrong element on RANK
//   wrong_in_graph:RANK  operations in CUDA graphs leave one wrong element on RANK, and no others
//   reordered            every second operation reduces the ranks' values in the opposite order
//   call_error:RANK:K    the call of operation K fails
//   init_error:RANK      making RANK's communicator fails
//   init_hang:RANK       making RANK's communicator never ends, so nobody's does
//   out_of_memory        ncclMemAlloc fails
#pragma once

#include <cstdint>
#include <string>

namespace fake_nccl {

struct Fault {
  std::string kind;  ///< empty: none
  int rank = -1;
  std::int64_t operation = -1;

  [[nodiscard]] bool hits(const char* what, int on_rank) const { return kind == what && rank == on_rank; }
  [[nodiscard]] bool hits(const char* what, int on_rank, std::int64_t at) const {
    return hits(what, on_rank) && operation == at;
  }
  [[nodiscard]] bool hits_from(const char* what, int on_rank, std::int64_t at) const {
    return hits(what, on_rank) && operation <= at;
  }
};

/// From the environment, read at each call.
[[nodiscard]] Fault fault_of_environment();

}  // namespace fake_nccl
