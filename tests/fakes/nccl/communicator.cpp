// The functions of NCCL 2.18 that make communicators and groups.
#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <cuda_runtime_api.h>
#include <unistd.h>

#include "../faulty_call.h"
#include "group.h"
#include "profiler.h"
#include "version.h"

namespace fake_nccl {
namespace {

std::mutex last_error_guard;
std::array<char, 256> last_error{};

ncclResult_t refuse(const std::string& reason) { return failed(ncclInvalidArgument, reason); }

/// The members that the library knows, of a configuration that may be larger or smaller than its own.
struct KnownConfig {
  alignas(ncclConfig_t) std::array<std::byte, kMostConfigBytes> bytes{};

  explicit KnownConfig(const ncclConfig_t* given) {
    const ncclConfig_t initial = NCCL_CONFIG_INITIALIZER;
    std::memcpy(bytes.data(), &initial, sizeof initial);
    std::memcpy(bytes.data(), given, std::min(given->size, kConfigBytes));
  }
  [[nodiscard]] const ncclConfig_t* get() const { return reinterpret_cast<const ncclConfig_t*>(bytes.data()); }
};

ncclResult_t check_config(const ncclConfig_t* config) {
  if (config->magic != 0xcafebeef) return refuse("ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  if (config->blocking != INT_MIN && config->blocking != 1) return refuse("the fake has blocking communicators only");
  const int* policy = config->version >= 22700 ? cta_policy_of(config) : nullptr;
  if (policy != nullptr && *policy != INT_MIN && (*policy < 0 || *policy > 2)) {
    return refuse("Invalid config policy attribute value " + std::to_string(*policy));
  }
  return ncclSuccess;
}

/// maxP2pPeers, or all ranks.
int most_peers(const ncclConfig_t* config, int ranks) {
  const int* given = config->version >= 23000 ? most_peers_of(config) : nullptr;
  return given == nullptr || *given == INT_MIN ? ranks : std::min(*given, ranks);
}

Address address_in(const ncclUniqueId& id) {
  Address address;
  std::memcpy(&address, id.internal, sizeof address);
  return address;
}

bool given(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

/// Ranks on one host as NCCL sees it: those with the same NCCL_HOSTID, or without one (getHostHash in its src/misc).
std::uint64_t host_number() {
  const char* given_id = std::getenv("NCCL_HOSTID");
  if (given_id != nullptr) return std::hash<std::string_view>{}(given_id);
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::hash<std::string_view>{}(name.data());
}

unsigned bus_of(int device) {
  std::array<char, 32> text{};
  unsigned bus = 0;
  if (cudaDeviceGetPCIBusId(text.data(), text.size(), device) == cudaSuccess) std::sscanf(text.data(), "%*x:%x", &bus);
  return bus;
}

/// As initTransportsRank in NCCL's src/init.cc, on every rank.
ncclResult_t check_gpus(const Rank& rank) {
  if (kSharesGpus && given("NCCL_MULTI_RANK_GPU_ENABLE")) return ncclSuccess;
  const auto& gpus = rank.shared->gpus;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank.ranks); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (gpus[i].host != gpus[j].host || gpus[i].bus != gpus[j].bus) continue;
      return failed(ncclInvalidUsage, shared_gpu_text(static_cast<int>(j), static_cast<int>(i), gpus[i].bus));
    }
  }
  return ncclSuccess;
}

/// As ncclTopoComputeP2pChannels in NCCL's src/graph/paths.cc.
void tell_peers(const Rank& rank) {
  const char* debug = std::getenv("NCCL_DEBUG");
  if (!kSharesGpus || debug == nullptr || std::string_view(debug) != "INFO") return;
  const auto elsewhere = [&](const Gpu& gpu) { return gpu.host != rank.shared->gpus.front().host; };
  const auto& gpus = rank.shared->gpus;
  if (std::none_of(gpus.begin(), gpus.begin() + rank.ranks, elsewhere)) return;
  std::printf("NCCL INFO Tuning P2P operations with maxP2pPeers = %d\n", rank.most_peers);
  std::fflush(stdout);
}

/// Waits until all ranks have joined. Then nobody needs the file any more.
ncclResult_t finish_joining(const std::shared_ptr<Rank>& rank) {
  if (!wait_until([&] { return rank->shared->joined >= rank->ranks; }, rank->aborted)) return ncclInternalError;
  if (rank->rank == 0) close_file(rank->address);
  if (const ncclResult_t problem = check_gpus(*rank); problem != ncclSuccess) return problem;
  tell_peers(*rank);
  open_profiler(*rank);
  return ncclSuccess;
}

/// As NCCL does, which keeps what a graph uses; its kernel for one rank alone uses nothing.
void wait_for_graphs(const Rank& rank) {
  while (rank.ranks > 1 && rank.recorded > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

ncclResult_t join(ncclComm_t* communicator, int ranks, const ncclUniqueId& id, int number, const ncclConfig_t* config) {
  const auto rank = std::make_shared<Rank>();
  rank->fault = fault_of_environment();
  if (rank->fault.hits("init_error", number)) return failed(ncclSystemError, "no network, as the test asked for");
  if (rank->fault.hits("init_hang", number)) {
    for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  rank->address = address_in(id);
  rank->shared = map_segment(rank->address);
  if (rank->shared == nullptr) return refuse("the identifier is of no fake communicator");
  rank->rank = number;
  rank->ranks = ranks;
  rank->most_peers = most_peers(config, ranks);
  rank->null = given("FAKE_NCCL_NULL");
  if (cudaGetDevice(&rank->device) != cudaSuccess) return ncclUnhandledCudaError;
  rank->shared->gpus[static_cast<std::size_t>(number)] = {host_number(), bus_of(rank->device)};
  *communicator = new ncclComm{rank};
  ++rank->shared->joined;
  return finish_with_group([rank] { return finish_joining(rank); });
}

/// As NCCL, which goes back to the device that was current: where none was chosen, that makes a context on the first.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

}  // namespace

void set_last_error(const std::string& text) {
  const std::lock_guard lock(last_error_guard);
  std::strncpy(last_error.data(), text.c_str(), last_error.size() - 1);
}

}  // namespace fake_nccl

using fake_nccl::Rank;

ncclResult_t ncclGetVersion(int* version) {
  if (fails()) return ncclSystemError;
  *version = fake_nccl::kVersion;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (fails()) return ncclSystemError;
  const fake_nccl::Address address = fake_nccl::create_segment();
  if (address.file < 0) return fake_nccl::failed(ncclSystemError, "no shared memory");
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, &address, sizeof address);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (fails()) return ncclSystemError;
  *communicator = nullptr;
  if (ranks < 1 || ranks > fake_nccl::kMostRanks || rank < 0 || rank >= ranks) {
    return fake_nccl::refuse("no such rank");
  }
  const fake_nccl::KnownConfig known(config);
  if (const ncclResult_t problem = fake_nccl::check_config(known.get()); problem != ncclSuccess) return problem;
  return fake_nccl::join(communicator, ranks, id, rank, known.get());
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  if (fails()) return ncclSystemError;
  if (communicator == nullptr) return ncclSuccess;
  const fake_nccl::CurrentDevice device(communicator->rank->device);
  fake_nccl::wait_for_graphs(*communicator->rank);
  fake_nccl::close_profiler(*communicator->rank);
  delete communicator;  // what is still in a stream shares the rank
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  if (fails()) return ncclSystemError;
  if (communicator == nullptr) return ncclSuccess;
  Rank& rank = *communicator->rank;
  const fake_nccl::CurrentDevice device(rank.device);
  rank.aborted = true;
  while (rank.running > 0) std::this_thread::yield();
  fake_nccl::wait_for_graphs(rank);
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  if (fails()) return ncclSystemError;
  *error = static_cast<ncclResult_t>(communicator->rank->async_result.load());
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "remote process exited or there was a network error";
    default: return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t /*communicator*/) { return fake_nccl::last_error.data(); }

ncclResult_t ncclGroupStart() {
  if (fails()) return ncclSystemError;
  fake_nccl::begin_group();
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (fails()) return ncclSystemError;
  return fake_nccl::end_group();
}
