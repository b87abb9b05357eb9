#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/options.h"
#include "common/core/pattern_table.h"
#include "common/core/session.h"
#include "common/core/units.h"
#include "common/measure/test.h"
#include "common/measure/workspace.h"
#include "common/record/context.h"

namespace fabricbench {

struct RankTraffic;

/// One thing to measure: a size, a datatype, a reduction, a root and a placement.
struct Case {
  Bytes size = 0;  ///< bytes of the larger of the two buffers
  Layout layout;
  DataType datatype = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  int root = -1;
  bool in_place = false;
};

/// Such as `64 KiB float sum, in place`, or between the two ranks of a pair `messages of 4 KiB`.
[[nodiscard]] std::string describe(const Case& which, RowKind row_kind);

/// Wrong elements on one or more of a process's ranks; `first` is from the lowest of these.
struct WrongData {
  int rank = 0;
  int ranks = 0;  ///< with wrong elements
  std::uint64_t elements = 0;
  Mismatch first;
  std::uint64_t messages = 0;  ///< with places of their own; their elements are counted above
  std::string message{};       ///< the first of these, such as `message 17 of window 3`

  void add(const std::optional<Mismatch>& wrong);
  /// Adds what another check found, on the same rank or on others.
  void add(const WrongData& other);
};

/// Results of the same input that had other bits the second time, on one or more of a process's ranks; `rank` is the
/// lowest of these.
struct Unrepeated {
  int rank = 0;
  int ranks = 0;
  std::uint64_t first_offset = 0;  ///< of the first block with a difference, in elements of its receive buffer
  std::uint64_t elements = 0;      ///< in that block
};

/// A case bound to the buffers of this process's ranks: prepares them, starts the operation, checks the result.
class Operation {
 public:
  /// `aggregated`: operations that `start_iteration` starts together. `apart`: each message has a place of its own,
  /// with contents of its own that change with every `prepare`, and all of them are checked.
  Operation(const Test& test, Session& session, Workspace& workspace, const Case& which, BufferPolicy policy,
            std::int64_t aggregated = 1, bool apart = false);

  /// Prepares the buffers for `starts` operations: fills in the input, poisons the receive buffer of the last
  /// operation, or of all that have places of their own, and sets the guard zone behind it.
  void prepare(std::int64_t starts);

  /// The most operations that `prepare` may be called for, exactly as many as are started then; empty: any number, and
  /// fewer may be started.
  [[nodiscard]] std::optional<std::int64_t> places() const;
  /// Messages checked on this process's ranks since the last call, each of which had a place of its own.
  [[nodiscard]] std::uint64_t take_checked() { return std::exchange(checked_, 0); }

  /// Starts the next operation on all ranks of this process.
  void start() {
    if (ranks_.size() == 1) {
      for (int stage = 0; stage < stages_; ++stage) start_on(ranks_.front(), stage);
      offset_ = next_offset();
    } else {
      start_on_all();
    }
  }
  /// Starts one iteration. This is what the timed loops call.
  void start_iteration() {
    if (aggregated_ == 1 && windows_ == nullptr) {
      start();
    } else {
      start_aggregated();
    }
  }
  void wait() { session_.wait(); }
  /// Runs one operation by itself on fresh data, or one window if only windows complete. Returns the number of
  /// operations.
  std::int64_t run_once();

  [[nodiscard]] std::int64_t aggregated() const { return aggregated_; }
  /// Sets the number of operations that an iteration starts together.
  void aggregate(std::int64_t operations) { aggregated_ = operations; }
  /// The divisor for the time of an iteration.
  [[nodiscard]] double operations_per_iteration() const {
    return static_cast<double>(aggregated_ * test_.traits().messages_in_turn);
  }

  /// Whether only windows complete.
  [[nodiscard]] bool is_windowed() const { return windows_ != nullptr; }
  /// Whether windows of both directions run at once.
  [[nodiscard]] bool is_both_ways() const { return test_.traits().row_kind == RowKind::kBothWays; }
  /// The total time in which windows have received everything on this process's rank, since the last call.
  [[nodiscard]] Seconds take_receive_time() { return std::exchange(receiving_->total, 0); }

  /// Whether the last of `starts` results is known: each in-place reduction works on the result of the previous one.
  [[nodiscard]] bool last_result_is_defined(std::int64_t starts) const {
    return !case_.in_place || case_.reduction == Reduction::kNone || starts == 1;
  }

  /// Compares the last of `starts` results with the expected data, and checks the guard zone.
  [[nodiscard]] std::optional<WrongData> check(std::int64_t starts);

  /// The values of each bit among the elements that `check` expects on this process's ranks, of which one period per
  /// rank is looked at.
  [[nodiscard]] SeenBits expected_bits() const;

