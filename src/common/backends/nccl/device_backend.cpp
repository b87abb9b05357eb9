#include "common/backends/nccl/device_backend.h"

#include <exception>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::nccl {
namespace {

constexpr int kOldestGpu = 80;

bool is_eight_bit_float(DataType datatype) { return datatype == DataType::kF8e4m3 || datatype == DataType::kF8e5m2; }

/// The types that multicast memory can add and NCCL's multimem supports (PTX ISA, multimem.ld_reduce).
bool is_for_multimem(DataType datatype) {
  return datatype == DataType::kFloat || datatype == DataType::kHalf || datatype == DataType::kBfloat16;
}

/// NCCL returns one of these two if the machine lacks memory shared by all ranks, or multicast memory.
bool is_refusal(ncclResult_t result) { return result == ncclInvalidUsage || result == ncclInvalidArgument; }

/// NCCL has an internal error where no adapter can be driven by GPUs (ncclGinConnectOnce in its src/gin/gin_host.cc).
bool names_gin(std::string_view text) { return text.find("GIN") != std::string_view::npos; }

/// One rank whose operations are our kernels on NCCL's device interface (-D): the sum of an all_reduce, and all_to_all.
/// Buffers lie in symmetric windows, at the same place on all ranks. Every other operation throws Error (missing) when
/// called, on all ranks.
class DeviceBackend final : public CollectiveBackend {
 public:
  /// Does not own its arguments, which must outlive it.
  DeviceBackend(const DeviceCommunicators& communicators, const Registrar& registrar, int local_rank,
                cuda::DeviceStream stream)
      : communicator_(&communicators.get(local_rank)),
        registrar_(&registrar),
        implementation_(communicators.implementation()),
        local_rank_(local_rank),
        stream_(stream) {}

  void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override {
    if (const std::string reason = why_no_kernel(implementation_, datatype, reduction); !reason.empty()) {
      throw Error(ExitStatus::kMissing, reason);
    }
    const cuda::DeviceGuard device(stream_.device);
    cuda::check(communicator_->all_reduce(registrar_->place_of(local_rank_, send),
                                          registrar_->place_of(local_rank_, recv), count, datatype, stream_.stream),
                "cudaLaunchKernel");
  }
  void all_gather(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/) override {
    throw_no_kernel("all_gather");
  }
  void reduce_scatter(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                      Reduction /*reduction*/) override {
    throw_no_kernel("reduce_scatter");
  }
  void broadcast(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                 int /*root*/) override {
    throw_no_kernel("broadcast");
  }
  void reduce(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
              Reduction /*reduction*/, int /*root*/) override {
    throw_no_kernel("reduce");
  }
  void all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) override {
    if (uses_multimem(implementation_)) throw_no_kernel("alltoall by multimem");
    const cuda::DeviceGuard device(stream_.device);
    cuda::check(communicator_->all_to_all(registrar_->place_of(local_rank_, send),
                                          registrar_->place_of(local_rank_, recv), count, datatype, stream_.stream),
                "cudaLaunchKernel");
  }
  void all_to_all_v(const void* /*send*/, void* /*recv*/, const AllToAllVCounts& /*exchange*/,
                    DataType /*datatype*/) override {
    throw_no_kernel("alltoallv");
  }
  void gather(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
              int /*root*/) override {
    throw_no_kernel("gather");
  }
  void scatter(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
               int /*root*/) override {
    throw_no_kernel("scatter");
  }
  void send_recv(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                 Partners /*partners*/) override {
    throw_no_kernel("send and receive");
  }
  void send(const void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*to*/) override {
    throw_no_kernel("send");
  }
  void recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*from*/) override {
    throw_no_kernel("receive");
  }
  void start_send(const void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*to*/) override {
    throw_no_kernel("send");
  }
  void start_recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*from*/) override {
    throw_no_kernel("receive");
  }
  void finish() override { throw_no_kernel("windows of messages"); }
  void copy(const void* from, void* into, std::size_t bytes) override {
    if (from == into || bytes == 0) return;
    const cuda::DeviceGuard device(stream_.device);
    cuda::check(cudaMemcpyAsync(into, from, bytes, cudaMemcpyDeviceToDevice, stream_.stream), "cudaMemcpyAsync");
  }
  void barrier() override { throw_no_kernel("barrier"); }

 private:
  [[noreturn]] void throw_no_kernel(std::string_view operation) const {
    throw Error(ExitStatus::kMissing, fmt::format("-D {}: there are kernels for all_reduce and alltoall, none for {}; "
                                                  "leave out -D to measure NCCL's own",
                                                  option_of(implementation_), operation));
  }

  const nccl_device::DeviceCommunicator* communicator_;
  const Registrar* registrar_;
  nccl_device::Implementation implementation_;
  int local_rank_;
  cuda::DeviceStream stream_;
};

}  // namespace

