#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <string>
#include <string_view>

#include <nccl.h>

#include "common/core/ownership.h"

namespace fabricbench::nccl {

/// Features that a libnccl may lack, ordered by version.
enum class Feature {
  kMemory,          ///< ncclMemAlloc
  kRegistration,    ///< ncclCommRegister
  kChoices,         ///< a profiler interface that names algorithm and protocol
  kEightBitFloats,  ///< f8e4m3, f8e5m2
  kCtaPolicy,       ///< ncclConfig_t::CTAPolicy
  kWindows,         ///< ncclCommWindowRegister
  kNativeAllToAll,  ///< ncclAlltoAll, ncclGather, ncclScatter
  kLinkCentric,     ///< ncclConfig_t::nvlinkCentricSched
  kDeviceApi,       ///< ncclDevCommCreate
  kOneSided,        ///< ncclPutSignal, ncclWaitSignal
  kMostPeers,       ///< ncclConfig_t::maxP2pPeers
};

/// ncclWaitSignalDesc_t of NCCL 2.29.
struct AwaitedSignals {
  int count;
  int peer;
  int index = 0;  // the only one so far, like the context
  int context = 0;
};

/// ncclCommProperties_t of NCCL 2.29.7 and newer.
struct Properties {
  std::size_t size = sizeof(Properties);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 22907;

  int rank = 0;
  int ranks = 0;
  int cuda_device = 0;
  int nvml_device = 0;
  bool device_api = false;
  bool multimem = false;
  int gin_type = 0;
  int lsa_teams = 0;
  bool host_rma = false;
  int railed_gin_type = 0;
};

/// libnccl's functions. Those of NCCL 2.18 are never null; Library::has tells about the others. Types newer than 2.18
/// are declared by their binary form, so that an older nccl.h compiles too.
struct Functions {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRankConfig) init_rank;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclRedOpCreatePreMulSum) create_mulsum;
  decltype(&ncclRedOpDestroy) destroy_reduction;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclReduceScatter) reduce_scatter;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclReduce) reduce;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) recv;

  ncclResult_t (*allocate)(void** block, std::size_t bytes);
  ncclResult_t (*release)(void* block);
  ncclResult_t (*enrol)(ncclComm_t communicator, void* block, std::size_t bytes, void** handle);
  ncclResult_t (*withdraw)(ncclComm_t communicator, void* handle);
  ncclResult_t (*open_window)(ncclComm_t communicator, void* block, std::size_t bytes, void** window, int flags);
  ncclResult_t (*close_window)(ncclComm_t communicator, void* window);
  decltype(&ncclAllGather) all_to_all;
  decltype(&ncclBroadcast) gather;
  decltype(&ncclBroadcast) scatter;
  ncclResult_t (*create_device_communicator)(ncclComm_t communicator, const void* requirements,
                                             void* device_communicator);
  ncclResult_t (*destroy_device_communicator)(ncclComm_t communicator, const void* device_communicator);
  ncclResult_t (*put_signal)(const void* from, std::size_t count, ncclDataType_t type, int peer, void* window,
                             std::size_t offset, int index, int context, unsigned flags, ncclComm_t communicator,
                             cudaStream_t stream);
  ncclResult_t (*signal)(int peer, int index, int context, unsigned flags, ncclComm_t communicator,
                         cudaStream_t stream);
  ncclResult_t (*wait_signal)(int peers, AwaitedSignals* awaited, ncclComm_t communicator, cudaStream_t stream);
  ncclResult_t (*query_properties)(ncclComm_t communicator, Properties* properties);
};

/// 22809 as `2.28.9`; the coding is the same since NCCL 2.9.
[[nodiscard]] std::string version_text(int version);
/// The version of the nccl.h that this was compiled with.
[[nodiscard]] int header_version();

/// libnccl, loaded at run time, so that one program also starts on hosts without it. It stays loaded to the end of the
/// process, because NCCL has threads of its own.
class Library {
 public:
  /// Throws Error (missing) if there is no such library or if it is older than 2.18.
  explicit Library(const std::string& file = "libnccl.so.2");

  [[nodiscard]] const Functions& functions() const { return functions_; }
  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] bool has(Feature feature) const;
  /// Why `feature` cannot be used, with the existing and the required version; empty if it can.
  [[nodiscard]] std::string why_not(Feature feature) const;

 private:
  void load_required();
  void load_optional();

  Handle<void, &dlclose> handle_;
  Functions functions_{};
  std::string missing_;  // the first required function that is missing
  int version_ = 0;
};

/// What lets ranks share a GPU.
inline constexpr std::string_view kSharedGpuSetting = "NCCL_MULTI_RANK_GPU_ENABLE=1 (NCCL 2.30 and newer)";

/// NCCL's message on the last problem of this process; empty if there was none. It may be unrelated to the last call.
/// From any thread: NCCL ignores the communicator that its function accepts.
[[nodiscard]] std::string last_error(const Library& library);

/// The meaning of a call's result in NCCL's words: `ncclAllReduce: unhandled cuda error: <last error>`.
[[nodiscard]] std::string problem_text(const Library& library, ncclResult_t result, const char* call);

[[noreturn]] void fail(const Library& library, ncclResult_t result, const char* call, std::string_view place);

/// Throws Error with NCCL's message if a call failed. `call` is the function's name; `place` is its rank and device, if
/// known.
inline void check(const Library& library, ncclResult_t result, const char* call, std::string_view place = {}) {
  if (result != ncclSuccess) [[unlikely]]
    fail(library, result, call, place);
}

/// Calls launched together. The destructor closes a group that an exception left open; otherwise every later call on
/// this thread would be part of it.
class Group : NotCopied {
 public:
  explicit Group(const Library& library) : library_(library) {
    check(library_, library_.functions().group_start(), "ncclGroupStart");
  }
  ~Group() {
    if (open_) library_.functions().group_end();
  }
  void end() { check(library_, close(), "ncclGroupEnd"); }
  /// The same for callers that check the result.
  [[nodiscard]] ncclResult_t close() {
    open_ = false;
    return library_.functions().group_end();
  }

 private:
  const Library& library_;
  bool open_ = true;
};

}  // namespace fabricbench::nccl
