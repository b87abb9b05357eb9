#include "common/backends/nccl/nccl_session.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/backends/cuda/device.h"
#include "common/backends/nccl/profiler_plugin.h"
#include "common/core/clock.h"

namespace fabricbench::nccl {
namespace {

/// The decrease from `before` to `now` per device; 0 if others released memory meanwhile.
std::vector<Bytes> taken(const std::vector<Bytes>& before, const std::vector<Bytes>& now) {
  std::vector<Bytes> result(before.size(), 0);
  for (std::size_t i = 0; i < before.size(); ++i) result[i] = before[i] > now[i] ? before[i] - now[i] : 0;
  return result;
}

Bytes largest(const std::vector<Bytes>& values) { return *std::max_element(values.begin(), values.end()); }

/// Asking NCCL for errors is cheap, but too slow for every turn of a loop that waits for microseconds.
constexpr Seconds kErrorCheckInterval = 1e-3;
constexpr int kOldestForEightBits = 90;

/// Ends all processes if one has a reason: with the reason there, and with a reference to it elsewhere.
void agree(const ProcessGroup& group, const std::string& reason) {
  if (group.min(reason.empty() ? 1 : 0) == 1) return;
  throw Error(ExitStatus::kMissing,
              reason.empty() ? "nccl: another process cannot take part; see its message" : reason);
}

/// With CUDA_LAUNCH_BLOCKING, a launch waits for work that would have to be launched or released after it.
std::string why_not_with_blocking_launches(const ProcessGroup& group) {
  if (group.is_isolated) {
    return "--timing isolated: with CUDA_LAUNCH_BLOCKING each launch waits for its operation, so none can be held back "
           "until all are launched; unset it, or leave out --timing isolated";
  }
  if (group.devices.size() > 1) {
    return fmt::format(
        "nccl: with CUDA_LAUNCH_BLOCKING the launch on one GPU waits for the others, which this process launches after "
        "it; unset it, or start {} processes with one GPU each",
        group.devices.size());
  }
  return "";
}

nccl_device::Implementation implementation_of(const ProcessGroup& group, const NcclOptions& options) {
  return nccl_device::implementation_of(static_cast<int>(options.device_implementation), group.all_to_all);
}

std::string why_not_here(const Library& library, const ProcessGroup& group, const NcclOptions& options) {
  if (options.cta_policy >= 0 && !library.has(Feature::kCtaPolicy))
    return "-x: " + library.why_not(Feature::kCtaPolicy);
  if (options.device_implementation > 0) {
    const auto implementation = implementation_of(group, options);
    if (const std::string reason = why_no_device_implementation(library, implementation); !reason.empty()) {
      return "-D: " + reason;
    }
  }
  if (options.one_sided) {
    if (const std::string reason = library.why_not(Feature::kOneSided); !reason.empty()) {
      return fmt::format("--one-sided: {}", reason);
    }
  }
  if (options.graph_launches > 0 && options.null_stream) return "-G: CUDA cannot record the null stream; leave out -y";
  if (cuda::launches_block()) {
    if (std::string reason = why_not_with_blocking_launches(group); !reason.empty()) return reason;
  }
  const char* blocking = std::getenv("NCCL_COMM_BLOCKING");
  if (blocking != nullptr && std::string_view(blocking) == "0") {
    return "nccl: NCCL_COMM_BLOCKING=0 makes NCCL start a thread at every operation; unset it";
  }
  return "";
}

/// Checks the requirements of -D; the same options on every process.
void check_device_options(const NcclOptions& options) {
  if (options.device_implementation == 0 || options.registration == Registration::kSymmetric) return;
  throw UsageError(fmt::format("-D {}: its kernels reach the buffers through symmetric windows; add -R 2",
                               options.device_implementation));
}

void check_versions(const ProcessGroup& group, int version) {
  const std::int64_t oldest = group.min(version);
  const std::int64_t newest = -group.min(-version);
  if (oldest == newest) return;
  throw Error(ExitStatus::kMissing,
              fmt::format("nccl: the processes have NCCL {} to {}; give all the same one with LD_LIBRARY_PATH",
                          version_text(static_cast<int>(oldest)), version_text(static_cast<int>(newest))));
}

int capability_number(const std::string& text) {  // `9.0`
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return 0;
  return std::atoi(text.c_str()) * 10 + std::atoi(text.c_str() + point + 1);
}

/// Process 0's identifier on every process; the same error on all if it could not be created.
ncclUniqueId shared_id(const Library& library, const ProcessGroup& group) {
  ncclUniqueId id{};
  std::string reason;
  if (group.process == 0) {
    const ncclResult_t result = library.functions().get_unique_id(&id);
    if (result != ncclSuccess) reason = "nccl: " + problem_text(library, result, "ncclGetUniqueId");
  }
  agree(group, reason);
  group.broadcast(std::as_writable_bytes(std::span(&id, 1)));
  return id;
}

CommunicatorPlan plan_of(const Library& library, const ProcessGroup& group, const NcclOptions& options,
                         std::vector<LocalRank> local) {
  CommunicatorPlan plan;
  plan.ranks = group.processes * static_cast<int>(local.size());
  plan.local = std::move(local);
  plan.in_parallel = options.parallel_init;
  plan.time_limit = group.timeout;
  plan.config.blocking = 1;
  if (options.cta_policy >= 0) plan.config.cta_policy = static_cast<int>(options.cta_policy);
  // As in nccl-tests, so that figures are comparable.
  if (library.has(Feature::kLinkCentric)) plan.config.nvlink_centric = 1;
  if (group.most_peers > 0 && library.has(Feature::kMostPeers)) plan.config.max_p2p_peers = group.most_peers;
  return plan;
}

}  // namespace

MemoryReport::MemoryReport(std::vector<int> devices, bool wanted)
    : devices_(wanted ? std::move(devices) : std::vector<int>{}),
      at_first_(free_now()),
      after_initialisation_(at_first_),
      in_buffers_(devices_.size(), 0),
      most_in_buffers_(in_buffers_) {}

void MemoryReport::end_initialisation() { after_initialisation_ = free_now(); }

std::vector<Bytes> MemoryReport::free_now() const {
  std::vector<Bytes> result;
  for (const int device : devices_) result.push_back(cuda::free_memory(device));
  return result;
}

void MemoryReport::buffers_taken(const std::vector<Bytes>& free_before) {
  const std::vector<Bytes> by_these = taken(free_before, free_now());
  for (std::size_t i = 0; i < by_these.size(); ++i) {
    in_buffers_[i] += by_these[i];
    most_in_buffers_[i] = std::max(most_in_buffers_[i], in_buffers_[i]);
  }
}

void MemoryReport::buffers_released(const std::vector<Bytes>& free_before) {
  const std::vector<Bytes> given_back = taken(free_now(), free_before);
  for (std::size_t i = 0; i < given_back.size(); ++i) in_buffers_[i] -= std::min(in_buffers_[i], given_back[i]);
}

std::string MemoryReport::text() const {
  if (devices_.empty()) return "";
  const Bytes initialisation = largest(taken(at_first_, after_initialisation_));
  const Bytes buffers = largest(most_in_buffers_);
  std::vector<Bytes> later = taken(after_initialisation_, free_now());
  for (std::size_t i = 0; i < later.size(); ++i) later[i] -= std::min(later[i], in_buffers_[i]);
  const Bytes collective = largest(later);
  return fmt::format("Initialization {} | User-Allocated {} | Collective {} | Total {}", memory_text(initialisation),
                     memory_text(buffers), memory_text(collective), memory_text(initialisation + buffers + collective));
}

std::string memory_text(Bytes bytes) {
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB"};
  for (; amount >= 1024 && unit < 3; ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, amount < 10 ? 2 : amount < 100 ? 1 : 0, kUnits[unit]);
}

NcclMemory::NcclMemory(std::shared_ptr<const Library> library, cuda::DeviceStream stream, Seconds limit)
    : CudaMemory(stream, limit), library_(std::move(library)) {}

std::byte* NcclMemory::allocate(std::size_t bytes) {
  if (!library_->has(Feature::kMemory)) return CudaMemory::allocate(bytes);
  const cuda::DeviceGuard guard(device());
  void* block = nullptr;
  const ncclResult_t result = library_->functions().allocate(&block, std::max(bytes, std::size_t{1}));
  if (result == ncclSuccess) return static_cast<std::byte*>(block);
  throw Error(ExitStatus::kMissing, fmt::format("nccl: GPU {}: {} asked for, {} free: {}", device(),
                                                readable_bytes(bytes), readable_bytes(cuda::free_memory(device())),
                                                problem_text(*library_, result, "ncclMemAlloc")));
}

void NcclMemory::release(std::byte* block) noexcept {
  if (!library_->has(Feature::kMemory)) {
    CudaMemory::release(block);
    return;
  }
  if (library_->functions().release(block) == ncclSuccess) return;
  fmt::print(stderr, "nccl: GPU {}: ncclMemFree failed\n", device());
}

NcclSession::NcclSession(std::shared_ptr<const Library> library, const ProcessGroup& group, const NcclOptions& options,
                         bool choices_wanted)
    : library_(std::move(library)),
      options_(options),
      sharing_(std::max(group.sharing, 1)),
      wait_limit_(group.timeout > 0 ? 1.25 * group.timeout + 2 : 0) {
  check_versions(group, library_->version());
  agree(group, why_not_here(*library_, group, options_));
  check_device_options(options_);
  const bool ours = options_.device_implementation > 0;
  if (ours) {
    why_no_choices_ = "with -D the kernels are not NCCL's";
  } else {
    why_no_choices_ = choices_wanted ? offer_plugin(*library_) : "it was not requested";
  }

  use_devices(group);
  memory_report_.emplace(group.devices, options_.memory_report);
  communicators_.emplace(library_, shared_id(*library_, group), plan_of(*library_, group, options_, local_));
  if (options_.one_sided) options_.registration = Registration::kSymmetric;
  registrar_.emplace(*communicators_, options_.registration);
  if (ours) {
    make_device_backends(group);
  } else if (options_.one_sided) {
    make_put_backends(group);
  } else {
    make_backends(group);
  }
  memory_report_->end_initialisation();
  if (why_no_choices_.empty() && !plugin_in_use()) {
    why_no_choices_ =
        fmt::format("NCCL {} has not asked this program for its profiler plug-in", version_text(library_->version()));
  }
  poll_ = [this] { check_errors(); };
}

NcclSession::~NcclSession() = default;

void NcclSession::use_devices(const ProcessGroup& group) {
  int oldest_gpu = 10000;
  for (std::size_t i = 0; i < group.devices.size(); ++i) {
    const cuda::DeviceFacts device = cuda::device_facts(group.devices[i]);
    const auto rank_of = [&](int process) {
      return process * static_cast<int>(group.devices.size()) + static_cast<int>(i);
    };
    const int rank_in_job = rank_of(group.process_in_job.value_or(group.process));
    local_.push_back({rank_of(group.process), device.device,
                      fmt::format("rank {} on GPU {} ({})", rank_in_job, device.device, device.pci_address)});
    oldest_gpu = std::min(oldest_gpu, capability_number(device.compute_capability));
    streams_.push_back(options_.null_stream ? cuda::Stream::null(device.device) : cuda::Stream::create(device.device));
    views_.push_back(streams_.back().view());
    memories_.push_back(std::make_unique<NcclMemory>(library_, views_.back(), group.timeout));
  }
  compute_capability_ = static_cast<int>(group.min(oldest_gpu));
  clock_.emplace(views_);
  if (!options_.null_stream) recording_.emplace(views_);
}

void NcclSession::make_backends(const ProcessGroup& group) {
  const auto& reductions = group.reductions;
  const bool multiplied = std::find(reductions.begin(), reductions.end(), Reduction::kMulSum) != reductions.end();
  std::vector<DataType> with_mulsum;
  for (const DataType datatype : group.datatypes) {
    if (multiplied && why_not(datatype, Reduction::kMulSum).empty()) with_mulsum.push_back(datatype);
  }
  for (std::size_t i = 0; i < views_.size(); ++i) {
    backends_.push_back(make_nccl_backend(*communicators_, static_cast<int>(i), views_[i], with_mulsum));
  }
}

void NcclSession::make_device_backends(const ProcessGroup& group) {
  if (const std::string reason = why_no_device_implementation(compute_capability_); !reason.empty()) {
    throw Error(ExitStatus::kMissing, "-D: " + reason);
  }
  device_communicators_.emplace(*communicators_, DevicePlan{implementation_of(group, options_),
                                                            static_cast<int>(options_.device_ctas), group.datatypes});
  for (std::size_t i = 0; i < views_.size(); ++i) {
    backends_.push_back(make_device_backend(*device_communicators_, *registrar_, static_cast<int>(i), views_[i]));
  }
}

void NcclSession::make_put_backends(const ProcessGroup& group) {
  const std::string reason = why_not_one_sided(*communicators_);
  agree(group, reason.empty() ? "" : fmt::format("--one-sided: {}", reason));
  const auto meet = [min = group.min] { (void)min(0); };
  for (std::size_t i = 0; i < views_.size(); ++i) {
    backends_.push_back(make_put_backend(*communicators_, *registrar_, static_cast<int>(i), views_[i], meet));
  }
}

std::string NcclSession::library() const {
  std::string text =
      fmt::format("NCCL {}, headers {}", version_text(library_->version()), version_text(header_version()));
  if (options_.one_sided) return fmt::format("{}, one-sided (ncclPutSignal)", text);
  if (!device_communicators_) return text;
  return fmt::format("{}, kernels of fabricbench through its device API (-D {}, {} CTAs)", text,
                     options_.device_implementation, options_.device_ctas);
}

Conventions NcclSession::conventions() const {
  return {.broadcast_copies_at_root = true,
          .reduce_scatter_stays_in_block = true,
          .average = Average::kMultipliesEachValue};
}

std::string NcclSession::why_not(DataType datatype, Reduction reduction) const {
  if (device_communicators_) {
    std::string reason = why_no_kernel(device_communicators_->implementation(), datatype, reduction);
    if (!reason.empty()) return reason;
  }
  if (datatype != DataType::kF8e4m3 && datatype != DataType::kF8e5m2) return "";
  if (std::string reason = library_->why_not(Feature::kEightBitFloats); !reason.empty()) return reason;
  if (compute_capability_ < kOldestForEightBits) {
    return fmt::format("NCCL computes with {} where the GPU has compute capability 9.0 or newer; here is one of {}.{}",
                       facts(datatype).name, compute_capability_ / 10, compute_capability_ % 10);
  }
  const bool multiplies = reduction == Reduction::kAvg || reduction == Reduction::kMulSum;
  if (!multiplies || communicators_->plan().ranks > 1) return "";
  // ncclLaunchOneRank (NCCL's src/device/onerank.cu, 2.24 to 2.30) answers "invalid argument".
  return fmt::format("NCCL has no {} of {} for one rank alone", name(reduction), facts(datatype).name);
}

std::vector<int> NcclSession::devices() const {
  std::vector<int> devices;
  for (const LocalRank& rank : local_) devices.push_back(rank.device);
  return devices;
}

std::vector<std::byte*> NcclSession::allocate(std::size_t bytes) {
  const std::vector<Bytes> free_before = memory_report_->free_now();
  std::vector<std::byte*> blocks;
  try {
    for (const auto& memory : memories_) blocks.push_back(memory->allocate(bytes));
    registrar_->enrol(blocks, std::max(bytes, std::size_t{1}));
  } catch (...) {
    for (std::size_t i = 0; i < blocks.size(); ++i) memories_[i]->release(blocks[i]);
    throw;
  }
  memory_report_->buffers_taken(free_before);
  return blocks;
}

void NcclSession::release(const std::vector<std::byte*>& blocks) noexcept {
  try {
    const std::vector<Bytes> free_before = memory_report_->free_now();
    registrar_->withdraw(blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i) memories_[i]->release(blocks[i]);
    memory_report_->buffers_released(free_before);
  } catch (const std::exception& error) {  // from the report only
    fmt::print(stderr, "{}\n", error.what());
  }
}

std::optional<Bytes> NcclSession::device_memory() const {
  Bytes least = ~Bytes{0};
  for (const LocalRank& local : local_) {
    const Bytes reserve = std::min(cuda::device_facts(local.device).memory / 16, Bytes{4} << 30);
    const Bytes free = cuda::free_memory(local.device);
    least = std::min(least, free > reserve ? free - reserve : 0);
  }
  return least / static_cast<Bytes>(sharing_);
}

void NcclSession::begin_group() { check(*library_, library_->functions().group_start(), "ncclGroupStart"); }

void NcclSession::end_group() {
  const std::string_view place = local_.size() == 1 ? std::string_view(local_.front().place) : std::string_view();
  check(*library_, library_->functions().group_end(), "ncclGroupEnd", place);
}

void NcclSession::wait() {
  next_error_check_ = 0;
  try {
    cuda::wait_for(views_, wait_limit_, poll_);
  } catch (const Error& problem) {
    give_up(problem);
  }
  if (communicators_->aborted()) throw Error(ExitStatus::kFailure, "nccl: the communicators have been aborted");
}

void NcclSession::check_errors() {
  const Seconds time = now();
  if (next_error_check_ == 0) next_error_check_ = time + kErrorCheckInterval;
  if (time < next_error_check_) return;
  next_error_check_ = time + kErrorCheckInterval;
  const std::string problem = communicators_->asynchronous_error();
  if (!problem.empty()) throw Error(ExitStatus::kFailure, "nccl: " + problem);
}

void NcclSession::abort() noexcept {
  if (recording_) recording_->drop();
  communicators_->abort();
}

/// Names the ranks that have not finished before the abort, which ends them too.
void NcclSession::give_up(const Error& problem) {
  std::string waiting;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const cuda::DeviceGuard device(views_[i].device);
    if (cudaStreamQuery(views_[i].stream) == cudaErrorNotReady) {
      waiting += fmt::format("{}{}", waiting.empty() ? "" : ", ", local_[i].place);
    }
  }
  const std::string detail = last_error(*library_);
  abort();
  const std::string message = problem.what();
  if (message.starts_with("nccl: ")) throw Error(problem.status(), message);  // names rank and error itself
  throw Error(problem.status(),
              fmt::format("nccl: {}: {}; NCCL's last error: {}", waiting.empty() ? local_.front().place : waiting,
                          message, detail.empty() ? "none" : detail));
}

void NcclSession::observe(bool on) { observe_choices(on); }

std::optional<LibraryChoice> NcclSession::last() const { return last_choice(); }

std::string NcclSession::state() const {
  std::string text;
  for (const LocalRank& local : local_) text += local.place + ", ";
  const std::string detail = last_error(*library_);
  return fmt::format("{}NCCL: {}", text, detail.empty() ? "no error" : detail);
}

}  // namespace fabricbench::nccl
