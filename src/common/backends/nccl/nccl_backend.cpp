#include "common/backends/nccl/nccl_backend.h"

#include <string_view>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/pattern.h"

namespace fabricbench::nccl {
namespace {

/// NCCL numbers its types in the order of nccl-tests' `-d all`, like DataType; an nccl.h older than 2.24 lacks the
/// 8-bit ones.
constexpr ncclDataType_t nccl_type(DataType datatype) { return static_cast<ncclDataType_t>(datatype); }
static_assert(nccl_type(DataType::kUint64) == ncclUint64 && nccl_type(DataType::kHalf) == ncclFloat16 &&
              nccl_type(DataType::kBfloat16) == ncclBfloat16 && static_cast<int>(DataType::kF8e5m2) == 11);

const std::byte* element(const void* buffer, std::size_t index, DataType datatype) {
  return static_cast<const std::byte*>(buffer) + index * facts(datatype).size;
}
std::byte* element(void* buffer, std::size_t index, DataType datatype) {
  return static_cast<std::byte*>(buffer) + index * facts(datatype).size;
}

cuda::DeviceBlock barrier_word(int device) {
  const cuda::DeviceGuard guard(device);
  void* block = nullptr;
  cuda::check(cudaMalloc(&block, sizeof(std::int32_t)), "cudaMalloc");
  cuda::DeviceBlock word(block);
  cuda::check(cudaMemset(block, 0, sizeof(std::int32_t)), "cudaMemset");
  return word;
}

constexpr int kOldestThatTells = 22907;

/// NCCL's words where communicator or driver cannot do it (rmaTaskAppend in its src/enqueue.cc).
bool is_refusal(std::string_view text) {
  return text.find("RMA") != std::string_view::npos || text.find("symmetric window") != std::string_view::npos;
}

/// One rank of NCCL on its stream. If a process has several ranks, its calls are made between begin_group and end_group
/// of the session. Primitives that this NCCL lacks are groups of ncclSend and ncclRecv, as in NCCL itself; all_to_all_v
/// always is. The barrier is an all-reduce of one element, because NCCL has none.
///
/// A single send or recv is a group of its own, in the order of the stream. Messages in flight at once form one group
/// from the first start_send or start_recv to `finish`, together with everything else that the thread starts in
/// between. None of it is launched before `finish`, or before the end of the session's group if there is one. All
/// messages of a group are in flight at once, so a send and a recv that must follow each other are not in one group. A
/// rank's messages to itself are in a group, because NCCL refuses single ones.
class NcclBackend final : public CollectiveBackend {
 public:
  /// Does not own communicators and stream, which must outlive it.
  NcclBackend(const Communicators& communicators, int local_rank, cuda::DeviceStream stream)
      : communicators_(&communicators),
        library_(communicators.library().get()),
        nccl_(library_->functions()),
        local_rank_(local_rank),
        ranks_(communicators.plan().ranks),
        stream_(stream.stream),
        barrier_word_(barrier_word(stream.device)) {}
  ~NcclBackend() override {
    if (communicators_->aborted()) return;
    if (window_open_)
      static_cast<void>(close_window());  // otherwise every later call on this thread would be part of it
    for (const auto& mulsum : mulsums_) {
      if (mulsum) nccl_.destroy_reduction(*mulsum, communicator());
    }
  }

  /// Prepares mulsum for the datatype in advance. Later calls do nothing.
  void prepare_mulsum(DataType datatype) {
    auto& mulsum = mulsums_[static_cast<std::size_t>(datatype)];
    if (mulsum) return;
    const std::uint64_t factor = pattern::mulsum_factor(static_cast<std::uint64_t>(local().rank));
    ncclRedOp_t made{};
    with_type(datatype, [&]<typename T>(std::type_identity<T>) {
      T scalar = from_integer<T>(factor);
      check_call(nccl_.create_mulsum(&made, &scalar, nccl_type(datatype), ncclScalarHostImmediate, communicator()),
                 "ncclRedOpCreatePreMulSum");
    });
    mulsum = made;
  }

