#pragma once

// What the tests of the harness measure instead of a library: operations of known length, by a scripted clock.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/options.h"
#include "common/measure/meter.h"
#include "common/measure/operation.h"
#include "common/measure/test.h"
#include "common/measure/workspace.h"
#include "common/mpi/common_clock.h"
#include "common/mpi/communicator.h"
#include "common/mpi/mpi_backend.h"
#include "common/watch/watchdog.h"

#include "../support/job_clock.h"
#include "../unit/fake_session.h"

namespace fabricbench {

/// Tests whose time is scripted: samples are exact, whatever the machine does.
class ScriptedJob : public testing::Test {
 public:
  ScriptedJob() : ScriptedJob(kCall) {}

 protected:
  explicit ScriptedJob(Seconds call) : clock_(kReading, call) {}

  static constexpr Seconds kReading = 1e-6;   ///< what a reading of the clock takes
  static constexpr Seconds kCall = 3e-6;      ///< what a call takes in which ranks wait for each other
  static constexpr Seconds kRounding = 1e-9;  ///< of doubles that hold a thousand seconds and their sums

  test::JobClock clock_;
};

/// Ranks whose operations do nothing and take a known time to wait for.
class IdleSession : private test::IdleBackend, public test::HostSession {
 public:
  explicit IdleSession(Seconds wait_time = 0, int local_ranks = 1)
      : HostSession(std::vector<Backend*>(static_cast<std::size_t>(local_ranks), this)), wait_time_(wait_time) {}
  void wait() override {
    HostSession::wait();
    sleep_for(wait_time_);
  }

 private:
  Seconds wait_time_;
};

/// The layout and the data of all_reduce_perf.
class AllReduce : public Collective {
 public:
  AllReduce() : Collective({.name = "all_reduce", .reduces = true}) {}
  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }
  [[nodiscard]] std::optional<InPlace> in_place(const Layout& /*layout*/, const Participant& /*self*/) const override {
    return InPlace{};
  }
  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return 1; }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& /*self*/) const override {
    return {{.begin = 0, .count = layout.recv_count, .source = ExpectedBlock::kReduced, .position = 0}};
  }
  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).all_reduce(operands.send, operands.recv, operands.count, operands.datatype,
                                    operands.reduction);
  }
};

/// An operation that takes a known time: all of them the same, or each what a script says of it, from 0.
class Sleeper : public AllReduce {
 public:
  using Script = std::function<Seconds(int start)>;
  explicit Sleeper(Seconds time) : Sleeper([time](int) { return time; }) {}
  explicit Sleeper(Script script) : script_(std::move(script)) {}
  void start(Backend& /*backend*/, const Operands& /*operands*/) const override { sleep_for(script_(starts++)); }

  mutable int starts = 0;

 private:
  Script script_;
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
  Rig(Options given, Session& measured, mpi::CommonClock::Clock read = now, bool shared_clock = true,
      Bytes pool_bytes = kPoolBytes)
      : options(std::move(given)),
        team(world, options.split),
        session(measured),
        clock(world, shared_clock ? 1 : static_cast<std::uint64_t>(world.rank()), std::move(read)),
        workspace(session, pool_bytes, true, 0, ranks_of(team.group(), session)),
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
