#include "common/backends/verbs/visibility_parts.h"

#include <algorithm>
#include <utility>

#include "common/backends/verbs/direct_connector.h"
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

constexpr int kRoundTrips = 300;
constexpr Seconds kLeastPatience = 5;

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

Loopback::Loopback(const OpenDevice& device, const Meeting& meeting, bool data_direct)
    : connection_(device, ConnectionSettings{.data_direct = data_direct}),
      read_(std::make_unique<std::array<std::byte, 8>>()),
      read_region_(connection_.register_memory(read_->data(), read_->size())) {
  Meeting own = meeting;
  own.transport = Transport::kRc;
  own.own = connection_.introduction(meeting.own.host);
  own.peer = own.own;
  const int gid = meeting.own_gid().index;
  own.agreed.gids = {gid, gid, meeting.agreed.gids.description};
  DirectConnector connector;
  connection_.connect(connector, own, connector.invite(own));
}

LocalPart Loopback::into() { return {read_->data(), static_cast<std::uint32_t>(read_->size()), read_region_->lkey}; }

std::uint32_t Loopback::make_known(BufferSource& source, std::span<std::byte> memory) {
  known_ = connection_.register_block(source, memory.data(), memory.size()).region;
  return known_->rkey;
}

VisibilityParts::VisibilityParts(SeenBy seen_by, std::unique_ptr<MessageReader> reader, VisibilitySurroundings around)
    : seen_by_(seen_by), around_(std::move(around)), reader_(std::move(reader)) {
  const Seconds patience = std::max(kLeastPatience, around_.flow.options.stall_timeout);
  round_trip_ = reader_->round_trip(kRoundTrips, patience);
  if (seen_by_ == SeenBy::kFlush) open_flush();
  if (seen_by_ != SeenBy::kReader) return;
  numbers_ = std::make_unique<std::array<std::byte, kNumberBytes>>();
  numbers_region_ = around_.connection.register_memory(numbers_->data(), numbers_->size());
}

VisibilityParts::~VisibilityParts() {
  backend_.reset();  // ends the reader
  reader_.reset();
  for (OwnBlock& block : blocks_) {
    block.region.reset();
    around_.buffers.release(block.data);
  }
}

void VisibilityParts::open_flush() {
  loopback_ = std::make_unique<Loopback>(around_.device, around_.meeting, around_.flow.options.data_direct);
  const auto make_known = [this](std::span<std::byte> recv) { return loopback_->make_known(around_.buffers, recv); };
  const auto forget = [this] { loopback_->forget(); };
  backend_ = std::make_unique<FlushBackend>(around_.messages, loopback_->connection(), around_.flow, loopback_->into(),
                                            FlushBackend::Known{make_known, forget});
}

void VisibilityParts::use_flag(const Block& flag) {
  around_.buffers.memory().set({flag.data, flag.bytes}, 0);
  ReaderBackend::Parts parts{
      .connection = around_.connection,
      .reader = *reader_,
      .memory = around_.buffers.memory(),
      .rank = around_.rank,
      .gather = around_.gather,
      .barrier = around_.barrier,
      .make_block = [this](std::size_t bytes) { return make_block(bytes); },
      .flag = flag,
      .numbers = {numbers_->data(), static_cast<std::uint32_t>(numbers_->size()), numbers_region_->lkey},
      .on_host = around_.buffers.on_host()};
  backend_ = std::make_unique<ReaderBackend>(std::move(parts), around_.flow);
}

LocalPart VisibilityParts::make_block(std::size_t bytes) {
  blocks_.push_back({around_.buffers.allocate(bytes), {}});
  OwnBlock& made = blocks_.back();
  made.region = around_.connection.register_block(around_.buffers, made.data, bytes).region;
  return {made.data, static_cast<std::uint32_t>(bytes), made.region->lkey};
}

}  // namespace fabricbench::verbs
