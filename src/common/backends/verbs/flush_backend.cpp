#include "common/backends/verbs/flush_backend.h"

#include <algorithm>
#include <utility>

#include "common/core/datatype.h"

namespace fabricbench::verbs {
namespace {

/// One read at a time, waited for.
FlowSettings reads_of(FlowSettings settings) {
  settings.verb = Verb::kRead;
  settings.latency = true;
  settings.inline_bytes = 0;
  settings.receive_depth = 0;
  settings.options.post_list = 1;
  settings.options.write_with_immediate = false;
  settings.options.events = false;
  return settings;
}

}  // namespace

FlushBackend::FlushBackend(VerbsBackend& messages, Connection& loopback, const FlowSettings& settings,
                           const LocalPart& into, Known known)
    : messages_(messages), flow_(loopback, reads_of(settings)), into_(into), known_(std::move(known)) {}

void FlushBackend::forget_block(const std::byte* data) noexcept {
  if (known_at_ != data) return;
  known_.forget();
  known_at_ = nullptr;
}

/// For a message of no bytes, reads the buffer's first bytes.
void FlushBackend::recv(void* buffer, std::size_t count, DataType datatype, int from) {
  messages_.recv(buffer, count, datatype, from);
  const std::size_t bytes = count * facts(datatype).size;
  const std::size_t read = bytes == 0 ? into_.bytes : std::min<std::size_t>(bytes, into_.bytes);
  const std::byte* const last = static_cast<const std::byte*>(buffer) + std::max(bytes, read) - read;
  flow_.start({into_.data, static_cast<std::uint32_t>(read), into_.key}, {reinterpret_cast<std::uint64_t>(last), key_});
  flow_.finish();
}

void FlushBackend::prepare(std::span<const std::byte> send, std::span<std::byte> recv) {
  if (known_at_ != recv.data()) {
    key_ = known_.make(recv);
    known_at_ = recv.data();
  }
  messages_.prepare(send, recv);
}

}  // namespace fabricbench::verbs
