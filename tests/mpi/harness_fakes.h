#pragma once

// What the tests of the harness measure instead of a library: operations of known length.

#include <chrono>
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

namespace fabricbench {

inline void sleep(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<Seconds>(time)); }

/// Does nothing, and says how often it was waited for.
class IdleBackend final : public Backend {
 public:
  explicit IdleBackend(Seconds wait_time = 0) : wait_time_(wait_time) {}
  [[nodiscard]] std::string library() const override { return "idle"; }
  void all_reduce(const void*, void*, std::size_t, DataType, Reduction) override {}
  void wait() override {
    ++waits;
    if (wait_time_ > 0) sleep(wait_time_);
  }

  int waits = 0;

 private:
  Seconds wait_time_;
};

/// The layout and the data of all_reduce_perf.
class AllReduce : public Collective {
 public:
  [[nodiscard]] std::string_view name() const override { return "all_reduce"; }
  [[nodiscard]] Layout layout(std::uint64_t elements, int /*ranks*/) const override {
    return {.send_count = elements, .recv_count = elements, .count = elements};
  }
  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return 1; }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, int /*rank*/) const override {
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

/// Everything that a Meter takes, with one clock for all ranks unless another is given.
struct Rig {
  explicit Rig(Options given, mpi::CommonClock::Clock read = now, bool shared_clock = true)
      : options(std::move(given)),
        clock(world, shared_clock ? 1 : static_cast<std::uint64_t>(world.rank()), std::move(read)),
        workspace(kPoolBytes, true, 0, world.rank(), world.size()),
        meter(world, clock, options, heartbeat) {
    workspace.use(DataType::kFloat, Reduction::kSum);
  }
  [[nodiscard]] Operation operation(const Collective& collective, Backend& backend, bool in_place = false) {
    return {collective, backend, workspace, small_case(in_place), options.buffers, world.rank()};
  }

  mpi::Communicator world = mpi::Communicator::world();
  Options options;
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
