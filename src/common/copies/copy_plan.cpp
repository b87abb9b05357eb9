#include "common/copies/copy_plan.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/outlier_detection.h"
#include "common/core/units.h"
#include "common/engine/setup.h"
#include "common/host/memory.h"
#include "common/host/node_memory.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

constexpr double kLeastOfBound = 0.6;

/// Whether the host's memory is on the GPU's own node; empty if unknown.
std::optional<bool> is_near(const CopyRow& row) {
  if (!row.memory_node || !row.gpu.numa_node) return std::nullopt;
  return *row.memory_node == *row.gpu.numa_node;
}

/// The name of the class in which a row's GPU is compared: rows of other GPUs with the same text are comparable.
std::string like(const CopyRow& row) {
  const auto near = is_near(row);
  const std::string where = near              ? (*near ? "near" : "far")
                            : row.memory_node ? fmt::format("node {}", *row.memory_node)
                                              : "";
  return fmt::format("{}|{}|{}|{}|{}|{}", name(row.kind), row.size, row.gpu.model, where,
                     row.peer ? row.peer->model : "", row.over_host);
}

using NodeMembers = std::vector<CopyRow*>;

/// The upper end of the interval of a copy's bandwidth, from the lower end of that of its time.
double most_of(const CopyRow& row) {
  const auto& interval = row.summary.interval;
  return interval && interval->low > 0 ? row.bandwidth * row.summary.median / interval->low : row.bandwidth;
}

/// The median; for an even number of copies, the faster of the two in the middle.
template <typename Figure>
double middle_of(const NodeMembers& members, Figure figure) {
  std::vector<double> figures;
  figures.reserve(members.size());
  for (const CopyRow* row : members) figures.push_back(figure(*row));
  std::sort(figures.begin(), figures.end());
  return figures[figures.size() / 2];
}

/// Compares the GPUs that `gpu_of` returns, and calls `set` with each row's comparison.
template <typename GpuOf, typename Set>
void compare_by(std::vector<CopyRow>& rows, GpuOf gpu_of, Set set) {
  std::map<std::tuple<std::string, std::string, std::string>, NodeMembers> by_gpu;  // like, host, PCI address
  for (CopyRow& row : rows) {
    if (const CopyGpu* gpu = gpu_of(row); gpu != nullptr) by_gpu[{like(row), row.host, gpu->pci}].push_back(&row);
  }
  std::vector<ComparedRate> compared;
  compared.reserve(by_gpu.size());
  for (const auto& [key, members] : by_gpu) {
    compared.push_back({std::get<0>(key), std::get<1>(key),
                        middle_of(members, [](const CopyRow& row) { return row.bandwidth; }),
                        middle_of(members, most_of)});
  }
  const std::vector<Comparison> comparisons = detect_outliers(compared);
  std::size_t index = 0;
  for (const auto& [key, members] : by_gpu) {
    for (CopyRow* row : members) set(*row, comparisons[index]);
    ++index;
  }
}

std::string gpu_text(const std::string& host, const CopyGpu& gpu) {
  return fmt::format("GPU {} ({}) of host {}", gpu.device, gpu.pci, host);
}

std::string copy_text(const CopyRow& row) {
  const char* what = "";
  switch (row.kind) {
    case CopyKind::kHostToDevice: what = "from the host"; break;
    case CopyKind::kDeviceToHost: what = "to the host"; break;
    case CopyKind::kBothWays: what = "from and to the host at once"; break;
    case CopyKind::kDeviceToDevice: what = "within its memory"; break;
    case CopyKind::kPeer: what = "to its peers"; break;
  }
  const auto near = is_near(row);
  return fmt::format("{}{}", what, near && !*near ? ", with memory of another node" : "");
}

/// The findings about a GPU, in the order in which GPUs are first named.
class Lines {
 public:
  /// Adds `clause` once, to the line that begins with `start`.
  void add(const std::string& start, const std::string& clause) {
    auto line = std::find_if(lines_.begin(), lines_.end(), [&](const auto& known) { return known.first == start; });
    if (line == lines_.end()) line = lines_.insert(line, {start, {}});
    if (std::find(line->second.begin(), line->second.end(), clause) == line->second.end()) {
      line->second.push_back(clause);
    }
  }

