#include "common/backends/nccl/put_backend.h"

#include <string_view>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::nccl {
namespace {

constexpr int kOldestThatTells = 22907;

/// NCCL's words where communicator or driver cannot do it (rmaTaskAppend in its src/enqueue.cc).
bool is_refusal(std::string_view text) {
  return text.find("RMA") != std::string_view::npos || text.find("symmetric window") != std::string_view::npos;
}

}  // namespace

std::string why_not_one_sided(const Communicators& communicators) {
  const Library& library = *communicators.library();
  if (library.version() < kOldestThatTells || library.functions().query_properties == nullptr) return "";
  Properties properties;
  const ncclResult_t result = library.functions().query_properties(communicators.get(0), &properties);
  if (result != ncclSuccess) return problem_text(library, result, "ncclCommQueryProperties");
  if (properties.host_rma) return "";
  return "NCCL cannot write into the other ranks' memory here: that takes GPUs that all reach each other, or a network "
         "for one-sided operations, and NCCL_CUMEM_ENABLE and NCCL_WIN_ENABLE not 0";
}

PutBackend::PutBackend(const Communicators& communicators, const Registrar& registrar, int local_rank,
                       cuda::DeviceStream stream, std::function<void()> meet)
    : communicators_(&communicators),
      library_(communicators.library().get()),
      registrar_(&registrar),
      local_rank_(local_rank),
      stream_(stream.stream),
      plain_(communicators, local_rank, stream),
      meet_(std::move(meet)) {}

/// An open group would take in every later call on this thread.
PutBackend::~PutBackend() {
  if (group_open_ && !communicators_->aborted()) static_cast<void>(close_group());
}

void PutBackend::prepare(std::span<const std::byte> send, std::span<std::byte> recv) {
  send_ = send;
  recv_ = registrar_->place_of(local_rank_, recv.data());
  meet_();
}

void PutBackend::send(const void* buffer, std::size_t count, DataType datatype, int to) {
  const Functions& nccl = library_->functions();
  const ncclComm_t communicator = communicators_->get(local_rank_);
  if (count == 0) {
    check_call(nccl.signal(to, 0, 0, 0, communicator, stream_), "ncclSignal");
    return;
  }
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(buffer) - send_.data());
  check_call(nccl.put_signal(buffer, count * facts(datatype).size, ncclInt8, to, recv_.window, recv_.offset + offset, 0,
                             0, 0, communicator, stream_),
             "ncclPutSignal");
}

void PutBackend::recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int from) {
  wait_for({.count = 1, .peer = from});
}

void PutBackend::start_send(const void* buffer, std::size_t count, DataType datatype, int to) {
  if (!group_open_) check_call(library_->functions().group_start(), "ncclGroupStart");
  group_open_ = true;
  try {
    send(buffer, count, datatype, to);
  } catch (...) {
    if (!communicators_->aborted()) static_cast<void>(close_group());
    throw;
  }
}

void PutBackend::start_recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int from) {
  ++awaited_.count;
  awaited_.peer = from;
}

void PutBackend::finish() {
  if (group_open_) check_call(close_group(), "ncclGroupEnd");
  if (awaited_.count > 0) wait_for(awaited_);
  awaited_.count = 0;
}

void PutBackend::wait_for(AwaitedSignals awaited) {
  check_call(library_->functions().wait_signal(1, &awaited, communicators_->get(local_rank_), stream_),
             "ncclWaitSignal");
}

ncclResult_t PutBackend::close_group() {
  group_open_ = false;
  return library_->functions().group_end();
}

void PutBackend::check_call(ncclResult_t result, const char* call) const {
  if (result == ncclSuccess) [[likely]]
    return;
  const std::string& place = communicators_->plan().local[static_cast<std::size_t>(local_rank_)].place;
  if (!is_refusal(last_error(*library_))) fail(*library_, result, call, place);
  throw Error(ExitStatus::kMissing, fmt::format("--one-sided: nccl: {}: {}; leave it out to measure ncclSend and "
                                                "ncclRecv",
                                                place, problem_text(*library_, result, call)));
}

}  // namespace fabricbench::nccl
