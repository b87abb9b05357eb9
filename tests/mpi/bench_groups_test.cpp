// Groups that run at the same time: each is measured and reported by itself, on the job's first process.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench_support.h"

namespace fabricbench {
namespace {

Options in_two_groups() {
  Options options = quick();
  options.split = "MOD 2";
  return options;
}

/// This process's place in the job and in its group, and a session of MPI on the group.
struct Job {
  explicit Job(const Options& options) : team(world, options.split), session(team.group()) {}

  mpi::Communicator world = mpi::Communicator::world();
  Team team;
  mpi::MpiSession session;
};

/// All-reduce that takes longer the higher the rank is in its group.
class SlowerByRank final : public AllReduce {
 public:
  void start(Backend& backend, const Operands& operands) const override {
    sleep_for(1e-3 * (1 + 2 * operands.rank));
    AllReduce::start(backend, operands);
  }
};

/// The sizes of a group's rows: those of group 1 are unlike those of group 0, as where its ranks are more or fewer.
std::vector<Bytes> sizes_of(int group) {
  return group == 0 ? std::vector<Bytes>{64, 64, 128} : std::vector<Bytes>{48, 96, 96};
}

struct RowKey {
  int group;
  Bytes size;
  bool operator==(const RowKey&) const = default;
};

std::vector<RowKey> keys_of(const std::vector<Row>& rows) {
  std::vector<RowKey> keys;
  keys.reserve(rows.size());
  for (const Row& row : rows) keys.push_back({row.group, row.size});
  return keys;
}

std::ostream& operator<<(std::ostream& stream, const RowKey& key) { return stream << key.group << ":" << key.size; }

using Groups = BenchTest;
using RankTimes = BenchTest;

TEST_F(Groups, RowsOfAllGroupsArriveByGroup) {
  const Options options = in_two_groups();
  Job job(options);
  const Result result = run(options, job.session, AllReduce(), cases_of(sizes_of(job.team.group_number())));
  if (!job.world.is_root()) {
    EXPECT_TRUE(result.log.rows.empty() && result.log.epochs.empty());
    return;
  }
  std::vector<RowKey> expected;
  for (int group = 0; group < job.team.groups(); ++group) {
    for (const Bytes size : sizes_of(group)) expected.push_back({group, size});
  }
  EXPECT_EQ(keys_of(result.log.rows), expected);
  for (const Row& row : result.log.rows) {
    ASSERT_TRUE(row.out_of_place && row.in_place) << "each row with both placements";
    EXPECT_EQ(row.out_of_place->wrong, 0u);
    EXPECT_EQ(row.in_place->wrong, 0u);
    EXPECT_EQ(row.in_place->summary.epochs, 9);
  }
  EXPECT_EQ(result.log.epochs.size(), std::size_t{18} * expected.size()) << "every epoch of every group";
}

TEST_F(Groups, RowsInOrderComeSizeBySizeFromAllGroups) {
  Options options = in_two_groups();
  options.iterations = 5;
  Job job(options);
  const Result result = run(options, job.session, AllReduce(), cases_of(sizes_of(job.team.group_number())));
  if (!job.world.is_root()) return;
  std::vector<RowKey> expected;
  for (std::size_t row = 0; row < 3; ++row) {
    for (int group = 0; group < job.team.groups(); ++group) expected.push_back({group, sizes_of(group)[row]});
  }
  EXPECT_EQ(keys_of(result.log.rows), expected);
}

TEST_F(Groups, EpochsSayWhoseTheyAre) {
  const Options options = in_two_groups();
  Job job(options);
  const Result result = run(options, job.session, AllReduce(), cases_of(sizes_of(job.team.group_number())));
  for (const EpochRecord& epoch : result.log.epochs) {
    const auto sizes = sizes_of(epoch.group);
    EXPECT_LT(epoch.group, job.team.groups());
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), epoch.size) > 0, true) << epoch.group << ":" << epoch.size;
    EXPECT_GT(epoch.median, 0);
    EXPECT_GT(epoch.samples, 0);
  }
}