  [[nodiscard]] std::vector<std::string> take() const {
    std::vector<std::string> all;
    all.reserve(lines_.size());
    for (const auto& [start, clauses] : lines_) all.push_back(fmt::format("{}: {}", start, fmt::join(clauses, "; ")));
    return all;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> lines_;
};

std::string slower_text(Bytes size, const std::string& what, const Comparison& comparison) {
  return fmt::format("{} {}: {:.3g} GB/s, others {:.3g} GB/s{}", readable_bytes(size), what, comparison.own / 1e9,
                     comparison.others / 1e9, comparison.across_hosts ? " of all hosts" : "");
}

void find_slow(const CopyRow& row, Lines& lines) {
  if (row.comparison.status == OutlierStatus::kSlow) {
    lines.add(gpu_text(row.host, row.gpu) + " is slower than the others",
              slower_text(row.size, copy_text(row), row.comparison));
  }
  if (row.peer_comparison && row.peer_comparison->status == OutlierStatus::kSlow) {
    lines.add(gpu_text(row.host, *row.peer) + " is slower than the others",
              slower_text(row.size, "from its peers", *row.peer_comparison));
  }
}

void find_undecided(const CopyRow& row, Lines& lines) {
  if (row.comparison.status != OutlierStatus::kUndecided) return;
  const double faster = std::max(row.comparison.own, row.comparison.others);
  const double slower = std::min(row.comparison.own, row.comparison.others);
  const std::string where = row.comparison.across_hosts ? "" : fmt::format(" of host {}", row.host);
  lines.add(fmt::format("Two GPUs{} differ, and without a third it is unclear which is slow", where),
            fmt::format("{} {}: {:.3g} and {:.3g} GB/s", readable_bytes(row.size), copy_text(row), faster / 1e9,
                        slower / 1e9));
}

void find_below_bound(const CopyRow& row, Lines& lines) {
  if (row.bound.bytes_per_s <= 0 || row.kind == CopyKind::kBothWays || is_near(row) == false) return;
  const double rate = row.comparison.own;
  if (rate >= kLeastOfBound * row.bound.bytes_per_s) return;
  lines.add(gpu_text(row.host, row.gpu) + fmt::format(" has less than {:.0f} % of a bound", 100 * kLeastOfBound),
            fmt::format("{} {}: {:.3g} of {:.3g} GB/s ({})", readable_bytes(row.size), copy_text(row), rate / 1e9,
                        row.bound.bytes_per_s / 1e9, row.bound.by));
}

Bytes largest_size(std::span<const CopyRow> rows) {
  Bytes largest = 0;
  for (const CopyRow& row : rows) largest = std::max(largest, row.size);
  return largest;
}

/// The number of copies, with fractions, that a direction completed within `time`.
double carried_within(std::span<const Seconds> copies, Seconds time) {
  double carried = 0;
  for (const Seconds copy : copies) {
    if (time < copy) return copy > 0 ? carried + time / copy : carried;
    time -= copy;
    ++carried;
  }
  return carried;
}

}  // namespace

std::vector<std::vector<std::size_t>> divide_gpus(const std::vector<std::vector<std::string>>& seen) {
  std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>> viewers;  // process, place in its list
  std::vector<std::string> order;
  for (std::size_t process = 0; process < seen.size(); ++process) {
    for (std::size_t place = 0; place < seen[process].size(); ++place) {
      auto& of_gpu = viewers[seen[process][place]];
      if (of_gpu.empty()) order.push_back(seen[process][place]);
      of_gpu.emplace_back(process, place);
    }
  }
  // GPUs that the fewest processes see are assigned first: a process that sees more GPUs can take others.
  std::stable_sort(order.begin(), order.end(),
                   [&](const std::string& a, const std::string& b) { return viewers[a].size() < viewers[b].size(); });
  std::vector<std::vector<std::size_t>> own(seen.size());
  for (const std::string& uuid : order) {
    const auto& candidates = viewers[uuid];
    const auto [process, place] =
        *std::min_element(candidates.begin(), candidates.end(),
                          [&](const auto& a, const auto& b) { return own[a.first].size() < own[b.first].size(); });
    own[process].push_back(place);
  }
  for (std::vector<std::size_t>& places : own) std::sort(places.begin(), places.end());
  return own;
}

std::vector<SizedCopy> list_copies(const std::vector<int>& own, const std::vector<int>& seen,
                                   const std::vector<std::optional<int>>& nodes, const std::vector<Bytes>& sizes) {
  std::vector<SizedCopy> copies;
  for (const int device : own) {
    for (const Bytes size : sizes) {
      for (const std::optional<int> node : nodes) {
        for (const CopyKind kind : {CopyKind::kHostToDevice, CopyKind::kDeviceToHost, CopyKind::kBothWays}) {
          copies.push_back({{kind, device, node}, size});
        }
      }
      copies.push_back({{CopyKind::kDeviceToDevice, device, std::nullopt}, size});
      for (const int peer : seen) {
        if (peer != device) copies.push_back({{CopyKind::kPeer, device, std::nullopt, peer}, size});
      }
    }
  }
  return copies;
}