  void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override {
    check_call(nccl_.all_reduce(send, recv, count, nccl_type(datatype), operation(reduction, datatype), communicator(),
                                stream_),
               "ncclAllReduce");
  }
  void all_gather(const void* send, void* recv, std::size_t count, DataType datatype) override {
    check_call(nccl_.all_gather(send, recv, count, nccl_type(datatype), communicator(), stream_), "ncclAllGather");
  }
  void reduce_scatter(const void* send, void* recv, std::size_t count, DataType datatype,
                      Reduction reduction) override {
    check_call(nccl_.reduce_scatter(send, recv, count, nccl_type(datatype), operation(reduction, datatype),
                                    communicator(), stream_),
               "ncclReduceScatter");
  }
  void broadcast(const void* send, void* recv, std::size_t count, DataType datatype, int root) override {
    check_call(nccl_.broadcast(send, recv, count, nccl_type(datatype), root, communicator(), stream_), "ncclBroadcast");
  }
  void reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction,
              int root) override {
    check_call(nccl_.reduce(send, recv, count, nccl_type(datatype), operation(reduction, datatype), root,
                            communicator(), stream_),
               "ncclReduce");
  }
  void all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) override {
    if (nccl_.all_to_all != nullptr) {
      check_call(nccl_.all_to_all(send, recv, count, nccl_type(datatype), communicator(), stream_), "ncclAlltoAll");
      return;
    }
    Group group(*library_);
    for (int peer = 0; peer < ranks_; ++peer) {
      const std::size_t block = static_cast<std::size_t>(peer) * count;
      send_part(element(send, block, datatype), count, datatype, peer);
      recv_part(element(recv, block, datatype), count, datatype, peer);
    }
    group.end();
  }
  void all_to_all_v(const void* send, void* recv, const AllToAllVCounts& counts, DataType datatype) override {
    Group group(*library_);
    for (int peer = 0; peer < ranks_; ++peer) {
      const auto i = static_cast<std::size_t>(peer);
      send_part(element(send, counts.send_offsets[i], datatype), counts.send_counts[i], datatype, peer);
      recv_part(element(recv, counts.recv_offsets[i], datatype), counts.recv_counts[i], datatype, peer);
    }
    group.end();
  }
  void gather(const void* send, void* recv, std::size_t count, DataType datatype, int root) override {
    if (nccl_.gather != nullptr) {
      check_call(nccl_.gather(send, recv, count, nccl_type(datatype), root, communicator(), stream_), "ncclGather");
      return;
    }
    Group group(*library_);
    send_part(send, count, datatype, root);
    for (int peer = 0; peer < ranks_ && local().rank == root; ++peer) {
      recv_part(element(recv, static_cast<std::size_t>(peer) * count, datatype), count, datatype, peer);
    }
    group.end();
  }
  void scatter(const void* send, void* recv, std::size_t count, DataType datatype, int root) override {
    if (nccl_.scatter != nullptr) {
      check_call(nccl_.scatter(send, recv, count, nccl_type(datatype), root, communicator(), stream_), "ncclScatter");
      return;
    }
    Group group(*library_);
    for (int peer = 0; peer < ranks_ && local().rank == root; ++peer) {
      send_part(element(send, static_cast<std::size_t>(peer) * count, datatype), count, datatype, peer);
    }
    recv_part(recv, count, datatype, root);
    group.end();
  }
  void send_recv(const void* send, void* recv, std::size_t count, DataType datatype, Partners partners) override {
    Group group(*library_);
    send_part(send, count, datatype, partners.to);
    recv_part(recv, count, datatype, partners.from);
    group.end();
  }
  /// NCCL also transfers an empty message to its peer.
  void send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    check_call(nccl_.send(buffer, count, nccl_type(datatype), to, communicator(), stream_), "ncclSend");
  }
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override {
    check_call(nccl_.recv(buffer, count, nccl_type(datatype), from, communicator(), stream_), "ncclRecv");
  }
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    start_message([&] { send(buffer, count, datatype, to); });
  }
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override {
    start_message([&] { recv(buffer, count, datatype, from); });
  }
  /// From then on the stream keeps the order.
  void finish() override {
    if (window_open_) check_call(close_window(), "ncclGroupEnd");
  }
  void copy(const void* from, void* into, std::size_t bytes) override {
    if (from == into || bytes == 0) return;
    std::optional<cuda::DeviceGuard> device;
    if (stream_ == nullptr) device.emplace(local().device);  // a null stream belongs to the current device
    cuda::check(cudaMemcpyAsync(into, from, bytes, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
  }
  void barrier() override {
    void* word = barrier_word_.get();
    check_call(nccl_.all_reduce(word, word, 1, ncclInt32, ncclMax, communicator(), stream_), "ncclAllReduce");
  }

 private:
  [[nodiscard]] ncclComm_t communicator() const { return communicators_->get(local_rank_); }
  [[nodiscard]] const LocalRank& local() const {
    return communicators_->plan().local[static_cast<std::size_t>(local_rank_)];
  }
  [[nodiscard]] ncclRedOp_t operation(Reduction reduction, DataType datatype) {
    switch (reduction) {
      case Reduction::kProd: return ncclProd;
      case Reduction::kMin: return ncclMin;
      case Reduction::kMax: return ncclMax;
      case Reduction::kAvg: return ncclAvg;
      case Reduction::kMulSum: prepare_mulsum(datatype); return *mulsums_[static_cast<std::size_t>(datatype)];
      case Reduction::kSum:
      case Reduction::kNone: break;
    }
    return ncclSum;
  }
  void check_call(ncclResult_t result, const char* call) const {
    if (result != ncclSuccess) [[unlikely]]
      fail(*library_, result, call, local().place);
  }
  /// Skips an empty part of a collective, because NCCL would set up a connection for it.
  void send_part(const void* buffer, std::size_t count, DataType datatype, int to) {
    if (count > 0) send(buffer, count, datatype, to);
  }
  void recv_part(void* buffer, std::size_t count, DataType datatype, int from) {
    if (count > 0) recv(buffer, count, datatype, from);
  }
  template <typename Message>
  /// Groups nest: NCCL launches their operations at the end of the outermost one.
  void start_message(Message message) {
    if (!window_open_) check_call(nccl_.group_start(), "ncclGroupStart");
    window_open_ = true;
    try {
      message();
    } catch (...) {
      // NCCL executes nothing of a group in which a call failed. It would still access aborted communicators.
      if (!communicators_->aborted()) static_cast<void>(close_window());
      throw;
    }
  }
  ncclResult_t close_window() {
    window_open_ = false;
    return nccl_.group_end();
  }

  const Communicators* communicators_;
  const Library* library_;
  const Functions& nccl_;
  int local_rank_;
  int ranks_;
  cudaStream_t stream_;
  cuda::DeviceBlock barrier_word_;
  std::array<std::optional<ncclRedOp_t>, kDataTypes.size()> mulsums_;
  bool window_open_ = false;  // whether our group is open until `finish`
};

/// One rank's messages, each written into the receiver's memory by the sender, with a signal for which the receiver
/// waits (--one-sided). Buffers lie in symmetric windows, at the same place on all ranks. A message from an offset of
/// the send buffer of `prepare` goes to the same offset of the peer's receive buffer. Messages in flight at once are
/// puts of one group, and one wait for all their signals; an empty message is a signal alone.
class PutBackend final : public Backend {
 public:
  /// Does not own its arguments, which must outlive it. `meet` returns once every process has called it: a message may
  /// come without the receiver's doing, and must not come before its buffers are ready.
  PutBackend(const Communicators& communicators, const Registrar& registrar, int local_rank, cuda::DeviceStream stream,
             std::function<void()> meet)
      : communicators_(&communicators),
        library_(communicators.library().get()),
        registrar_(&registrar),
        local_rank_(local_rank),
        stream_(stream.stream),
        plain_(communicators, local_rank, stream),
        meet_(std::move(meet)) {}
  /// An open group would take in every later call on this thread.
  ~PutBackend() override {
    if (group_open_ && !communicators_->aborted()) static_cast<void>(close_group());
  }

  void prepare(std::span<const std::byte> send, std::span<std::byte> recv) override {
    send_ = send;
    recv_ = registrar_->place_of(local_rank_, recv.data());
    meet_();
  }
  void send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    const Functions& nccl = library_->functions();
    const ncclComm_t communicator = communicators_->get(local_rank_);
    if (count == 0) {
      check_call(nccl.signal(to, 0, 0, 0, communicator, stream_), "ncclSignal");
      return;
    }
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(buffer) - send_.data());
    check_call(nccl.put_signal(buffer, count * facts(datatype).size, ncclInt8, to, recv_.window, recv_.offset + offset,
                               0, 0, 0, communicator, stream_),
               "ncclPutSignal");
  }
  void recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int from) override {
    wait_for({.count = 1, .peer = from});
  }
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    if (!group_open_) check_call(library_->functions().group_start(), "ncclGroupStart");
    group_open_ = true;
    try {
      send(buffer, count, datatype, to);
    } catch (...) {
      if (!communicators_->aborted()) static_cast<void>(close_group());
      throw;
    }
  }
  void start_recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int from) override {
    ++awaited_.count;
    awaited_.peer = from;
  }
  void finish() override {
    if (group_open_) check_call(close_group(), "ncclGroupEnd");
    if (awaited_.count > 0) wait_for(awaited_);
    awaited_.count = 0;
  }
  void barrier() override { plain_.barrier(); }

 private:
  void wait_for(AwaitedSignals awaited) {
    check_call(library_->functions().wait_signal(1, &awaited, communicators_->get(local_rank_), stream_),
               "ncclWaitSignal");
  }
  ncclResult_t close_group() {
    group_open_ = false;
    return library_->functions().group_end();
  }
  void check_call(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess) [[likely]]
      return;
    const std::string& place = communicators_->plan().local[static_cast<std::size_t>(local_rank_)].place;
    if (!is_refusal(last_error(*library_))) fail(*library_, result, call, place);
    throw Error(ExitStatus::kMissing, fmt::format("--one-sided: nccl: {}: {}; leave it out to measure ncclSend and "
                                                  "ncclRecv",
                                                  place, problem_text(*library_, result, call)));
  }

  const Communicators* communicators_;
  const Library* library_;
  const Registrar* registrar_;
  int local_rank_;
  cudaStream_t stream_;
  NcclBackend plain_;
  std::function<void()> meet_;
  std::span<const std::byte> send_;
  nccl_device::Place recv_{};
  AwaitedSignals awaited_{.count = 0, .peer = 0};  // of the window; a rank has one peer
  bool group_open_ = false;                        // whether our group is open until `finish`
};

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

std::unique_ptr<CollectiveBackend> make_nccl_backend(const Communicators& communicators, int local_rank,
                                                     cuda::DeviceStream stream,
                                                     const std::vector<DataType>& multiplied) {
  auto backend = std::make_unique<NcclBackend>(communicators, local_rank, stream);
  for (const DataType datatype : multiplied) backend->prepare_mulsum(datatype);
  return backend;
}

std::unique_ptr<Backend> make_put_backend(const Communicators& communicators, const Registrar& registrar,
                                          int local_rank, cuda::DeviceStream stream, std::function<void()> meet) {
  return std::make_unique<PutBackend>(communicators, registrar, local_rank, stream, std::move(meet));
}

}  // namespace fabricbench::nccl
