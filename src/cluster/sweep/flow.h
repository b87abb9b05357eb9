#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/ownership.h"
#include "common/core/session.h"
#include "common/core/units.h"
#include "common/measure/operation.h"
#include "common/measure/test.h"
#include "common/measure/workspace.h"
#include "common/mpi/mailbox.h"
#include "common/record/reading.h"

namespace fabricbench::sweep {

/// The peer that an endpoint sends to, and the peer that it receives from at the same time.
struct Flows {
  std::optional<int> to;
  std::optional<int> from;
};

/// Messages in one direction, or in none: the test for the set-up of a sweep, and for each half of a step.
class OneDirection final : public Test, private Windows {
 public:
  explicit OneDirection(Flows flows = {}) : Test({.name = "pairwise_bw", .row_kind = RowKind::kSweep}), flows_(flows) {}

  [[nodiscard]] bool is_idle() const { return !flows_.to && !flows_.from; }

  [[nodiscard]] const Windows* windows() const override { return this; }
  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return bus_factor::kOnce; }
  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override;
  void start(Backend& backend, const Operands& operands) const override;

 private:
  /// FlowMeter completes the windows of a flow, because it knows their deadline.
  void finish(Backend& /*backend*/, const Operands& /*operands*/) const override {}
  void answer(Backend& /*backend*/, const Operands& /*operands*/) const override {}

  Flows flows_;
};

/// An endpoint's results of one step. It has none for a direction in which it only sends.
struct StepResult {
  ReadingStatus status = ReadingStatus::kOk;
  std::vector<Seconds> windows;    ///< durations of the received windows
  std::int64_t messages = 0;       ///< messages per window
  std::optional<Seconds> latency;  ///< to its source, or to its destination if it has no source
  double processor_wait = 0;       ///< as in PairReading
  std::uint64_t wrong = 0;
  std::string reason;
};

/// Measures an endpoint's part of one step: pings if they are asked for, then windows of messages, which the receiver
/// times. Receivers choose the numbers of messages and windows from the times of the first ones, and send them to the
/// sender by mail. Nothing waits beyond the deadline of a step, except in NCCL, whose own time limit ends the job.
class FlowMeter : NotCopied {
 public:
  /// `between` is called between two windows. All arguments must outlive this.
  FlowMeter(Session& session, Workspace& workspace, mpi::Mailbox& mailbox, const Options& options, const Case& which,
            std::function<void()> between);
  /// Does not release the buffers of messages that were given up.
  ~FlowMeter();

  [[nodiscard]] StepResult measure(const Flows& flows, bool pings, Seconds deadline);

  /// Whether messages were given up, which MPI may still carry.
  [[nodiscard]] bool has_abandoned() const { return !lost_.empty(); }

 private:
  /// The numbers that a receiver sends to its sender.
  struct Plan {
    std::int64_t messages = 0;
    std::int64_t windows = 0;

    template <typename Visitor, record::Of<Plan> Record>
    friend void describe(Visitor& visitor, Record& plan) {
      visitor.internal(plan.messages, plan.windows);
    }
  };
  /// Zero messages for a direction that does not exist.
  struct Plans {
    Plan out;
    Plan in;
  };
  using Transfer = std::optional<Operation>;  // empty for a direction that does not exist
  /// The buffers of messages. Those of messages that were given up are kept, because MPI may still write into them.
  struct Space {
    Workspace* workspace;
    std::unique_ptr<Workspace> own;
    Buffers pings;
  };

  void measure_latency(const Flows& flows, Seconds deadline, StepResult& result);
  [[nodiscard]] Seconds ping(const Flows& flows, Seconds deadline);
  void send_ping(std::optional<int> to, std::optional<int> from, Seconds deadline);
  [[nodiscard]] Seconds time_messages(const Flows& flows, const Plans& plans, Seconds deadline);
  [[nodiscard]] Plans agree(const Flows& flows, Seconds message, Transfer& in, Seconds deadline);
  [[nodiscard]] Plans plan_windows(const Flows& flows, Transfer& in, Seconds deadline);
  void measure_windows(const Flows& flows, Seconds deadline, StepResult& result);
  [[nodiscard]] Transfer make_transfer(const OneDirection& direction);
  [[nodiscard]] Seconds run_window(Transfer& out, std::int64_t sends, Transfer& in, std::int64_t receives,
                                   Seconds deadline);
  void finish(Seconds deadline);
  [[nodiscard]] Plan plan_for(Seconds message) const;
  void check_data(Transfer& in, std::int64_t received, StepResult& result) const;
  template <typename Note>
  [[nodiscard]] std::optional<Note> pass_on(std::optional<int> to, std::optional<int> from, int subject,
                                            const Note& note, Seconds deadline);
  [[nodiscard]] Flows without_lost(const Flows& flows) const;
  void give_up(const Flows& flows);
  [[nodiscard]] Space make_space(std::unique_ptr<Workspace> own);

  Session& session_;
  mpi::Mailbox& mailbox_;
  const Options& options_;
  Case case_;
  std::function<void()> between_;
  Workspace& first_;
  std::unique_ptr<std::vector<Space>> spaces_;  // the last is in use
  std::set<int> lost_;                          // endpoints to or from which messages were given up
};

}  // namespace fabricbench::sweep
