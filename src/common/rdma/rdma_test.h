#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/harness/backends.h"
#include "common/harness/pair_test.h"
#include "common/rdma/open_verbs.h"
#include "common/rdma/own_port.h"

namespace fabricbench {

/// What makes messages between two ranks ones over RDMA: `Test` is the way in which they follow each other.
template <typename Test>
class OnVerbs : public Test {
 public:
  [[nodiscard]] std::optional<BackendChoice> open(const Team& team, const Placed& placed,
                                                  const Options& options) const final {
    return open_verbs(team, placed, options, port_, *this, seen_by());
  }
  [[nodiscard]] std::string_view default_pairs(const Options& options, bool one_host) const final {
    if (options.rdma.devices.empty()) return "";
    return one_host ? "loopback" : "hosts";
  }
  void prepare(const mpi::Communicator& job, const PairPlan& plan, const Options& options) final {
    port_ = settle_port(job, plan, options);
  }
  [[nodiscard]] OwnPort own_port() const final { return port_.facts; }

 protected:
  /// When a message counts, where the program asks for it.
  [[nodiscard]] virtual std::optional<SeenBy> seen_by() const { return std::nullopt; }

 private:
  SettledPort port_;
};

/// The first rank of a pair keeps as many requests under way as its queues hold, and waits for the last of a window
/// only. Reads are of the second rank's memory.
class RequestStream : public OnVerbs<PairTest> {
 public:
  [[nodiscard]] Figure figure() const final { return both_ways_ ? Figure::kBothWays : Figure::kBandwidth; }
  [[nodiscard]] bool windowed() const final { return true; }
  [[nodiscard]] bool streams() const final { return true; }
  [[nodiscard]] bool times_what_it_sends() const final { return verb() != Verb::kRead; }
  [[nodiscard]] double counted_share(int /*ranks*/) const final { return both_ways_ ? 2 : 1; }
  void configure(const Options& options) final {
    both_ways_ = options.rdma.both_ways;
    takes_receives_ = verb() == Verb::kSend || options.rdma.write_with_immediate;
  }
  [[nodiscard]] int idle_rank() const final { return both_ways_ || takes_receives_ ? -1 : 1; }

  void start(Backend& backend, const Operands& operands) const final {
    const int other = 1 - operands.rank;
    const bool reads = verb() == Verb::kRead;
    if (both_ways_ || (operands.rank == 0) == reads) {
      backend.start_recv(operands.recv, operands.count, operands.datatype, other);
    }
    if (both_ways_ || (operands.rank == 0) != reads) {
      backend.start_send(operands.send, operands.count, operands.datatype, other);
    }
  }

  void finish_window(Backend& backend, const Operands& operands) const final {
    backend.finish();
    operands.receiving->total += now() - operands.receiving->began;
  }

  /// Windows of both directions begin together.
  void answer_window(Backend& backend, const Operands& /*operands*/) const final {
    if (both_ways_) backend.barrier();
  }

 protected:
  [[nodiscard]] bool receives(int rank) const final {
    if (verb() == Verb::kAtomic) return false;
    return both_ways_ || (rank == 0) == (verb() == Verb::kRead);
  }

 private:
  bool both_ways_ = false;
  bool takes_receives_ = false;
};

/// A message there and one back, which each rank sees in its own memory.
class RequestPingPong : public OnVerbs<PingPong> {
 public:
  [[nodiscard]] std::string why_no_message(Bytes size) const final {
    if (size > 0 || verb() != Verb::kWrite) return "";
    return "nobody sees a write of no bytes arrive";
  }
};

/// One request of the first rank at a time, until it has completed.
class RequestAlone : public OnVerbs<PairTest> {
 public:
  [[nodiscard]] Figure figure() const final { return Figure::kLatency; }
  [[nodiscard]] std::string_view time_means() const final {
    return "from posting a request until it has completed, a whole round trip";
  }
  [[nodiscard]] int idle_rank() const final { return 1; }
  void configure(const Options& /*options*/) final { reads_ = verb() == Verb::kRead; }

  [[gnu::hot]] void start(Backend& backend, const Operands& operands) const final {
    if ((operands.rank == 0) == reads_) {
      backend.recv(operands.recv, operands.count, operands.datatype, 1 - operands.rank);
    } else {
      backend.send(operands.send, operands.count, operands.datatype, 1 - operands.rank);
    }
  }

 protected:
  [[nodiscard]] bool receives(int rank) const final { return verb() == Verb::kRead && rank == 0; }

 private:
  bool reads_ = false;
};

}  // namespace fabricbench
