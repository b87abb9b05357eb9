#include "common/backends/verbs/verbs_backend.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/pattern.h"
#include "common/record/packing.h"

namespace fabricbench::verbs {
namespace {

Bytes bytes_of(std::size_t count, DataType datatype) { return count * facts(datatype).size; }

/// Rereads memory that the device writes at any time.
std::byte read_again(const std::byte* place) {
  const std::byte value = *static_cast<const volatile std::byte*>(place);
  std::atomic_thread_fence(std::memory_order_acquire);  // earlier writes are visible too
  return value;
}

}  // namespace

VerbsBackend::VerbsBackend(Connection& connection, const RequestWindowSettings& settings, Barrier barrier,
                           Exchange exchange)
    : settings_(settings),
      window_(connection, settings),
      barrier_(std::move(barrier)),
      exchange_(std::move(exchange)) {}

void VerbsBackend::set_counters(const Block& counters, const Block& results, Memory& memory) {
  counters_ = counters;
  results_ = results;
  counter_memory_ = &memory;
}

VerbsBackend::Buffer VerbsBackend::buffer_at(const std::byte* data) const {
  const auto found =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.holds(data); });
  return found == blocks_.end() ? Buffer{} : Buffer{data, *found};
}

/// Starts messages between `own`, in the buffer `here`, and the same place in the other rank's buffer `there`.
void VerbsBackend::start_at_new_place(const std::byte* own, Bytes bytes, const Buffer& here, const Buffer& there,
                                      std::uint64_t messages) {
  const auto [local, remote] = ends_of(own, bytes, here, there);
  last_own_ = !apart_ && window_.make_ready(local, remote) ? own : nullptr;
  last_bytes_ = bytes;
  if (last_own_ != nullptr) return window_.start_ready(messages);
  for (std::uint64_t i = 0; i < messages; ++i) window_.start(local, remote);
}

std::pair<LocalPart, RemotePart> VerbsBackend::ends_of(const std::byte* own, Bytes bytes, const Buffer& here,
                                                       const Buffer& there) const {
  if (settings_.verb == Verb::kAtomic) {
    return {{results_.data, sizeof(std::uint64_t), results_.key}, counters_.remote};
  }
  if (!here.block.holds(own) || there.base == nullptr) throw_outside();
  const auto offset = static_cast<std::uint64_t>(own - here.base + (there.base - there.block.data));
  return {{const_cast<std::byte*>(own), static_cast<std::uint32_t>(bytes), here.block.key},
          {there.block.remote.address + offset, there.block.remote.key}};
}

/// Carries out a single request and waits for its completion.
void VerbsBackend::carry_out(const std::byte* own, Bytes bytes, const Buffer& here, const Buffer& there) {
  start_at(own, bytes, here, there);
  window_.finish();
}

void VerbsBackend::start_send(const void* buffer, std::size_t count, DataType datatype, int /*to*/) {
  if (settings_.verb == Verb::kRead) return;
  start_at(static_cast<const std::byte*>(buffer), bytes_of(count, datatype), sent_, received_);
}

void VerbsBackend::start_sends(const void* buffer, std::size_t count, DataType datatype, int /*to*/,
                               std::int64_t messages) {
  if (settings_.verb == Verb::kRead) return;
  start_at(static_cast<const std::byte*>(buffer), bytes_of(count, datatype), sent_, received_,
           static_cast<std::uint64_t>(messages));
}

void VerbsBackend::start_recv(void* buffer, std::size_t count, DataType datatype, int from) {
  start_recvs(buffer, count, datatype, from, 1);
}

void VerbsBackend::start_recvs(void* buffer, std::size_t count, DataType datatype, int /*from*/,
                               std::int64_t messages) {
  if (settings_.verb == Verb::kRead) {
    start_at(static_cast<const std::byte*>(buffer), bytes_of(count, datatype), received_, sent_,
             static_cast<std::uint64_t>(messages));
  } else if (takes_receives()) {
    for (std::int64_t i = 0; i < messages; ++i) window_.expect();
  }
}

void VerbsBackend::send(const void* buffer, std::size_t count, DataType datatype, int to) {
  if (settings_.verb == Verb::kAtomic) {
    return carry_out(static_cast<const std::byte*>(buffer), bytes_of(count, datatype), sent_, received_);
  }
  if (forgets_last_byte_) forget_last_byte(bytes_of(count, datatype));
  start_send(buffer, count, datatype, to);
  window_.flush();
}