  /// Runs a reduction twice on the same input, which rounds differently in each order of additions, and compares the
  /// results. Collective.
  [[nodiscard]] std::optional<Unrepeated> repeat();

  [[nodiscard]] const Case& which() const { return case_; }
  /// The bytes that each rank sends and receives, by rank; empty if they are the same for all.
  [[nodiscard]] std::vector<RankTraffic> traffic() const;

  /// Whether one rank only waits for the others, and whether it is this process's.
  [[nodiscard]] bool has_idle_rank() const { return test_.traits().idle_rank >= 0; }
  [[nodiscard]] bool is_idle() const { return test_.traits().idle_rank == ranks_.front().self.rank; }

 private:
  /// One of this process's ranks.
  struct LocalRank {
    Backend* backend;
    const std::byte* send;
    std::byte* recv;
    std::uint64_t recv_begin;  // in elements, for the in-place form
    Participant self;
    std::optional<AllToAllVCounts> counts;
    Operands operands;
  };

  void start_on(LocalRank& rank, int stage) {
    rank.operands.send = rank.send + offset_;
    rank.operands.recv = rank.recv + offset_;
    rank.operands.stage = stage;
    test_.start(*rank.backend, rank.operands);
  }
  /// Whether nothing differs between the operations that an iteration starts.
  [[nodiscard]] bool are_alike() const { return stages_ == 1 && ranks_.size() == 1 && last_offset_ == 0; }
  void start_many_on(LocalRank& rank) {
    rank.operands.send = rank.send;
    rank.operands.recv = rank.recv;
    rank.operands.stage = 0;
    test_.start_many(*rank.backend, rank.operands, aggregated_);
  }
  [[nodiscard]] std::size_t next_offset() const { return offset_ == last_offset_ ? 0 : offset_ + stride_; }
  /// The expected content of a block, whose message begins at `offset` bytes of the pool.
  struct Expected {
    SourceData data;
    std::uint64_t position;
  };
  /// Hashes of consecutive parts of what a rank receives.
  using Fingerprint = std::vector<std::uint64_t>;

  [[nodiscard]] Expected expected_in(const ExpectedBlock& block, const LocalRank& rank, std::size_t offset) const;
  [[nodiscard]] std::vector<Fingerprint> run_on_rounding_input();
  void fill_input(int local_rank, const SourceData& data);
  [[nodiscard]] Fingerprint fingerprint(int local_rank);
  [[nodiscard]] Unrepeated difference(int local_rank, const Fingerprint& first, const Fingerprint& second) const;
  void start_on_all();
  void start_aggregated();
  void finish_window();
  [[nodiscard]] LocalRank make_rank(int local_rank);
  [[nodiscard]] std::size_t offset_of(std::int64_t start) const;
  [[nodiscard]] std::size_t used_bytes(std::int64_t starts) const;
  [[nodiscard]] std::size_t guard_begin(std::int64_t starts) const;
  void lay_out_messages(std::int64_t starts);
  [[nodiscard]] std::size_t message_bytes() const { return case_.layout.count * element_; }
  [[nodiscard]] std::size_t touched_bytes(std::int64_t starts) const;
  [[nodiscard]] WrongData check_rank(int local_rank, std::int64_t starts);
  [[nodiscard]] WrongData check_messages(int local_rank, std::int64_t starts);
  [[nodiscard]] WrongData check_run(int local_rank, const Arrivals& run);
  [[nodiscard]] std::optional<Mismatch> look_at(int local_rank, const Arrivals& run);
  [[nodiscard]] std::string name_of(std::uint64_t message) const;
  [[nodiscard]] std::optional<Mismatch> check_blocks(int local_rank, std::size_t offset);
  [[nodiscard]] std::optional<Mismatch> check_guard(int local_rank, std::int64_t starts);
  [[nodiscard]] std::uint64_t send_begin_of(const Participant& self) const;

  const Test& test_;
  Session& session_;
  Workspace& workspace_;
  Case case_;
  std::int64_t aggregated_;
  std::size_t element_;
  std::size_t stride_;       // bytes between the buffers of consecutive operations
  std::size_t last_offset_;  // the highest offset; after it the rotation starts again
  std::size_t offset_ = 0;
  bool apart_;
  std::int64_t messages_laid_out_ = 0;  // up to the last `prepare`, of those with places of their own
  std::int64_t messages_before_ = 0;    // up to the one before
  std::int64_t windows_laid_out_ = 0;   // the same of windows
  std::int64_t windows_before_ = 0;
  std::uint64_t checked_ = 0;  // messages
  std::unique_ptr<ReceiveTime> receiving_ =
      std::make_unique<ReceiveTime>();  // its address is fixed, because operands point to it
  int stages_;
  const Windows* windows_;  // of the test
  std::vector<LocalRank> ranks_;
};

}  // namespace fabricbench
