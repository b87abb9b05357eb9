#include "common/backends/verbs/visibility_parts.h"

#include <algorithm>
#include <utility>

namespace fabricbench::verbs {
namespace {

constexpr int kRoundTrips = 300;
constexpr Seconds kLeastPatience = 5;

}  // namespace

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
