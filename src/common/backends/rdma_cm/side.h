#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/batch_step.h"
#include "common/backends/rdma_cm/link.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

/// One side's results over all its connections.
struct SideResults {
  std::array<std::vector<Seconds>, kConnectSteps> times;  ///< by ConnectStep; on the connecting side
  std::array<Seconds, kConnectSteps> took{};  ///< time with any connection in that step; on the connecting side
  std::size_t failed = 0;                     ///< connections
  std::uint64_t lost = 0;                     ///< messages that did not arrive
  std::uint64_t wrong = 0;
  std::string first_wrong;
};

/// One side of batches of connections. All connections of a batch start a step at the same time, and the next step when
/// all have finished it. A batch has three phases, which the two sides enter together. All methods throw Error: the
/// timeout of a step names the connection, the peer, the step and likely causes.
class Side {
 public:
  /// Does not own the links, of which there are `settings.parallel`.
  Side(Links& links, SideSettings settings);
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  virtual ~Side() = default;

  void begin(const Batch& batch);
  /// Work that the connecting side does alone.
  virtual void prepare() = 0;
  /// Connects, then sends and receives the messages.
  virtual void meet() = 0;
  virtual void part() = 0;
  void close() noexcept { links_.close(); }

  [[nodiscard]] const SideResults& findings() const { return findings_; }
  [[nodiscard]] const SideSettings& settings() const { return settings_; }

 protected:
  /// What an event means for a link's step.
  enum class Meaning { kGoesOn, kDone, kUnexpected };
  using React = std::function<Meaning(Link&, EventKind)>;

  /// Starts the step on every link and waits for `answer` on each, and keeps the times.
  void take_step(ConnectStep step, EventKind answer, const std::function<void(Link&)>& start);
  /// Waits until all links are done. `react` may throw Error: the link has then failed.
  void await(ConnectStep step, const React& react);
  void exchange(bool connects);

 private:
  void await_events(BatchStep& step, const React& react);
  bool take_event(BatchStep& step, const React& react, Seconds longest);
  void conclude(const BatchStep& step);
  [[nodiscard]] std::vector<Seconds>& times(ConnectStep step) {
    return findings_.times[static_cast<std::size_t>(step)];
  }

  Links& links_;
  SideSettings settings_;
  Batch batch_;
  SideResults findings_;
};

class ConnectingSide final : public Side {
 public:
  using Side::Side;
  void prepare() override;
  void meet() override;
  void part() override;
};

class AcceptingSide final : public Side {
 public:
  using Side::Side;
  void prepare() override {}
  void meet() override;
  void part() override;
};

/// Exchanges the sides' problems: both get the same problem, or none.
using Agree = std::function<Problem(const Problem&)>;

struct Series {
  std::int64_t made = 0;
  Seconds took = 0;
  Problem problem;
};

/// Makes `count` connections, batch after batch; one with a failed connection is the last. Both sides call it.
[[nodiscard]] Series make_connections(Side& side, std::int64_t count, const Agree& agree);

}  // namespace fabricbench::rdma_cm
