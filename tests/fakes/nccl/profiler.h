// NCCL's side of its profiler plug-in interface: with NCCL_PROFILER_PLUGIN=STATIC_PLUGIN, finds the program's table
// of version FAKE_NCCL_PROFILER (5) and tells it of collectives while the activation mask asks for them.
#pragma once

#include "rank.h"

namespace fake_nccl {

void open_profiler(Rank& rank);
void close_profiler(Rank& rank);
/// At the start of a group, on the thread that ends it.
void tell_profiler(const Rank& rank, const std::vector<Operation>& operations);

}  // namespace fake_nccl
