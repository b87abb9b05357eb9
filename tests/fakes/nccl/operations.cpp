// The operations of NCCL 2.18.
#include <cstring>

#include "../faulty_call.h"
#include "group.h"

namespace {

using fake_nccl::Kind;
using fake_nccl::Operation;

Operation operation(Kind kind, const void* send, void* recv, std::size_t count, ncclDataType_t type,
                    ncclRedOp_t reduction, int root) {
  return {kind, static_cast<const std::byte*>(send), static_cast<std::byte*>(recv), count, type, reduction, root, {}};
}

}  // namespace

ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                           ncclComm_t communicator, cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kAllReduce, send, recv, count, type, reduction, 0));
}

ncclResult_t ncclAllGather(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t communicator,
                           cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kAllGather, send, recv, count, type, ncclSum, 0));
}

ncclResult_t ncclReduceScatter(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                               ncclComm_t communicator, cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kReduceScatter, send, recv, count, type, reduction, 0));
}

ncclResult_t ncclBroadcast(const void* send, void* recv, size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kBroadcast, send, recv, count, type, ncclSum, root));
}

ncclResult_t ncclReduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                        int root, ncclComm_t communicator, cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kReduce, send, recv, count, type, reduction, root));
}

ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kSend, send, nullptr, count, type, ncclSum, peer));
}

ncclResult_t ncclRecv(void* recv, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kRecv, nullptr, recv, count, type, ncclSum, peer));
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* reduction, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t communicator) {
  if (fails()) return ncclSystemError;
  if (residence != ncclScalarHostImmediate) return ncclInvalidArgument;
  auto& mulsums = communicator->rank->mulsums;
  fake_nccl::MulSum mulsum{type, 0, true};
  std::memcpy(&mulsum.scalar_bits, scalar, fake_nccl::element_bytes(type));
  *reduction = static_cast<ncclRedOp_t>(static_cast<std::size_t>(ncclNumOps) + mulsums.size());
  mulsums.push_back(mulsum);
  return ncclSuccess;
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t reduction, ncclComm_t communicator) {
  if (fails()) return ncclSystemError;
  communicator->rank->mulsums.at(static_cast<std::size_t>(reduction - ncclNumOps)).alive = false;
  return ncclSuccess;
}
