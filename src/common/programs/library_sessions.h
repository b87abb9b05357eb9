// Sessions of the libraries that programs measure.
#pragma once

#include <string>
#include <vector>

#include "common/engine/sessions.h"

namespace fabricbench {

/// NCCL or MPI, as --backend says; else NCCL if every rank has a GPU; else MPI.
class LibrarySessions final : public Sessions {
 public:
  [[nodiscard]] ReservedGpus reserve_gpus(const Team& team, const ProcessLocation& location,
                                          const Options& options) const override;
  [[nodiscard]] std::vector<GpuFacts> describe_gpus(const std::vector<int>& devices) const override;
  [[nodiscard]] BackendChoice open(const Team& team, const ProcessLocation& location, const Options& options,
                                   const Test& test) const override;
};

/// TCP connections between the ranks of each group.
class TcpSessions final : public Sessions {
 public:
  [[nodiscard]] std::string why_not_size(Bytes size) const override {
    return size == 0 ? "TCP has no messages of 0 bytes" : "";
  }
  [[nodiscard]] BackendChoice open(const Team& team, const ProcessLocation& location, const Options& options,
                                   const Test& test) const override;
};

}  // namespace fabricbench