void compare_gpus(std::vector<CopyRow>& rows) {
  compare_by(
      rows, [](const CopyRow& row) { return &row.gpu; },
      [](CopyRow& row, const Comparison& comparison) { row.comparison = comparison; });
  compare_by(
      rows, [](const CopyRow& row) { return row.peer ? &*row.peer : nullptr; },
      [](CopyRow& row, const Comparison& comparison) { row.peer_comparison = comparison; });
}

std::vector<std::string> findings(std::span<const CopyRow> rows) {
  Lines slow;
  Lines undecided;
  Lines below_bound;
  const Bytes largest = largest_size(rows);
  bool over_host = false;
  for (const CopyRow& row : rows) {
    find_slow(row, slow);
    find_undecided(row, undecided);
    if (row.size == largest) find_below_bound(row, below_bound);
    over_host = over_host || row.over_host;
  }
  std::vector<std::string> all = slow.take();
  for (const Lines& lines : {undecided, below_bound}) {
    for (std::string& text : lines.take()) all.push_back(std::move(text));
  }
  if (over_host)
    all.push_back("Copies to a GPU marked * go through host memory: the two GPUs cannot access each other's memory");
  return all;
}

BothRates rates_of_both(Bytes size, std::span<const Seconds> first, std::span<const Seconds> second) {
  const auto total = [](std::span<const Seconds> copies) {
    return std::accumulate(copies.begin(), copies.end(), Seconds{0});
  };
  const Seconds window = std::min(total(first), total(second));
  if (window <= 0) return {};
  const double bytes_per_second = static_cast<double>(size) / window;
  return {carried_within(first, window) * bytes_per_second, carried_within(second, window) * bytes_per_second};
}

