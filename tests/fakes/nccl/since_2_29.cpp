// What came with NCCL 2.29: one-sided operations from the host. nccl.h may be older, so all is declared here. The
// conditions are those of rmaTaskAppend in NCCL's src/enqueue.cc.
//
//   FAKE_NCCL_NO_HOST_RMA=1   the communicator has no one-sided operations, which ncclCommQueryProperties tells
//   FAKE_NCCL_SILENT=1        and which it does not tell, as before 2.29.7
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../faulty_call.h"
#include "group.h"

namespace {

using fake_nccl::Kind;
using fake_nccl::Operation;

struct Awaited {
  int count;
  int peer;
  int index;
  int context;
};

struct Properties {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int rank;
  int ranks;
  int cuda_device;
  int nvml_device;
  bool device_api;
  bool multimem;
  int gin_type;
  int lsa_teams;
  bool host_rma;
  int railed_gin_type;
};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

ncclResult_t refuse(const std::string& reason) { return fake_nccl::failed(ncclInvalidArgument, reason); }

ncclResult_t why_not(int index, int context, unsigned flags) {
  if (is_set("FAKE_NCCL_NO_HOST_RMA")) {
    return refuse("One sided RMA: host RMA is not supported in this communicator.");
  }
  if (context != 0) return refuse("Context " + std::to_string(context) + " is invalid (must be 0)");
  if (index != 0) return refuse("Signal index " + std::to_string(index) + " is invalid (must be 0)");
  if (flags != 0) return refuse("Flags " + std::to_string(flags) + " is invalid (must be 0)");
  return ncclSuccess;
}

bool holds(const fake_nccl::Window& window, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  return window.block != nullptr && begin >= window.block && begin + bytes <= window.block + window.bytes;
}

Operation one_sided(Kind kind, const void* from, std::size_t count, int peer) {
  return {kind, static_cast<const std::byte*>(from), nullptr, count, ncclInt8, ncclSum, peer, {}};
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are NCCL's, whose older headers lack them.
extern "C" {

ncclResult_t ncclPutSignal(const void* from, size_t count, ncclDataType_t type, int peer, void* window, size_t offset,
                           int index, int context, unsigned flags, ncclComm_t communicator, cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  if (const ncclResult_t problem = why_not(index, context, flags); problem != ncclSuccess) return problem;
  const auto& windows = communicator->rank->windows;
  const std::size_t bytes = count * fake_nccl::element_bytes(type);
  const auto target =
      std::find_if(windows.begin(), windows.end(), [&](const auto& one) { return one.block == window; });
  if (target == windows.end() || offset + bytes > target->bytes) return refuse("ncclPutSignal: peerWin is NULL");
  if (std::none_of(windows.begin(), windows.end(), [&](const auto& one) { return holds(one, from, bytes); })) {
    return refuse("ncclPutSignal: srcWinHost is not in a valid symmetric window");
  }
  Operation put = one_sided(Kind::kPut, from, bytes, peer);
  put.window = static_cast<std::uint64_t>(target - windows.begin());
  put.offset = offset;
  return fake_nccl::start(communicator, stream, put);
}

ncclResult_t ncclSignal(int peer, int index, int context, unsigned flags, ncclComm_t communicator,
                        cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  if (const ncclResult_t problem = why_not(index, context, flags); problem != ncclSuccess) return problem;
  return fake_nccl::start(communicator, stream, one_sided(Kind::kPut, nullptr, 0, peer));
}

ncclResult_t ncclWaitSignal(int peers, Awaited* awaited, ncclComm_t communicator, cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  if (awaited == nullptr || peers == 0) return refuse("ncclWaitSignal: invalid arguments");
  for (int i = 0; i < peers; ++i) {
    if (const ncclResult_t problem = why_not(awaited[i].index, awaited[i].context, 0); problem != ncclSuccess) {
      return problem;
    }
    if (awaited[i].count <= 0) return refuse("ncclWaitSignal: descriptor has invalid opCnt");
    const Operation wait = one_sided(Kind::kWait, nullptr, static_cast<std::size_t>(awaited[i].count), awaited[i].peer);
    if (const ncclResult_t problem = fake_nccl::start(communicator, stream, wait); problem != ncclSuccess) {
      return problem;
    }
  }
  return ncclSuccess;
}

ncclResult_t ncclCommQueryProperties(ncclComm_t communicator, Properties* properties) {
  if (fails()) return ncclSystemError;
  if (properties->magic != 0xcafebeef) return ncclInvalidUsage;
  properties->rank = communicator->rank->rank;
  properties->ranks = communicator->rank->ranks;
  properties->host_rma = is_set("FAKE_NCCL_SILENT") || !is_set("FAKE_NCCL_NO_HOST_RMA");
  return ncclSuccess;
}
}
// NOLINTEND(readability-identifier-naming)