void VerbsBackend::recv(void* buffer, std::size_t count, DataType datatype, int from) {
  if (settings_.verb == Verb::kRead) {
    carry_out(static_cast<const std::byte*>(buffer), bytes_of(count, datatype), received_, sent_);
  } else if (takes_receives()) {
    window_.receive();
  } else if (settings_.verb == Verb::kWrite) {
    wait_for_last_byte(static_cast<const std::byte*>(buffer), bytes_of(count, datatype));
  } else {
    start_recv(buffer, count, datatype, from);
  }
}

/// Overwrites the last byte, by whose change the other rank's answer shows. The value is saved in case no answer
/// follows.
void VerbsBackend::forget_last_byte(Bytes bytes) {
  if (bytes == 0) return;
  std::byte* const last = recv_base_ + bytes - 1;
  const std::byte value = read_again(last);
  if (value == std::byte{pattern::kPoisonByte}) return;
  last_byte_ = last;
  set_aside_ = value;
  *static_cast<volatile std::byte*>(last) = std::byte{pattern::kPoisonByte};
}

void VerbsBackend::wait_for_last_byte(const std::byte* message, Bytes bytes) {
  constexpr int kSpinsPerLook = 1000;
  if (bytes == 0) return;
  const std::byte* const last = message + bytes - 1;
  Seconds since = 0;
  for (int spins = 1; read_again(last) == std::byte{pattern::kPoisonByte}; ++spins) {
    // The own message completes while the answer is on its way, and must not delay the next one.
    if (!window_.is_idle()) (void)window_.poll();
    if (spins % kSpinsPerLook != 0) continue;
    if (since == 0) since = now();
    if (!window_.poll()) window_.check_patience(since, "a write to arrive");
    std::this_thread::yield();
  }
}

void VerbsBackend::prepare(std::span<const std::byte> send, std::span<std::byte> recv) {
  sent_ = buffer_at(send.data());
  received_ = buffer_at(recv.data());
  recv_base_ = recv.data();
  last_own_ = nullptr;
  last_byte_ = nullptr;
  forgets_last_byte_ = settings_.verb == Verb::kWrite && !takes_receives() && !apart_;
  if (counter_memory_ != nullptr) counter_memory_->set({counters_.data, counters_.bytes}, 0);
  (void)window_.take_started();
  const LocalPart buffer{recv.data(), static_cast<std::uint32_t>(recv.size()), received_.block.key};
  if (apart_ && settings_.verb == Verb::kSend) {
    std::vector<std::uint64_t> sent;
    if (settings_.transport == Transport::kUd) sent = of_other_rank(window_.sent());
    window_.receive_apart(buffer, *apart_, sent);
  } else if (takes_receives()) {
    window_.receive_into(buffer);
  }
  barrier_();  // no message may arrive before the buffers are ready
}

std::vector<std::uint64_t> VerbsBackend::of_other_rank(const std::vector<std::uint64_t>& own) const {
  return record::unpack<std::vector<std::uint64_t>>(exchange_(record::pack(own)));
}

/// Waits for the other rank's last messages.
void VerbsBackend::wait_for_remote_writes() {
  window_.finish();
  if (settings_.verb == Verb::kAtomic) {
    added_here_ = of_other_rank(window_.take_started());
  } else {
    barrier_();
  }
  if (last_byte_ != nullptr && read_again(last_byte_) == std::byte{pattern::kPoisonByte}) *last_byte_ = set_aside_;
  last_byte_ = nullptr;
}

std::optional<Mismatch> VerbsBackend::own_mismatch() {
  if (settings_.verb != Verb::kAtomic) return std::nullopt;
  std::vector<std::byte> memory(counters_.bytes);
  counter_memory_->copy_to_host({counters_.data, counters_.bytes}, memory.data());
  const auto count_of = [&memory](std::size_t queue_pair) {
    std::uint64_t count = 0;
    std::memcpy(&count, memory.data() + queue_pair * kCounterStride, sizeof count);
    return count;
  };
  std::optional<Mismatch> found;
  for (std::size_t i = 0; i < added_here_.size(); ++i) {
    const std::uint64_t count = count_of(i);
    if (count == added_here_[i]) continue;
    if (!found) {
      found.emplace();
      found->first_offset = i;
      found->expected = fmt::format("a counter of {}", added_here_[i]);
      found->got = fmt::format("{}", count);
    }
    ++found->count;
  }
  return found;
}

}  // namespace fabricbench::verbs
