#include "cluster/tools/catalogue.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/nearest_names.h"

namespace fabricbench::cluster {
namespace {

constexpr std::string_view kSuffix = "_perf";

constexpr std::array kNetwork = {
    Entry{"all_reduce_perf", Start::kAllRanks, "bandwidth of all ranks together; begin with this"},
    Entry{"send_recv_lat", Start::kTwoRanks, "half a round trip between two ranks"},
    Entry{"send_recv_bw", Start::kTwoRanks, "bandwidth one way between two ranks"},
    Entry{"send_recv_bibw", Start::kTwoRanks, "bandwidth both ways between two ranks"},
    Entry{"accept", Start::kScript, "a whole cluster: hosts to admit and hosts to drain"},
};

constexpr std::array kSlowParts = {
    Entry{"sweep_pairs", Start::kScript, "pairs of hosts, until the slow host, NIC or link is known"},
    Entry{"check_node_pair", Start::kScript, "one pair of hosts, in one job with a time limit"},
    Entry{"pairwise_bw", Start::kAllRanks, "every pair of hosts in one job, with a map"},
    Entry{"multi_pair_bw", Start::kAllRanks, "many pairs at once, for links that they share"},
    Entry{"find_slow_links", Start::kAlone, "slow parts, from records or from results of other tools"},
};

constexpr std::array kNormal = {
    Entry{"compare", Start::kCommand, "a run beside a baseline or beside other runs"},
    Entry{"record_baseline", Start::kScript, "a baseline: several launches of one program"},
    Entry{"selftest", Start::kScript, "whether planted rates, delays and faults are reported"},
};

constexpr std::array kResults = {
    Entry{"table", Start::kCommand, "the table of a run, from its record"},
    Entry{"plot", Start::kCommand, "bandwidth and latency against size, as a picture"},
    Entry{"report", Start::kCommand, "a page with verdict, plots and tables, for a browser"},
};

constexpr std::array kMissing = {
    Entry{"doctor", Start::kCommand, "what this host lacks for which programs"},
    Entry{"gpu_check", Start::kScript, "whether the programs work on this host's GPUs"},
    Entry{"rdma_check", Start::kScript, "whether the programs work on RDMA devices"},
};

constexpr std::array kCollectives = {
    Entry{"all_gather_perf", Start::kAllRanks, "data from all ranks to all ranks"},
    Entry{"alltoall_perf", Start::kAllRanks, "equal parts from every rank to every rank"},
    Entry{"alltoallv_perf", Start::kAllRanks, "unequal parts from every rank to every rank"},
    Entry{"barrier_perf", Start::kAllRanks, "time until all ranks have left a barrier"},
    Entry{"broadcast_perf", Start::kAllRanks, "data from one rank to all ranks"},
    Entry{"gather_perf", Start::kAllRanks, "data from all ranks to one rank"},
    Entry{"hypercube_perf", Start::kAllRanks, "exchanges along the edges of a hypercube"},
    Entry{"reduce_perf", Start::kAllRanks, "a reduction to one rank"},
    Entry{"reduce_scatter_perf", Start::kAllRanks, "a reduction of which each rank keeps a part"},
    Entry{"scatter_perf", Start::kAllRanks, "parts from one rank to all ranks"},
    Entry{"sendrecv_perf", Start::kAllRanks, "a ring: each rank sends to the next one"},
};

constexpr std::array kRdma = {
    Entry{"rdma_write_bw", Start::kTwoRanks, "bandwidth of RDMA writes"},
    Entry{"rdma_write_lat", Start::kTwoRanks, "half a round trip of RDMA writes"},
    Entry{"rdma_read_bw", Start::kTwoRanks, "bandwidth of RDMA reads"},
    Entry{"rdma_read_lat", Start::kTwoRanks, "time of an RDMA read"},
    Entry{"rdma_send_bw", Start::kTwoRanks, "bandwidth of sends"},
    Entry{"rdma_send_lat", Start::kTwoRanks, "half a round trip of sends"},
    Entry{"rdma_atomic_bw", Start::kTwoRanks, "rate of atomic operations"},
    Entry{"rdma_atomic_lat", Start::kTwoRanks, "time of an atomic operation"},
    Entry{"rdma_cm_connect", Start::kTwoRanks, "connections per second, by rdma_cm"},
};

constexpr std::array kTcp = {
    Entry{"tcp_lat", Start::kTwoRanks, "half a round trip"},
    Entry{"tcp_bw", Start::kTwoRanks, "bandwidth one way, with one or more connections"},
    Entry{"tcp_bibw", Start::kTwoRanks, "bandwidth both ways"},
};

constexpr std::array kGpus = {
    Entry{"gpu_copy_bw", Start::kEachHost, "copies between host memory and GPUs, and between GPUs"},
    Entry{"gpudirect_rdma_lat", Start::kTwoRanks, "RDMA writes into GPU memory, until a kernel sees them"},
};

constexpr std::array kHosts = {
    Entry{"list_hosts", Start::kAlone, "hosts of a list, a host file or the surrounding job"},
    Entry{"plan_sweep", Start::kAlone, "the next round of pairs of a sweep"},
    Entry{"simulate_fabric", Start::kAlone, "a sweep over a simulated fabric with planted faults"},
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

/// As names are written in the catalogue, without the suffix.
std::string plain(std::string_view given) {
  std::string name(given);
  std::replace(name.begin(), name.end(), '-', '_');
  return std::string(without_suffix(name));
}

}  // namespace

std::span<const Question> catalogue() { return kCatalogue; }

const Entry* find_entry(std::string_view given) {
  const std::string name = plain(given);
  for (const Question& question : kCatalogue) {
    for (const Entry& entry : question.entries) {
      if (without_suffix(entry.name) == name) return &entry;
    }
  }
  return nullptr;
}

std::string nearest_entries(std::string_view given) {
  const std::string name = plain(given);
  std::vector<NearName> known;
  for (const Question& question : kCatalogue) {
    for (const Entry& entry : question.entries) {
      const std::string_view plain_name = without_suffix(entry.name);
      known.push_back({name_distance(name, plain_name), std::string(plain_name)});
    }
  }
  for (const std::string_view command : {"list", "run"}) {  // which answer no question
    known.push_back({name_distance(name, command), std::string(command)});
  }
  const std::vector<std::string> near = nearest_names(name, known);
  return near.empty() ? "" : fmt::format("; the nearest {} {}", near.size() == 1 ? "is" : "are", fmt::join(near, ", "));
}

std::string text_of_catalogue() {
  std::string text;
  for (const Question& question : kCatalogue) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", question.text);
    for (const Entry& entry : question.entries) text += fmt::format("  {:<20}{}\n", entry.name, entry.purpose);
  }
  return text;
}

}  // namespace fabricbench::cluster
