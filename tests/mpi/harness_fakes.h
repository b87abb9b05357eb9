#pragma once

// What the tests of the harness measure instead of a library: operations of known length.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/options.h"
#include "common/harness/collective.h"
#include "common/harness/meter.h"
#include "common/harness/operation.h"
#include "common/harness/watchdog.h"
#include "common/harness/workspace.h"
#include "common/mpi/common_clock.h"
#include "common/mpi/communicator.h"
#include "common/mpi/mpi_session.h"

#include "../unit/fake_session.h"

namespace fabricbench {

inline void sleep(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<Seconds>(time)); }

/// Ranks whose operations do nothing and take a known time to wait for.
class IdleSession : private test::IdleBackend, public test::HostSession {
 public:
  explicit IdleSession(Seconds wait_time = 0, int local_ranks = 1)
      : HostSession(std::vector<Backend*>(static_cast<std::size_t>(local_ranks), this)), wait_time_(wait_time) {}
  void wait() override {
    HostSession::wait();
    if (wait_time_ > 0) sleep(wait_time_);
  }

 private:
  Seconds wait_time_;
};

/// The layout and the data of all_reduce_perf.
class AllReduce : public Collective {
 public:
  [[nodiscard]] std::string_view name() const override { return "all_reduce"; }
  [[nodiscard]] bool reduces() const override { return true; }
  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }
  [[nodiscard]] std::optional<InPlace> in_place(const Layout& /*layout*/, const Seat& /*seat*/) const override {
    return InPlace{};
  }
  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return 1; }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Seat& /*seat*/) const override {
    return {{.begin = 0, .count = layout.recv_count, .source = ExpectedBlock::kReduced, .position = 0}};
  }
  void start(Backend& backend, const Operands& operands) const override {
    backend.all_reduce(operands.send, operands.recv, operands.count, operands.datatype, operands.reduction);
  }
};

/// An operation that takes a known time, and records what it really took. It sleeps: ranks that spin would take
/// the processor from one another where there are more of them than processors.
class Sleeper : public AllReduce {
 public:
  explicit Sleeper(Seconds time) : time_(time) {}
  void start(Backend& /*backend*/, const Operands& /*operands*/) const override {
    const auto began = std::chrono::steady_clock::now();
    if (time_ > 0) sleep(time_);
    took.push_back(std::chrono::duration<Seconds>(std::chrono::steady_clock::now() - began).count());
  }

  mutable std::vector<Seconds> took;

 private:
  Seconds time_;
};

// The last rank is the slowest, and rank 0 is neither that nor the fastest where there are more than two.
inline constexpr Seconds kSlowest = 20e-3;
inline constexpr Seconds kRank0 = 4e-3;
inline constexpr Seconds kFastest = 1e-3;

[[nodiscard]] inline Seconds time_of(const mpi::Communicator& world) {
  if (world.rank() == world.size() - 1) return kSlowest;
  return world.is_root() ? kRank0 : kFastest;
}

inline constexpr Bytes kPoolBytes = 64 * 64;

[[nodiscard]] inline Case small_case(bool in_place) {
  return {.size = 64,
          .layout = {.send_count = 16, .recv_count = 16, .count = 16},
          .datatype = DataType::kFloat,
          .reduction = Reduction::kSum,
          .root = -1,
          .in_place = in_place};
}

/// Everything that a Meter takes, with one clock for all ranks unless another is given. All processes are one group
/// unless `options.split` says otherwise.
struct Rig {
  Rig(Options given, Session& measured, mpi::CommonClock::Clock read = now, bool shared_clock = true)
      : options(std::move(given)),
        team(world, options.split),
        session(measured),
        clock(world, shared_clock ? 1 : static_cast<std::uint64_t>(world.rank()), std::move(read)),
        workspace(session, kPoolBytes, true, 0, ranks_of(team.group(), session)),
        meter(team, session, clock, options, heartbeat) {
    workspace.use(DataType::kFloat, Reduction::kSum);
  }
  [[nodiscard]] Operation operation(const Collective& collective, bool in_place = false) {
    return {collective, session, workspace, small_case(in_place), options.buffers, options.aggregated};
  }
  [[nodiscard]] static Ranks ranks_of(const mpi::Communicator& group, const Session& session) {
    const int local = session.local_ranks();
    return {.first = group.rank() * local, .local = local, .all = group.size() * local};
  }

  mpi::Communicator world = mpi::Communicator::world();
  Options options;
  Team team;
  Session& session;
  mpi::CommonClock clock;
  Heartbeat heartbeat;
  Workspace workspace;
  Meter meter;
};

[[nodiscard]] inline Options options_for(Timing timing) {
  Options options;
  options.timing = timing;
  return options;
}

}  // namespace fabricbench
