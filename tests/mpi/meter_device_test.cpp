// Times by a clock that runs where the operations do, of processes that drive two ranks each. That clock shows what a
// script says, as the host's does.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness_fakes.h"

namespace fabricbench {
namespace {

constexpr int kLocalRanks = 2;
constexpr Seconds kLongOperation = 5e-3;
constexpr Seconds kShortOperation = 1e-3;

using Calls = std::vector<std::string>;
/// How long the `operation`-th of a rank takes, from 0 since the clock was reset.
using Script = std::function<Seconds(int local_rank, int operation)>;

/// A clock that adds up what the operations between two marks take.
class FakeDeviceClock final : public DeviceClock {
 public:
  FakeDeviceClock(Script script, Calls& log) : script_(std::move(script)), log_(log) {}

  void reserve(std::size_t wanted) override { log_.push_back("reserve " + std::to_string(wanted)); }
  void reset() override {
    log_.emplace_back("reset");
    marks = 0;
    for (OfRank& rank : ranks_) rank = {};
  }
  void mark() override {
    log_.emplace_back("mark");
    if (marks++ > 0) {
      for (OfRank& rank : ranks_) rank.intervals.push_back(rank.since_mark);
    }
    for (OfRank& rank : ranks_) rank.since_mark = 0;
  }
  std::vector<std::vector<Seconds>> intervals() override {
    EXPECT_EQ(log_.back(), "wait") << "intervals are known when all has completed";
    std::vector<std::vector<Seconds>> all;
    for (const OfRank& rank : ranks_) all.push_back(rank.intervals);
    return all;
  }
  [[nodiscard]] Seconds resolution() const override { return step; }
  void close_gate() override { log_.emplace_back("close"); }
  void open_gate() override { log_.emplace_back("open"); }

  void run(int local_rank) {
    OfRank& rank = ranks_[static_cast<std::size_t>(local_rank)];
    rank.since_mark += script_(local_rank, rank.operations++);
  }

  int marks = 0;
  Seconds step = 0;

 private:
  struct OfRank {
    std::vector<Seconds> intervals;
    Seconds since_mark = 0;
    int operations = 0;
  };
  Script script_;
  Calls& log_;
  std::vector<OfRank> ranks_{kLocalRanks};
};

/// A rank whose all-reduce does nothing but tell the session of it.
class DeviceRank final : public test::IdleBackend {
 public:
  void all_reduce(const void*, void*, std::size_t, DataType, Reduction) override { started(); }
  std::function<void()> started;
};

/// A process's two ranks, with a scripted clock and recordings.
class DeviceSession final : private std::vector<std::unique_ptr<DeviceRank>>, public test::HostSession {
 public:
  explicit DeviceSession(Script script) : HostSession(make_ranks()), clock(std::move(script), log) {
    for (int local = 0; local < kLocalRanks; ++local) {
      at(static_cast<std::size_t>(local))->started = [this, local] { start(local); };
    }
  }
  [[nodiscard]] DeviceClock* device_clock() override { return &clock; }
  void wait() override { log.emplace_back("wait"); }
  [[nodiscard]] Recorder* recorder() override { return &recording_; }
  /// How often the log has `what`.
  [[nodiscard]] std::int64_t count(const std::string& what) const { return std::count(log.begin(), log.end(), what); }

  Calls log;
  FakeDeviceClock clock;

 private:
  std::vector<Backend*> make_ranks() {
    std::vector<Backend*> backends;
    for (int local = 0; local < kLocalRanks; ++local) backends.push_back(emplace_back(new DeviceRank).get());
    return backends;
  }
  void start(int local) {
    log.push_back("start " + std::to_string(local));
    if (recording_.is_open) return recording_.ranks.push_back(local);
    clock.run(local);
  }

  /// Writes down what is asked of it, and the ranks that start meanwhile.
  struct Recording final : Recorder {
    explicit Recording(DeviceSession& of) : session(of) {}
    void begin() override {
      session.log.emplace_back("record");
      is_open = true;
      ranks.clear();
    }
    void end() override {
      session.log.emplace_back("end");
      is_open = false;
    }
    void launch() override {
      session.log.emplace_back("launch");
      for (const int local : ranks) session.clock.run(local);
    }