namespace {

constexpr double kUsableShareOfGpu = 0.9;   // share of the free memory of a GPU
constexpr double kUsableShareOfHost = 0.5;  // pinned memory is lost to all other processes
constexpr Bytes kBuffers = 2;               // per GPU, and per NUMA node of the host

std::string why_not_here(const Options& options) {
  std::string reason = gpu::why_no_copies();
  if (!reason.empty() || !options.device) return reason;
  const auto count = static_cast<std::int64_t>(gpu::visible_gpus().size());
  if (*options.device < count) return "";
  return fmt::format("there is no --device {}: this process sees {} CUDA device{}", *options.device, count,
                     count == 1 ? "" : "s");
}

/// Throws Error (missing) on every process if one of them has no copy to make.
void check_gpus(const mpi::Communicator& world, const CopySetup& setup) {
  const std::string own = why_not_here(setup.options);
  const auto all = world.gather(own.empty() ? "" : fmt::format("host {}: {}", setup.location.host, own));
  const auto first = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
  const std::string reason = world.broadcast(first == all.end() ? "" : *first);
  if (!reason.empty()) throw Error(ExitStatus::kMissing, reason);
}

/// The processes of one host. Their colour is the rank of the first one.
std::optional<mpi::Communicator> processes_of_host(const mpi::Communicator& world, std::uint64_t host) {
  const std::vector<std::uint64_t> hosts = world.all_gather(host);
  return world.split(static_cast<int>(std::find(hosts.begin(), hosts.end(), host) - hosts.begin()));
}

std::vector<gpu::SeenGpu> gpus_to_measure(const Options& options) {
  std::vector<gpu::SeenGpu> seen = gpu::visible_gpus();
  if (options.device) seen = {seen[static_cast<std::size_t>(*options.device)]};
  return seen;
}

/// CUDA's numbers of the GPUs that this process measures.
std::vector<int> own_devices(const mpi::Communicator& host, const std::vector<gpu::SeenGpu>& seen) {
  std::vector<std::string> uuids;
  uuids.reserve(seen.size());
  for (const gpu::SeenGpu& gpu : seen) uuids.push_back(gpu.uuid);
  const auto lists = broadcast_from_first(host, gather_on_first(host, uuids));
  const std::vector<std::size_t> places = divide_gpus(lists)[static_cast<std::size_t>(host.rank())];
  std::vector<int> own;
  own.reserve(places.size());
  for (const std::size_t place : places) own.push_back(seen[place].gpu.device);
  return own;
}

/// Chooses the NUMA nodes of the host's memory: all nodes, the only node without binding memory to it, or an unknown
/// one if memory cannot be bound.
void choose_nodes(CopySetup& setup) {
  constexpr std::size_t kTrial = 4096;
  const std::vector<int> nodes = host::memory_nodes();
  setup.memory.nodes.assign(nodes.begin(), nodes.end());
  setup.memory.placed = nodes.size() > 1;
  if (nodes.empty()) setup.memory.nodes = {std::nullopt};
  if (!setup.memory.placed) return;
  try {
    for (const int node : nodes) (void)host::NodeMemory(kTrial, node);
  } catch (const std::runtime_error& error) {
    setup.notices.push_back(
        fmt::format("Memory of host {} is not bound to a NUMA node: {}", setup.location.host, error.what()));
    setup.memory.nodes = {std::nullopt};
    setup.memory.placed = false;
  }
}

/// The largest possible copy of this process.
Bytes most_bytes(const CopySetup& setup) {
  const auto processes = static_cast<double>(setup.location.local_processes);
  const host::FreeMemory free = host::free_memory();
  const auto of_host =
      static_cast<double>(std::min(free.machine_bytes, free.cgroup_bytes.value_or(free.machine_bytes)));
  double most = kUsableShareOfHost * of_host / static_cast<double>(setup.memory.nodes.size());
  for (const int device : setup.memory.devices) {
    most = std::min(most, kUsableShareOfGpu * static_cast<double>(gpu::free_on(device)));
  }
  return static_cast<Bytes>(most / processes / static_cast<double>(kBuffers));
}

void lower_sizes(const mpi::Communicator& world, CopySetup& setup) {
  const bool takes_part = !setup.memory.devices.empty();
  const auto own = takes_part ? static_cast<std::int64_t>(most_bytes(setup)) : std::numeric_limits<std::int64_t>::max();
  const auto most = static_cast<Bytes>(world.min(own));
  SizeRange& sizes = setup.options.sizes;
  if (sizes.max_bytes <= most) return;
  const Bytes lowered = std::bit_floor(most);
  if (lowered == 0) throw Error(ExitStatus::kMissing, "there is no memory left for copies; free some");
  setup.notices.push_back(
      fmt::format("Reducing maxBytes to {} due to memory limitation: {} is available for each of the {} buffers per "
                  "GPU and per NUMA node",
                  lowered, readable_bytes(most), kBuffers));
  sizes.max_bytes = lowered;
  sizes.min_bytes = std::min(sizes.min_bytes, lowered);
}

/// The notices of all processes, on the first one; a notice of all processes appears once.
std::vector<std::string> all_notices(const mpi::Communicator& world, const std::vector<std::string>& own) {
  std::vector<std::string> all;
  for (std::string& notice : gather_lists_on_first(world, own)) {
    if (std::find(all.begin(), all.end(), notice) == all.end()) all.push_back(std::move(notice));
  }
  return all;
}

void note_unseen(CopySetup& setup, const std::vector<int>& own) {
  if (setup.options.device) return;
  const auto on_host = static_cast<std::size_t>(setup.host->sum(static_cast<std::int64_t>(own.size())));
  if (setup.seen.size() >= on_host) return;
  setup.notices.push_back(fmt::format(
      "Copies between GPUs are left out where no process sees both: host {} has {} GPUs, and a process sees "
      "{} of them; let one process per host see all",
      setup.location.host, on_host, setup.seen.size()));
}

/// Shares the time of --quick among all copies of the host that has most.
void share_quick_time(const mpi::Communicator& world, CopySetup& setup) {
  if (!setup.options.quick) return;
  const std::int64_t most = world.max(std::max<std::int64_t>(std::ssize(setup.copies), 1));
  setup.options.time_budget = kQuickTime / static_cast<double>(most);
  setup.notices.push_back(fmt::format("--quick: {} for each copy; intervals are wider than by default",
                                      readable_seconds(setup.options.time_budget)));
}

}  // namespace

const CopyGpu& CopySetup::gpu(int device) const {
  return std::find_if(seen.begin(), seen.end(), [&](const gpu::SeenGpu& one) { return one.gpu.device == device; })->gpu;
}

CopySetup set_up_copies(const mpi::Communicator& world, Options options) {
  CopySetup setup;
  setup.options = std::move(options);
  setup.location = locate_processes(world);
  check_gpus(world, setup);
  setup.host = processes_of_host(world, setup.location.host_id);
  setup.seen = gpus_to_measure(setup.options);
  const std::vector<int> own = own_devices(*setup.host, setup.seen);
  std::vector<int> seen;
  seen.reserve(setup.seen.size());
  for (const gpu::SeenGpu& one : setup.seen) seen.push_back(one.gpu.device);
  if (!own.empty()) setup.memory.devices = seen;
  choose_nodes(setup);
  note_unseen(setup, own);
  lower_sizes(world, setup);
  const SizeList sizes = list_sizes(setup.options.sizes, 1);
  setup.memory.size = setup.options.sizes.max_bytes;
  setup.memory.limit = setup.options.timeout;
  setup.copies = list_copies(own, seen, setup.memory.nodes, sizes.sizes);
  share_quick_time(world, setup);
  setup.notices = all_notices(world, setup.notices);
  return setup;
}

}  // namespace fabricbench
