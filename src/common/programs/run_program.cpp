#include "common/programs/run_program.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/run/baseline_sink.h"
#include "cluster/run/expectation.h"
#include "common/backends/gpu/gpu_sessions.h"
#include "common/backends/sockets/tcp_session.h"
#include "common/core/error.h"
#include "common/engine/case_list.h"
#include "common/engine/engine.h"
#include "common/engine/prepared_run.h"
#include "common/host/identity.h"
#include "common/mpi/environment.h"
#include "common/mpi/mpi_backend.h"
#include "common/ranks/agreement.h"

namespace fabricbench {

namespace {

/// The program accepts options that its test has no use for, as nccl-tests' programs do, and --help leaves them out.
Program with_used_options_listed(Program program, const TestTraits& traits) {
  for (const UnusedOptions& unused : unused_options(traits)) {
    for (Option& option : program.options) {
      if (std::find(unused.keys.begin(), unused.keys.end(), option.key()) != unused.keys.end()) option.listed = false;
    }
  }
  return program;
}

}  // namespace

int run_program(const Program& program, Test&& test, Sessions&& sessions, int argc, char** argv) {
  return run(
      with_used_options_listed(program, test.traits()), [&](Job& job) { return agree_on_test(job, test, sessions); },
      make_judges, argc, argv);
}

int run_program(const Program& program, Test&& test, int argc, char** argv) {
  return run_program(program, std::move(test), LibrarySessions(), argc, argv);
}

std::vector<std::unique_ptr<Sink>> make_judges(RowKind row_kind, const Options& options) {
  std::vector<std::unique_ptr<Sink>> judges;
  if (!options.comparison.record_file.empty() || !options.comparison.baseline_file.empty()) {
    judges.push_back(std::make_unique<baseline::BaselineSink>(options.comparison));
  }
  if (row_kind == RowKind::kCollective || is_of_pairs(row_kind)) {
    judges.push_back(std::make_unique<expected::ExpectationSink>(options.expectation));
  }
  return judges;
}

namespace {

/// MPI has one rank per process, and neither graphs nor streams. `reason`: why MPI is measured.
void refuse_gpu_options(const Options& options, const std::string& reason) {
  for (const GivenOption& given : options.given) {
    if (!given.is_for_gpus) continue;
    throw Error(
        ExitStatus::kMissing,
        fmt::format("{} {} is for NCCL on GPUs, and this would measure MPI, because {}; leave it out, and start "
                    "more ranks with mpirun -np",
                    given.name, given.value, reason));
  }
  if (options.nccl.memory_report && options.memory != MemoryKind::kCuda) {
    throw Error(ExitStatus::kMissing, "-M 1 reports GPU memory, and the mpi backend uses the host's; leave it out");
  }
}

BackendChoice on_nccl(const Team& team, const ProcessLocation& location, const Options& options, const Test& test,
                      std::string reason) {
  const TestTraits& traits = test.traits();
  const gpu::Purpose purpose{.all_to_all = traits.name == "alltoall", .most_peers = traits.most_peers};
  auto opened = everywhere(team.world(), [&] { return gpu::open_nccl(team, location, options, purpose); });
  return {std::move(opened.session), "nccl", std::move(reason), std::move(opened.notices)};
}

BackendChoice on_mpi(const Team& team, const ProcessLocation& location, const Options& options, std::string reason) {
  refuse_gpu_options(options, reason);
  if (options.memory != MemoryKind::kCuda) {
    return {std::make_unique<mpi::MpiSession>(team.group()), "mpi", std::move(reason)};
  }
  auto opened = everywhere(team.world(), [&] { return gpu::open_mpi_on_cuda(team, location, options); });
  return {std::move(opened.session), "mpi", std::move(reason), std::move(opened.notices)};
}

}  // namespace

BackendChoice TcpSessions::open(const Team& team, const ProcessLocation& location, const Options& options,
                                const Test& /*test*/) const {
  const mpi::Communicator& group = team.group();
  sockets::TcpSettings settings;
  settings.name = host::name_of_process(mpi::launch_from_environment().rank, location.host);
  settings.network = fmt::to_string(host::network_domain());
  settings.streams = static_cast<int>(options.tcp.streams);
  settings.interface = options.tcp.interface;
  settings.time_limit_s = options.timeout;
  auto opened = everywhere(team.world(), [&] {
    const auto gather = [&group](const std::string& text) { return all_gather(group, text); };
    return gpu::Opened{std::make_unique<sockets::TcpSession>(group.rank(), group.size(), gather, settings), {}};
  });
  return {std::move(opened.session), "tcp", "this program measures it"};
}

ReservedGpus LibrarySessions::reserve_gpus(const Team& team, const ProcessLocation& location,
                                           const Options& options) const {
  const bool may_be_nccl = options.backend != "mpi" && options.memory != MemoryKind::kHost;
  ReservedGpus kept;
  if (may_be_nccl) kept.why_no_nccl = gpu::why_no_nccl(team, location, options);
  if (options.memory == MemoryKind::kCuda || (may_be_nccl && kept.why_no_nccl.empty())) {
    kept.devices = gpu::choose_gpus(team, location, options);
  }
  return kept;
}

std::vector<GpuFacts> LibrarySessions::describe_gpus(const std::vector<int>& devices) const {
  return gpu::describe_gpus(devices);
}

BackendChoice LibrarySessions::open(const Team& team, const ProcessLocation& location, const Options& options,
                                    const Test& test) const {
  if (options.backend == "nccl" && options.memory == MemoryKind::kHost) {
    throw UsageError("NCCL works on GPU memory only; leave out --memory host, or take --backend mpi");
  }
  if (options.backend == "mpi") return on_mpi(team, location, options, "--backend mpi asks for it");
  if (options.memory == MemoryKind::kHost) return on_mpi(team, location, options, "--memory host asks for it");
  const std::string why_not = gpu::why_no_nccl(team, location, options);
  if (why_not.empty()) {
    return on_nccl(team, location, options, test,
                   options.backend == "nccl" ? "--backend nccl asks for it" : "every rank has a GPU");
  }
  if (options.backend == "nccl") throw Error(ExitStatus::kMissing, fmt::format("--backend nccl: {}", why_not));
  return on_mpi(team, location, options, why_not);
}

}  // namespace fabricbench
