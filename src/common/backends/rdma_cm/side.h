#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/exchange.h"
#include "common/backends/rdma_cm/steps.h"
#include "common/core/connect_step.h"
#include "common/core/exit_status.h"

namespace fabricbench::rdma_cm {

/// One side's results over all its connections.
struct SideResults {
  std::array<std::vector<Seconds>, kConnectSteps> times;  ///< by ConnectStep; on the connecting side
  std::uint64_t lost = 0;                                 ///< messages that did not arrive
  std::uint64_t wrong = 0;
  std::string first_wrong;
};

/// One side of consecutive connections. A connection has three phases, which the two sides enter together. All methods
/// throw Error: the timeout of a step names the peer, the step and likely causes.
class Side {
 public:
  /// Does not own the link.
  Side(Link& link, SideSettings settings);
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  virtual ~Side() = default;

  /// Work that the connecting side does alone.
  virtual void prepare() = 0;
  /// Connects, then sends and receives the messages.
  virtual void meet(std::uint64_t connection) = 0;
  virtual void part() = 0;
  void close() noexcept { link_.close(); }

  [[nodiscard]] const SideResults& findings() const { return findings_; }

 protected:
  void exchange(std::uint64_t connection, bool connects);
  /// Measures the time of `start` and of waiting for `answer`.
  void take_step(ConnectStep step, EventKind answer, const std::function<void()>& start);
  [[nodiscard]] Link& link() { return link_; }
  [[nodiscard]] const Steps& steps() const { return steps_; }
  [[nodiscard]] const SideSettings& settings() const { return settings_; }

 private:
  void add_time(ConnectStep step, Seconds time);

  Link& link_;
  SideSettings settings_;
  Steps steps_;
  SideResults findings_;
};

class ConnectingSide final : public Side {
 public:
  using Side::Side;
  void prepare() override;
  void meet(std::uint64_t connection) override;
  void part() override;
};

class AcceptingSide final : public Side {
 public:
  using Side::Side;
  void prepare() override {}
  void meet(std::uint64_t connection) override;
  void part() override;
};

/// The problem that ended a pair's connections early.
struct Problem {
  ExitStatus status = ExitStatus::kOk;
  std::string text;
};

/// Exchanges the sides' problems: both get the same problem, or none.
using Agree = std::function<Problem(const Problem&)>;

struct Series {
  std::int64_t made = 0;
  Seconds took = 0;
  Problem problem;
};

/// Makes `count` connections one after the other; a failed one is the last. Both sides call it.
[[nodiscard]] Series make_connections(Side& side, std::int64_t count, const Agree& agree,
                                      const std::function<Seconds()>& clock);

}  // namespace fabricbench::rdma_cm
