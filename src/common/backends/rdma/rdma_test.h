#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "common/core/rdma_options.h"
#include "common/measure/message_test.h"

namespace fabricbench {

/// The first rank of a pair keeps its queues full of requests, and waits only for the last request of a window. Reads
/// are from the second rank's memory.
class RequestStream final : public MessageTest, private Windows {
 public:
  RequestStream(std::string name, Verb verb)
      : MessageTest(
            {.name = std::move(name), .row_kind = RowKind::kBandwidth, .times_what_it_sends = verb != Verb::kRead}),
        verb_(verb) {}

  [[nodiscard]] const Windows* windows() const override { return this; }
  [[nodiscard]] double counted_share(int /*ranks*/) const override { return both_ways_ ? 2 : 1; }

  void configure(const Options& options) override {
    both_ways_ = options.rdma.both_ways;
    const bool takes_receives = verb_ == Verb::kSend || options.rdma.write_with_immediate;
    if (both_ways_) traits_.row_kind = RowKind::kBothWays;
    traits_.idle_rank = both_ways_ || takes_receives ? -1 : 1;
  }

  void start(Backend& backend, const Operands& operands) const override {
    const int other = 1 - operands.rank;
    if (takes(operands)) backend.start_recv(operands.recv, operands.count, operands.datatype, other);
    if (gives(operands)) backend.start_send(operands.send, operands.count, operands.datatype, other);
  }

  /// In both directions received messages are looked for among those that are sent.
  void start_many(Backend& backend, const Operands& operands, std::int64_t operations) const override {
    const int other = 1 - operands.rank;
    if (both_ways_) return MessageTest::start_many(backend, operands, operations);
    if (takes(operands)) backend.start_recvs(operands.recv, operands.count, operands.datatype, other, operations);
    if (gives(operands)) backend.start_sends(operands.send, operands.count, operands.datatype, other, operations);
  }

 private:
  [[nodiscard]] bool are_stream() const override { return true; }

  void finish(Backend& backend, const Operands& operands) const override {
    backend.finish();
    operands.receiving->total += now() - operands.receiving->began;
  }

  /// Ranks begin their windows together in both directions.
  void answer(Backend& backend, const Operands& /*operands*/) const override {
    if (both_ways_) backend.barrier();
  }

  [[nodiscard]] bool receives(int rank) const override {
    if (verb_ == Verb::kAtomic) return false;
    return both_ways_ || (rank == 0) == (verb_ == Verb::kRead);
  }

  [[nodiscard]] bool takes(const Operands& operands) const {
    return both_ways_ || (operands.rank == 0) == (verb_ == Verb::kRead);
  }
  [[nodiscard]] bool gives(const Operands& operands) const {
    return both_ways_ || (operands.rank == 0) != (verb_ == Verb::kRead);
  }

  Verb verb_;
  bool both_ways_ = false;
};

/// A message there and one back, whose arrival each rank sees in its own memory.
class RequestPingPong : public PingPong {
 public:
  RequestPingPong(std::string name, Verb verb) : PingPong(std::move(name)), verb_(verb) {}

  [[nodiscard]] std::string why_not_size(Bytes size) const final {
    if (size > 0 || verb_ != Verb::kWrite) return "";
    return "a write of 0 bytes cannot be seen to arrive";
  }

 private:
  Verb verb_;
};

/// One request of the first rank at a time; the next follows when it has completed.
class RequestAlone final : public MessageTest {
 public:
  RequestAlone(std::string name, Verb verb)
      : MessageTest({.name = std::move(name),
                     .row_kind = RowKind::kLatency,
                     .idle_rank = 1,
                     .time_means = "from posting a request until it has completed, a whole round trip"}),
        reads_(verb == Verb::kRead) {}

  [[gnu::hot]] void start(Backend& backend, const Operands& operands) const override {
    if ((operands.rank == 0) == reads_) {
      backend.recv(operands.recv, operands.count, operands.datatype, 1 - operands.rank);
    } else {
      backend.send(operands.send, operands.count, operands.datatype, 1 - operands.rank);
    }
  }

 private:
  [[nodiscard]] bool receives(int rank) const override { return reads_ && rank == 0; }

  bool reads_;
};

}  // namespace fabricbench
