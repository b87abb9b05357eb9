// What a program hands to the engine, which knows neither GPUs nor baselines.
#pragma once

#include <string>
#include <vector>

#include "common/engine/job.h"
#include "common/engine/sessions.h"
#include "common/measure/message_test.h"
#include "common/measure/test.h"
#include "common/options/program.h"

namespace fabricbench {

/// Runs a program that measures one test, on all ranks or on pairs: from the command line to the exit status
/// (ExitStatus). Starts and ends MPI; does not throw.
[[nodiscard]] int run_program(const Program& program, Test&& test, Sessions&& sessions, int argc, char** argv);

/// The same with NCCL or MPI.
[[nodiscard]] int run_program(const Program& program, Test&& test, int argc, char** argv);

/// The comparison with baselines, and with what links allow, as the options ask for.
[[nodiscard]] std::vector<std::unique_ptr<Sink>> make_judges(RowKind row_kind, const Options& options);

// Sessions of the libraries that programs measure.

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