TEST_F(Groups, EveryRowHasTheTimesOfItsOwnRanks) {
  Options options = in_two_groups();
  options.iterations = 3;
  options.warmup = 0;
  options.blocking = Blocking::kWait;
  Job job(options);
  const Result result = run(options, job.session, SlowerByRank(), cases_of({64}));
  for (const Row& row : result.log.rows) {
    const std::size_t ranks = job.team.processes_of(row.group).size();
    for (const auto& measured : {row.out_of_place, row.in_place}) {
      ASSERT_EQ(measured->rank_times.size(), ranks) << "group " << row.group;
      const Seconds slowest = 1e-3 * (2 * static_cast<double>(ranks) - 1) + kOperation + kReading;
      for (const Seconds time : measured->rank_times) EXPECT_NEAR(time, slowest, kRounding) << "all wait for the last";
      EXPECT_NEAR(measured->summary.median, slowest, kRounding);
      EXPECT_LT(measured->summary.slowest_rank, static_cast<int>(ranks));
    }
  }
}

/// Where nothing waits for the others, the times are in the order of the sleeps.
TEST_F(RankTimes, AreByRank) {
  Options options = quick();
  options.iterations = 9;
  options.blocking = Blocking::kWait;
  const mpi::Communicator world = mpi::Communicator::world();
  IdleSession session;
  const Sleeper sleeper(5e-3 * (1 + world.rank()));
  options.checks = 0;
  const Result result = run(options, session, sleeper, cases_of({64}));
  for (const Row& row : result.log.rows) {
    const std::vector<Seconds>& times = row.out_of_place->rank_times;
    ASSERT_EQ(times.size(), static_cast<std::size_t>(world.size()));
    for (std::size_t rank = 0; rank < times.size(); ++rank) {
      EXPECT_NEAR(times[rank], 5e-3 * (1 + static_cast<double>(rank)) + kReading, kRounding);
    }
  }
}

TEST_F(RankTimes, AreThoseOfAllLocalRanks) {
  Options options = quick();
  options.iterations = 2;
  options.checks = 0;
  const mpi::Communicator world = mpi::Communicator::world();
  IdleSession session(0, 2);
  const Result result = run(options, session, Sleeper(0), cases_of({64}));
  for (const Row& row : result.log.rows) {
    EXPECT_EQ(row.out_of_place->rank_times.size(), 2 * static_cast<std::size_t>(world.size()));
  }
}

/// The last rank of each group is wrong, and each group says so of its own rank.
class WrongAtTheEnd final : private test::IdleBackend, public test::HostSession {
 public:
  WrongAtTheEnd(const mpi::Communicator& group, bool is_wrong)
      : HostSession(*static_cast<Backend*>(this)),
        backend_(group),
        is_wrong_(is_wrong && group.rank() == group.size() - 1) {}
  void all_reduce(const void* send, void* recv, std::size_t count, DataType type, Reduction reduction) override {
    backend_.all_reduce(send, recv, count, type, reduction);
    if (is_wrong_ && send != recv) static_cast<std::byte*>(recv)[5 * sizeof(float)] ^= std::byte{1};
  }

 private:
  mpi::MpiBackend backend_;
  bool is_wrong_;
};

TEST_F(Groups, WrongDataIsThatOfTheGroupThatHasIt) {
  const Options options = in_two_groups();
  Job job(options);
  if (job.world.size() < 3) GTEST_SKIP() << "one process is one group, and two have no second rank each";
  WrongAtTheEnd session(job.team.group(), job.team.group_number() == 0);
  const Result result = run(options, session, AllReduce(), cases_of({64}));
  if (!job.world.is_root()) return;
  ASSERT_EQ(result.log.rows.size(), 2u);
  const int culprit = job.team.processes_of(0).back();  // as the job numbers it
  EXPECT_EQ(result.log.rows[0].out_of_place->wrong, 1u);
  EXPECT_EQ(result.log.rows[0].out_of_place->wrong_ranks, 1u);
  EXPECT_EQ(result.log.rows[0].out_of_place->first_wrong.rfind("rank " + std::to_string(culprit) + ": ", 0), 0u)
      << result.log.rows[0].out_of_place->first_wrong;
  EXPECT_EQ(result.log.rows[1].out_of_place->wrong, 0u);
  EXPECT_EQ(result.wrong_checks, 1u);
}

}  // namespace
}  // namespace fabricbench
