#include "cluster/command/catalogue.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/command/link_prefix.h"
#include "common/core/names.h"

namespace fabricbench::cluster {
namespace {

constexpr std::string_view kSuffix = "_perf";

constexpr std::array kNetwork = {
    CatalogueEntry{"all_reduce_perf", StartedAs::kAllRanks, "bandwidth of all ranks together; begin with this"},
    CatalogueEntry{"send_recv_lat", StartedAs::kTwoRanks, "half a round trip between two ranks"},
    CatalogueEntry{"send_recv_bw", StartedAs::kTwoRanks, "bandwidth one way between two ranks"},
    CatalogueEntry{"send_recv_bibw", StartedAs::kTwoRanks, "bandwidth both ways between two ranks"},
    CatalogueEntry{"accept", StartedAs::kCommand, "a whole cluster: hosts to admit and hosts to drain"},
};

constexpr std::array kSlowParts = {
    CatalogueEntry{"sweep_pairs", StartedAs::kScript, "pairs of hosts, until the slow host, NIC or link is known"},
    CatalogueEntry{"check_node_pair", StartedAs::kScript, "one pair of hosts, in one job with a time limit"},
    CatalogueEntry{"pairwise_bw", StartedAs::kAllRanks, "every pair of hosts in one job, with a map"},
    CatalogueEntry{"multi_pair_bw", StartedAs::kAllRanks, "many pairs at once, for links that they share"},
    CatalogueEntry{"find_slow_links", StartedAs::kAlone, "slow parts, from records or from results of other tools"},
};

constexpr std::array kNormal = {
    CatalogueEntry{"compare", StartedAs::kCommand, "a run beside a baseline or beside other runs"},
    CatalogueEntry{"record_baseline", StartedAs::kScript, "a baseline: several launches of one program"},
    CatalogueEntry{"selftest", StartedAs::kScript, "whether planted rates, delays and faults are reported"},
};

constexpr std::array kResults = {
    CatalogueEntry{"table", StartedAs::kCommand, "the table of a run, from its record"},
    CatalogueEntry{"plot", StartedAs::kCommand, "bandwidth and latency against size, as a picture"},
    CatalogueEntry{"report", StartedAs::kCommand, "a page with verdict, plots and tables, for a browser"},
};

constexpr std::array kMissing = {
    CatalogueEntry{"preflight", StartedAs::kEachHost, "what hosts lack, or have otherwise than their peers"},
    CatalogueEntry{"doctor", StartedAs::kCommand, "what this host lacks for which programs"},
    CatalogueEntry{"gpu_check", StartedAs::kScript, "whether the programs work on this host's GPUs"},
    CatalogueEntry{"rdma_check", StartedAs::kScript, "whether the programs work on RDMA devices"},
};

constexpr std::array kCollectives = {
    CatalogueEntry{"all_gather_perf", StartedAs::kAllRanks, "data from all ranks to all ranks"},
    CatalogueEntry{"alltoall_perf", StartedAs::kAllRanks, "equal parts from every rank to every rank"},
    CatalogueEntry{"alltoallv_perf", StartedAs::kAllRanks, "unequal parts from every rank to every rank"},
    CatalogueEntry{"barrier_perf", StartedAs::kAllRanks, "time until all ranks have left a barrier"},
    CatalogueEntry{"broadcast_perf", StartedAs::kAllRanks, "data from one rank to all ranks"},
    CatalogueEntry{"gather_perf", StartedAs::kAllRanks, "data from all ranks to one rank"},
    CatalogueEntry{"hypercube_perf", StartedAs::kAllRanks, "exchanges along the edges of a hypercube"},
    CatalogueEntry{"reduce_perf", StartedAs::kAllRanks, "a reduction to one rank"},
    CatalogueEntry{"reduce_scatter_perf", StartedAs::kAllRanks, "a reduction of which each rank keeps a part"},
    CatalogueEntry{"scatter_perf", StartedAs::kAllRanks, "parts from one rank to all ranks"},
    CatalogueEntry{"sendrecv_perf", StartedAs::kAllRanks, "a ring: each rank sends to the next one"},
};

constexpr std::array kRdma = {
    CatalogueEntry{"rdma_write_bw", StartedAs::kTwoRanks, "bandwidth of RDMA writes"},
    CatalogueEntry{"rdma_write_lat", StartedAs::kTwoRanks, "half a round trip of RDMA writes"},
    CatalogueEntry{"rdma_read_bw", StartedAs::kTwoRanks, "bandwidth of RDMA reads"},
    CatalogueEntry{"rdma_read_lat", StartedAs::kTwoRanks, "time of an RDMA read"},
    CatalogueEntry{"rdma_send_bw", StartedAs::kTwoRanks, "bandwidth of sends"},
    CatalogueEntry{"rdma_send_lat", StartedAs::kTwoRanks, "half a round trip of sends"},
    CatalogueEntry{"rdma_atomic_bw", StartedAs::kTwoRanks, "rate of atomic operations"},
    CatalogueEntry{"rdma_atomic_lat", StartedAs::kTwoRanks, "time of an atomic operation"},
    CatalogueEntry{"rdma_cm_connect", StartedAs::kTwoRanks, "connections per second, by rdma_cm"},
};

constexpr std::array kTcp = {
    CatalogueEntry{"tcp_lat", StartedAs::kTwoRanks, "half a round trip"},
    CatalogueEntry{"tcp_bw", StartedAs::kTwoRanks, "bandwidth one way, with one or more connections"},
    CatalogueEntry{"tcp_bibw", StartedAs::kTwoRanks, "bandwidth both ways"},
};

constexpr std::array kGpus = {
    CatalogueEntry{"gpu_copy_bw", StartedAs::kEachHost, "copies between host memory and GPUs, and between GPUs"},
    CatalogueEntry{"gpudirect_rdma_lat", StartedAs::kTwoRanks, "RDMA writes into GPU memory, until a kernel sees them"},
};

constexpr std::array kHosts = {
    CatalogueEntry{"list_hosts", StartedAs::kAlone, "hosts of a list, a host file or the surrounding job"},
    CatalogueEntry{"plan_sweep", StartedAs::kAlone, "the next round of pairs of a sweep"},
};

constexpr std::array kCatalogue = {
    Question{"Is my network fine?", kNetwork},
    Question{"Which node, NIC or link is slow?", kSlowParts},
    Question{"Is this number normal?", kNormal},
    Question{"What do my results look like?", kResults},
    Question{"What is missing on this host?", kMissing},
    Question{"How fast are the other collectives?", kCollectives},
    Question{"How fast is RDMA between two ranks?", kRdma},
    Question{"How fast is TCP between two ranks?", kTcp},
    Question{"How fast are transfers of GPUs?", kGpus},
    Question{"Which hosts take part, and in which pairs?", kHosts},
};

std::string_view without_suffix(std::string_view name) {
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

std::string with_underscores(std::string_view given) {
  std::string name(given);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Whether it is installed as a link that has the prefix.
bool has_link(StartedAs start) { return start != StartedAs::kScript && start != StartedAs::kCommand; }

/// Whether `name`, with underscores, means the entry.
bool is_called(const CatalogueEntry& entry, std::string_view name) {
  const std::string prefix = with_underscores(kLinkPrefix);
  if (has_link(entry.start) && name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name == entry.name || name == without_suffix(entry.name);
}

/// As names are written in the catalogue, without prefix and suffix.
std::string plain(std::string_view given) {
  const std::string name = with_underscores(given);
  const std::string prefix = with_underscores(kLinkPrefix);
  return std::string(without_suffix(name.starts_with(prefix) ? std::string_view(name).substr(prefix.size()) : name));
}

constexpr std::array kPrograms = {
    OtherProgram{"OSU", "osu_latency", "send_recv_lat"},
    OtherProgram{"OSU", "osu_bw", "send_recv_bw"},
    OtherProgram{"OSU", "osu_bibw", "send_recv_bibw"},
    OtherProgram{"OSU", "osu_mbw_mr", "multi_pair_bw"},
    OtherProgram{"OSU", "osu_allreduce", "all_reduce_perf"},
    OtherProgram{"OSU", "osu_allgather", "all_gather_perf"},
    OtherProgram{"OSU", "osu_alltoall", "alltoall_perf"},
    OtherProgram{"OSU", "osu_alltoallv", "alltoallv_perf"},
    OtherProgram{"OSU", "osu_barrier", "barrier_perf"},
    OtherProgram{"OSU", "osu_bcast", "broadcast_perf"},
    OtherProgram{"OSU", "osu_gather", "gather_perf"},
    OtherProgram{"OSU", "osu_reduce", "reduce_perf"},
    OtherProgram{"OSU", "osu_reduce_scatter", "reduce_scatter_perf"},
    OtherProgram{"OSU", "osu_scatter", "scatter_perf"},
    OtherProgram{"perftest", "ib_write_bw", "rdma_write_bw"},
    OtherProgram{"perftest", "ib_write_lat", "rdma_write_lat"},
    OtherProgram{"perftest", "ib_read_bw", "rdma_read_bw"},
    OtherProgram{"perftest", "ib_read_lat", "rdma_read_lat"},
    OtherProgram{"perftest", "ib_send_bw", "rdma_send_bw"},
    OtherProgram{"perftest", "ib_send_lat", "rdma_send_lat"},
    OtherProgram{"perftest", "ib_atomic_bw", "rdma_atomic_bw"},
    OtherProgram{"perftest", "ib_atomic_lat", "rdma_atomic_lat"},
    OtherProgram{"iperf3", "iperf3", "tcp_bw"},
    OtherProgram{"iperf", "iperf", "tcp_bw"},
    OtherProgram{"IMB", "IMB-MPI1", "send_recv_lat", "PingPong; Uniband is send_recv_bw, Allreduce all_reduce_perf"},
    OtherProgram{"UCX", "ucx_perftest", "send_recv_bw", "tag_bw, of an MPI over UCX; tag_lat is send_recv_lat"},
    OtherProgram{"qperf", "qperf", "tcp_bw", "tcp_bw; tcp_lat is tcp_lat, rc_bw rdma_send_bw"},
    OtherProgram{"mpiGraph", "mpiGraph", "pairwise_bw"},
    OtherProgram{"nvbandwidth", "nvbandwidth", "gpu_copy_bw"},
    OtherProgram{"CUDA's samples", "bandwidthTest", "gpu_copy_bw"},
    OtherProgram{"CUDA's samples", "p2pBandwidthLatencyTest", "gpu_copy_bw"},
    OtherProgram{"librdmacm", "cmtime", "rdma_cm_connect"},
};

/// `; osu_bw of OSU is send_recv_bw here`, or nothing.
std::string other_program_here(std::string_view given) {
  const auto* const other =
      std::find_if(kPrograms.begin(), kPrograms.end(), [&](const OtherProgram& each) { return each.name == given; });
  if (other == kPrograms.end()) return "";
  const std::string of_tool = other->tool == other->name ? "" : fmt::format(" of {}", other->tool);
  return fmt::format("; {}{} is {} here{}", other->name, of_tool, other->ours, of_test(*other));
}

}  // namespace

std::span<const Question> catalogue() { return kCatalogue; }

const CatalogueEntry* find_entry(std::string_view given) {
  const std::string name = with_underscores(given);
  for (const Question& question : kCatalogue) {
    for (const CatalogueEntry& entry : question.entries) {
      if (is_called(entry, name)) return &entry;
    }
  }
  return nullptr;
}

std::string names_meant_by(std::string_view given) {
  if (std::string here = other_program_here(given); !here.empty()) return here;
  constexpr std::string_view kWithMpi = "_mpi";  // as packages call what nccl-tests builds with MPI=1
  const CatalogueEntry* plain_entry =
      given.ends_with(kWithMpi) ? find_entry(given.substr(0, given.size() - kWithMpi.size())) : nullptr;
  if (plain_entry != nullptr) return fmt::format("; {} of nccl-tests is {} here", given, plain_entry->name);
  const std::string name = plain(given);
  std::vector<NearName> known;
  for (const Question& question : kCatalogue) {
    for (const CatalogueEntry& entry : question.entries) {
      const std::string_view plain_name = without_suffix(entry.name);
      known.push_back({name_distance(name, plain_name), std::string(plain_name)});
    }
  }
  for (const std::string_view command : kOtherCommands) {
    known.push_back({name_distance(name, command), std::string(command)});
  }
  const std::string nearest = the_nearest(name, std::move(known));
  return nearest.empty() ? "" : "; " + nearest;
}

std::string text_of_catalogue() {
  std::string text;
  for (const Question& question : kCatalogue) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", question.text);
    for (const CatalogueEntry& entry : question.entries) text += fmt::format("  {:<20}{}\n", entry.name, entry.purpose);
  }
  return text;
}

std::span<const OtherProgram> other_programs() { return kPrograms; }

std::string of_test(const OtherProgram& program) {
  return program.test.empty() ? "" : fmt::format(" ({})", program.test);
}

}  // namespace fabricbench::cluster
