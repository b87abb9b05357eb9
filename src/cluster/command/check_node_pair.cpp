// Measures one pair of hosts in one job with a time limit, and reports the result in one line and in a record.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "cluster/command/pair_job.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kUsageOfPair = R"(usage: scripts/check_node_pair.sh [OPTION]... HOST HOST
           [-- OPTION OF THE BENCHMARK...]

Measures the bandwidth between two hosts in both directions, in one job that
always ends within its time limit.

  --test NAME         {mpi} (MPI),
                      {tcp} (TCP), {gpu} (NCCL),
                      {verbs} (RDMA verbs);
                      default: sendrecv_perf if this host has GPUs, else
                      pairwise_bw
  --rdma              the same as --test rdma_write_bw
  --gpus N            GPUs per host, each paired with its counterpart (default:
                      those listed by nvidia-smi here)
  --size SIZE         message size, such as 1M (default: 1M, with NCCL 64M)
  --rail NAME         network interface or RDMA device on both hosts, such as
                      eth1 or mlx5_0; with RDMA also several, mlx5_0,mlx5_1:
                      one after the other in one job, and only those that it
                      could measure get a record
  --min-bandwidth X   required GB/s in each direction; below it the pair is slow
  --timeout SECONDS   time limit of the whole job (default: 60)
  --programs DIR      folder of the programs, the same on all hosts (default:
                      build beside the scripts, else the PATH)
  --launcher NAME     mpirun or srun (default: mpirun)
  --agent PROGRAM     use PROGRAM HOST COMMAND... instead of ssh to start
                      commands on hosts (Open MPI, hydra)
  --mpi-options WORDS additional options for mpirun or srun
  --records FILE      append a line of JSON for each direction
  --logs DIR          keep the output of failed jobs in DIR (default:
                      $TMPDIR/fabricbench-logs-USER, a folder to which nobody
                      else has access)
  --round N, --concurrent N
                      for the record: round of a sweep, and number of pairs
                      measured at the same time
  --quiet             print nothing on success
  --dry-run           print the command instead of running it
  --help              print this text

Options of the benchmark follow --, such as -- --time-budget 1 --window 16, and
override those set here. Every rank gets the variables PATH, LD_LIBRARY_PATH,
NCCL_*, UCX_*, FI_*, OMPI_MCA_* and those of other MPIs.
Exit status: 0 ok, 1 failed, 2 usage, 3 something needed is missing, 4 timeout,
5 wrong data, 6 slow, 7 ranks waited for a processor: nothing can be required.
)";

std::string usage() {
  const PairTests tests = pair_tests();
  return fmt::format(kUsageOfPair, fmt::arg("mpi", tests.mpi), fmt::arg("tcp", tests.tcp), fmt::arg("gpu", tests.gpu),
                     fmt::arg("verbs", tests.verbs));
}

std::array<std::string, 2> pair_given(const std::vector<std::string>& words) {
  if (words.size() != 2) {
    const std::string list = words.empty() ? "" : fmt::format(" ({})", fmt::join(words, " "));
    throw UsageError(fmt::format("a pair is two hosts; given: {}{}", words.size(), list));
  }
  for (const std::string& host : words) {
    if (fault_of_host_name(host).empty()) continue;
    throw UsageError(
        fmt::format("'{}' is no host; hosts are written as node01, alice@node01, 10.0.0.1 or fe80::1", host));
  }
  if (words[0] == words[1]) throw UsageError(fmt::format("'{}' is given twice; a pair is two hosts", words[0]));
  return {words[0], words[1]};
}

int check_pair(const CalledAs& called, const std::vector<std::string>& arguments) {
  PairSettings settings;
  PairJob job;
  bool is_dry_run = false;
  CommandOptions options(called, usage());
  add_pair_options(options, settings);
  options.value("--rail", job.rail);
  options.value("--round", [&](const auto& name, const auto& text) { job.round = whole_number(name, text, 0); });
  options.value("--concurrent",
                [&](const auto& name, const auto& text) { job.concurrent = whole_number(name, text, 1); });
  options.flag("--quiet", [&] { settings.quiet = true; });
  options.flag("--dry-run", [&] { is_dry_run = true; });
  if (!options.read(arguments)) return 0;
  job.hosts = pair_given(options.words());
  settings.more = options.behind();

  Signals signals;
  const WorkFolder folder("pair");
  const PairBenchmark benchmark(settings);
  if (is_dry_run) {
    fmt::print("{}\n", benchmark.command(job, folder.path()).text());
    return 0;
  }
  Jobs jobs(signals);
  ExitStatus status = ExitStatus::kFailure;
  benchmark.start(jobs, job, folder.path(), [&](const PairEnd& end) { status = end.status; });
  // An interrupted job leaves no record.
  if (const std::optional<int> told = wait_for_all(jobs)) return 128 + *told;
  return static_cast<int>(status);
}

}  // namespace

ExitStatus check_node_pair(const std::vector<std::string>& arguments) {
  const CalledAs called("check_node_pair");
  return static_cast<ExitStatus>(
      run_tool(called.name, [&] { return static_cast<ExitStatus>(check_pair(called, arguments)); }));
}

}  // namespace fabricbench::cluster