    DeviceSession& session;
    bool is_open = false;
    std::vector<int> ranks{};
  };
  Recording recording_{*this};
};

/// A session and all that a Meter takes. `slowest`: a rank of the group whose operations take kLongOperation; others
/// take less the lower they are.
struct DeviceRig {
  explicit DeviceRig(Options options, int slowest = -1)
      : DeviceRig(std::move(options), [this, slowest](int local, int) { return time_of_rank(local, slowest); }) {}
  DeviceRig(Options options, Script script) : session(std::move(script)), rig(std::move(options), session) {}

  [[nodiscard]] int rank_of(int local) const { return rig.team.group().rank() * kLocalRanks + local; }
  [[nodiscard]] Seconds time_of_rank(int local, int slowest) const {
    return rank_of(local) == slowest ? kLongOperation : kShortOperation + 1e-5 * rank_of(local);
  }
  [[nodiscard]] int ranks() const { return rig.team.group().size() * kLocalRanks; }
  [[nodiscard]] Epoch measure(const VisitPlan& plan) {
    Operation operation = rig.operation(all_reduce);
    session.log.clear();
    return rig.meter.measure(operation, plan);
  }

  DeviceSession session;
  Rig rig;
  AllReduce all_reduce;
};

int ranks_of_the_job() { return mpi::Communicator::world().size() * kLocalRanks; }

Calls repeated(const Calls& sequence, int times) {
  Calls log;
  for (int i = 0; i < times; ++i) log.insert(log.end(), sequence.begin(), sequence.end());
  return log;
}

Calls operator+(Calls first, const Calls& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

const Calls kStart = {"start 0", "start 1"};

void expect_device_samples(const Epoch& epoch, std::size_t count, Seconds each, int slowest) {
  ASSERT_EQ(epoch.samples.size(), count);
  for (const Seconds sample : epoch.samples) EXPECT_NEAR(sample, each, 1e-9);
  EXPECT_EQ(epoch.slowest_ranks, std::vector<int>(count, slowest));
}

using DeviceTimes = ScriptedJob;
using Gate = ScriptedJob;
using Recording = ScriptedJob;
using PerIteration = ScriptedJob;
using DeviceGroups = ScriptedJob;

TEST_F(DeviceTimes, GivesTheSamplesAndNamesTheSlowestRankWhereverItIs) {
  for (int slowest = 0; slowest < ranks_of_the_job(); ++slowest) {
    DeviceRig rig(options_for(Timing::kPipelined), slowest);
    const Epoch epoch = rig.measure({.warmup = 2, .samples = 4, .iterations = 3});
    if (rig.rig.world.is_root()) expect_device_samples(epoch, 4, kLongOperation, slowest);
    ASSERT_EQ(epoch.host_times.size(), 1u) << "the host's clock beside it";
    EXPECT_NEAR(epoch.host_times.front(), 2 * kReading / 3, kRounding);
    ASSERT_EQ(epoch.cpu_times.size(), 1u);
    EXPECT_NEAR(epoch.cpu_times.front(), kReading / 3, kRounding);
  }
}

TEST_F(DeviceTimes, GivesEachLocalRankItsOwnTimes) {
  DeviceRig rig(options_for(Timing::kPipelined), 1);
  const Epoch epoch = rig.measure({.warmup = 0, .samples = 3, .iterations = 2});
  ASSERT_EQ(epoch.own_times.size(), 2u) << "on every process";
  for (const int local : {0, 1}) {
    const auto& own = epoch.own_times[static_cast<std::size_t>(local)];
    ASSERT_EQ(own.size(), 1u);
    EXPECT_NEAR(own.front(), rig.time_of_rank(local, 1), 1e-9);
  }
}

TEST_F(DeviceTimes, TellTheStepOfTheClockPerOperation) {
  const struct {
    Timing timing;
    std::int64_t iterations;
    double operations;
  } cases[] = {{Timing::kPipelined, 3, 3}, {Timing::kIsolated, 1, 1}};
  for (const auto& [timing, iterations, operations] : cases) {
    DeviceRig rig(options_for(timing));
    rig.session.clock.step = 6e-9 * (1 + rig.rig.team.group().rank());
    const Epoch epoch = rig.measure({.warmup = 0, .samples = 2, .iterations = iterations});
    EXPECT_NEAR(epoch.resolution, 6e-9 * rig.rig.team.group().size() / operations, 1e-15) << "the coarsest of all";
  }
}

TEST_F(DeviceTimes, StandsAroundEachBatchAndNothingElse) {
  DeviceRig rig(options_for(Timing::kPipelined));
  (void)rig.measure({.warmup = 2, .samples = 2, .iterations = 3});
  const Calls batch = Calls{"reset", "mark"} + repeated(kStart, 3) + Calls{"mark", "wait"};
  EXPECT_EQ(rig.session.log, repeated(kStart, 2) + Calls{"wait"} + repeated(batch, 2));
}

TEST_F(DeviceTimes, OfAggregatesGivesTheTimeOfOneOperation) {
  Options options = options_for(Timing::kPipelined);
  options.aggregated = 3;
  DeviceRig rig(options, 0);
  const Epoch epoch = rig.measure({.warmup = 1, .samples = 2, .iterations = 2});
  if (rig.rig.world.is_root()) expect_device_samples(epoch, 2, kLongOperation, 0);
  EXPECT_EQ(rig.session.count("start 1"), 3 * (1 + 2 * 2));
  EXPECT_EQ(rig.session.groups_begun, rig.session.groups_ended);
  EXPECT_GT(rig.session.groups_begun, 0) << "the ranks of a process are started as one group";
}

TEST_F(DeviceTimes, IsAveragedOverAllRanksOfAllProcesses) {
  const int slowest = ranks_of_the_job() - 1;
  double sum = 0;
  for (int rank = 0; rank < slowest; ++rank) sum += kShortOperation + 1e-5 * rank;
  const struct {
    RankAggregate aggregate;
    Seconds expected;
  } cases[] = {{RankAggregate::kRank0, kShortOperation},
               {RankAggregate::kMin, kShortOperation},
               {RankAggregate::kMax, kLongOperation},
               {RankAggregate::kMean, (sum + kLongOperation) / ranks_of_the_job()}};
  for (const auto& [aggregate, expected] : cases) {
    Options options = options_for(Timing::kPipelined);
    options.average = aggregate;
    DeviceRig rig(options, slowest);
    const Epoch epoch = rig.measure({.warmup = 0, .samples = 3, .iterations = 2});
    if (rig.rig.world.is_root()) expect_device_samples(epoch, 3, expected, slowest);
  }
}

TEST_F(Gate, IsClosedBeforeTheStartAndOpenedAtTheAgreedMoment) {
  DeviceRig rig(options_for(Timing::kIsolated), 1);
  const Epoch epoch = rig.measure({.warmup = 1, .samples = 5});
  const Calls sample = Calls{"reset", "close", "mark"} + kStart + Calls{"mark", "open", "wait"};
  const Calls visit = kStart + Calls{"wait"} + repeated(sample, 5);
  EXPECT_EQ(rig.session.log, visit);
  EXPECT_TRUE(epoch.common_start);
  EXPECT_EQ(epoch.late, 0);
  if (!rig.rig.world.is_root()) return;
  ASSERT_EQ(epoch.samples.size(), 5u);
  EXPECT_EQ(epoch.slowest_ranks, std::vector<int>(5, 1));
  for (const Seconds taken : epoch.samples) {
    EXPECT_GE(taken, kLongOperation - kRounding);
    EXPECT_LE(taken, kLongOperation + kReading + kRounding) << "seen a reading after the agreed moment, at most";
  }
}

TEST_F(Gate, KeepsTheLaunchOutOfWhatIsMeasuredFromABarrierToo) {
  Options options = options_for(Timing::kIsolated);
  options.aggregated = 4;
  DeviceRig rig(options, 0);
  const Epoch epoch = rig.measure({.warmup = 0, .samples = 3, .common_start = false});
  EXPECT_EQ(rig.session.count("close"), 3);
  EXPECT_EQ(rig.session.count("open"), 3);
  if (rig.rig.world.is_root()) expect_device_samples(epoch, 3, kLongOperation, 0);
}

TEST_F(Recording, IsMadeOnceAndLaunchedAsOftenAsPlanned) {
  DeviceRig rig(options_for(Timing::kPipelined), 1);
  const Epoch epoch = rig.measure({.warmup = 2, .samples = 3, .iterations = 5, .launches = 4});
  const Calls warmup = repeated(kStart, 2) + Calls{"wait"};
  const Calls recording = Calls{"record"} + repeated(kStart, 5) + Calls{"end", "launch", "wait"};
  const Calls batch = Calls{"reset", "mark"} + repeated({"launch"}, 4) + Calls{"mark", "wait"};
  EXPECT_EQ(rig.session.log, warmup + recording + repeated(batch, 3)) << "the first launch is not timed";
  if (rig.rig.world.is_root()) expect_device_samples(epoch, 3, kLongOperation, 1);
}

TEST_F(Recording, IsPreparedForAsManyStartsAsThereAre) {
  const VisitPlan recorded{.warmup = 2, .samples = 3, .iterations = 5, .launches = 4};
  EXPECT_EQ(recorded.starts(1), 2 + 5);
  EXPECT_EQ(recorded.starts(3), 3 * (2 + 5));
  const VisitPlan started{.warmup = 2, .samples = 3, .iterations = 5};
  EXPECT_EQ(started.starts(2), 2 * (2 + 3 * 5));
}

/// Each operation takes longer than the one before.
TEST_F(PerIteration, EveryIterationIsASample) {
  Options options = options_for(Timing::kPipelined);
  options.per_iteration = true;
  options.aggregated = 2;
  DeviceRig rig(options, [](int local, int operation) { return kShortOperation * (1 + operation) * (1 + local); });
  const Epoch epoch = rig.measure({.warmup = 1, .samples = 3, .iterations = 4});
  EXPECT_EQ(rig.session.clock.marks, 1 + 3 * 4) << "one between each two iterations, and two at the ends";
  EXPECT_EQ(rig.session.count("reserve 13"), 1) << "before the first of them";
  EXPECT_EQ(rig.session.count("wait"), 2) << "after the warm-up and at the end";
  ASSERT_EQ(epoch.host_times.size(), 1u);
  EXPECT_NEAR(epoch.host_times.front(), 2 * kReading / (3 * 4 * 2), kRounding);
  if (!rig.rig.world.is_root()) return;
  ASSERT_EQ(epoch.samples.size(), 3u * 4u);
  for (std::size_t i = 0; i < epoch.samples.size(); ++i) {
    const double mean_of_two = 1 + 2 * static_cast<double>(i) + 0.5;
    EXPECT_NEAR(epoch.samples[i], 2 * kShortOperation * mean_of_two, 1e-9) << "iteration " << i;
    EXPECT_EQ(epoch.slowest_ranks[i], 1) << "of equal ones the lowest rank";
  }
}

/// The host's clock reads the same step at each call, so that the time of a batch is known.
TEST_F(PerIteration, LikeNcclTestsTheHostsClockCounts) {
  Options options = options_for(Timing::kPipelined);
  options.like = ReferenceTool::kNcclTests;
  DeviceRig rig(options, [](int, int) { return kShortOperation; });
  const Epoch epoch = rig.measure({.warmup = 1, .samples = 1, .iterations = 4});
  EXPECT_EQ(rig.session.count("mark"), 0) << "the device is not asked";
  EXPECT_TRUE(epoch.host_times.empty());
  if (!rig.rig.world.is_root()) return;
  ASSERT_EQ(epoch.samples.size(), 1u);
  EXPECT_NEAR(epoch.samples.front(), 2 * kReading / 4, kRounding);
}

TEST_F(DeviceGroups, HaveTheirOwnSamplesAndNumberTheirRanksFromZero) {
  const int processes = mpi::Communicator::world().size();
  if (processes == 1) GTEST_SKIP() << "one process is one group";
  Options options = options_for(Timing::kPipelined);
  options.split = "MOD 2";
  const int slowest = 2 * ((processes + 1) / 2) - 1;  // the last of group 0; group 1 has it where it is as large
  DeviceRig rig(options, slowest);
  const Epoch epoch = rig.measure({.warmup = 0, .samples = 3, .iterations = 2});
  if (!rig.rig.team.group().is_root()) {
    EXPECT_TRUE(epoch.samples.empty());
    return;
  }
  const bool has_it = slowest < rig.ranks();
  const int last = rig.ranks() - 1;
  expect_device_samples(epoch, 3, has_it ? kLongOperation : kShortOperation + 1e-5 * last, last);
}

}  // namespace
}  // namespace fabricbench