struct DeviceCommunicators::Work {
  std::shared_ptr<const Library> library;
  std::vector<LocalRank> local;
  std::vector<ncclComm_t> communicators;
  std::vector<nccl_device::DeviceCommunicator> made;
  nccl_device::Implementation implementation;

  /// In a group, because the ranks wait for each other.
  void create() {
    Group group(*library);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const cuda::DeviceGuard device(local[i].device);
      check_created(made[i].create(communicators[i]), local[i].place);
    }
    check_created(group.close(), local.front().place);
  }

  void destroy() {
    Group group(*library);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const cuda::DeviceGuard device(local[i].device);
      check(*library, made[i].destroy(communicators[i]), "ncclDevCommDestroy", local[i].place);
    }
    group.end();
  }

  void check_created(ncclResult_t result, const std::string& place) const {
    if (result == ncclSuccess) return;
    const bool refused = is_refusal(result) || (result == ncclInternalError && names_gin(last_error(*library)));
    throw Error(refused ? ExitStatus::kMissing : ExitStatus::kFailure,
                fmt::format("-D {}: nccl: {}: {}{}", option_of(implementation), place,
                            problem_text(*library, result, "ncclDevCommCreate"),
                            refused ? "; NCCL cannot do it on this machine, leave out -D" : ""));
  }
};

std::string why_no_device_implementation(const Library& library, nccl_device::Implementation implementation) {
  if (std::string reason = library.why_not(Feature::kDeviceApi); !reason.empty()) return reason;
  return nccl_device::why_not(library.version(), implementation);
}

std::string why_no_device_implementation(int compute_capability) {
  if (compute_capability >= kOldestGpu) return "";
  return fmt::format("its kernels are for GPUs of compute capability 8.0 and newer; here is one of {}.{}",
                     compute_capability / 10, compute_capability % 10);
}

std::string why_no_kernel(nccl_device::Implementation implementation, DataType datatype, Reduction reduction) {
  if (reduction == Reduction::kNone) return "";
  const int option = option_of(implementation);
  if (reduction != Reduction::kSum) return fmt::format("-D {} reduces by sum only, not by {}", option, name(reduction));
  if (uses_multimem(implementation) && !is_for_multimem(datatype)) {
    return fmt::format("-D {} adds float, half and bfloat16, not {}", option, facts(datatype).name);
  }
  if (is_eight_bit_float(datatype)) return fmt::format("-D {} does not add {}", option, facts(datatype).name);
  return "";
}

DeviceCommunicators::DeviceCommunicators(const Communicators& communicators, const DevicePlan& plan)
    : communicators_(&communicators), implementation_(plan.implementation) {
  const CommunicatorPlan& ranks = communicators.plan();
  const Functions& nccl = communicators.library()->functions();
  work_ = std::make_shared<Work>(Work{communicators.library(), ranks.local, {}, {}, plan.implementation});
  for (int i = 0; i < communicators.size(); ++i) {
    work_->communicators.push_back(communicators.get(i));
    work_->made.emplace_back(nccl_device::Functions{nccl.create_device_communicator, nccl.destroy_device_communicator},
                             plan.implementation, plan.ctas);
  }
  if (!finish_within(ranks.time_limit, [work = work_] { work->create(); })) {
    throw Error(ExitStatus::kTimeout, fmt::format("nccl: {}: ncclDevCommCreate has not ended within {} s",
                                                  ranks.local.front().place, ranks.time_limit));
  }
  check_usable();
  load_kernels(plan.datatypes);
}

DeviceCommunicators::~DeviceCommunicators() {
  if (std::uncaught_exceptions() > 0 || communicators_->aborted()) return;
  try {
    if (finish_within(communicators_->plan().time_limit, [work = work_] { work->destroy(); })) return;
    fmt::print(stderr, "nccl: {}: ncclDevCommDestroy has not ended in time\n", work_->local.front().place);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
}

const nccl_device::DeviceCommunicator& DeviceCommunicators::get(int local_rank) const {
  return work_->made[static_cast<std::size_t>(local_rank)];
}

void DeviceCommunicators::check_usable() const {
  for (const nccl_device::DeviceCommunicator& made : work_->made) {
    if (const std::string reason = made.why_not(); !reason.empty()) {
      throw Error(ExitStatus::kMissing, fmt::format("-D {}: {}", option_of(implementation_), reason));
    }
  }
}

void DeviceCommunicators::load_kernels(const std::vector<DataType>& datatypes) const {
  for (std::size_t i = 0; i < work_->made.size(); ++i) {
    const cuda::DeviceGuard device(work_->local[i].device);
    for (const DataType datatype : datatypes) cuda::check(work_->made[i].load(datatype), "cudaFuncGetAttributes");
  }
}

std::unique_ptr<CollectiveBackend> make_device_backend(const DeviceCommunicators& communicators,
                                                       const Registrar& registrar, int local_rank,
                                                       cuda::DeviceStream stream) {
  return std::make_unique<DeviceBackend>(communicators, registrar, local_rank, stream);
}

}  // namespace fabricbench::nccl
