#include "common/record/packing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/record/row.h"

using namespace fabricbench;

namespace row_packing_test {

/// Numbers that are all different, so that a field that was left out or exchanged for another shows.
class Numbers {
 public:
  template <typename T>
  T next() {
    return static_cast<T>(++last_);
  }
  Seconds time() { return 0.5 + next<Seconds>(); }
  std::string text(const char* what) { return what + std::to_string(next<int>()); }

 private:
  int last_ = 0;
};

Summary distinct_summary(Numbers& numbers) {
  Summary summary;
  summary.median = numbers.time();
  summary.interval = Interval{numbers.time(), numbers.time(), numbers.time(), numbers.time()};
  summary.epochs = numbers.next<std::int64_t>();
  summary.samples = numbers.next<std::int64_t>();
  summary.mean = numbers.time();
  summary.standard_deviation = numbers.time();
  summary.min = numbers.time();
  summary.p5 = numbers.time();
  summary.p95 = numbers.time();
  summary.p99 = numbers.time();
  summary.p999 = numbers.time();
  summary.max = numbers.time();
  summary.jitter = numbers.time();
  summary.outliers = numbers.next<std::int64_t>();
  summary.late = numbers.next<std::int64_t>();
  summary.drift = numbers.time();
  summary.autocorrelation = numbers.time();
  summary.preemptions = numbers.next<std::int64_t>();
  summary.most_preempted_rank = numbers.next<int>();
  summary.slowest_rank = numbers.next<int>();
  summary.slowest_share = numbers.time();
  summary.times_slowest = {{numbers.next<int>(), numbers.next<std::int64_t>(), numbers.next<std::int64_t>()}};
  summary.clock_error = numbers.time();
  summary.common_start = false;
  return summary;
}

Measurement distinct_measurement(Numbers& numbers) {
  Measurement measured;
  measured.summary = distinct_summary(numbers);
  measured.cpu_time = numbers.time();
  measured.host_time = numbers.time();
  measured.rank_times = {numbers.time(), numbers.time(), numbers.time()};
  measured.rank_means = {numbers.time(), numbers.time()};
  measured.stopped = {{numbers.time(), numbers.time()}, {numbers.next<int>()}, {numbers.time()}};
  measured.waiting = {{numbers.time()}, {numbers.next<int>()}, {numbers.time()}};
  measured.processor_wait = numbers.time();
  measured.algbw = numbers.time();
  measured.busbw = numbers.time();
  measured.message_rate = numbers.time();
  measured.directions = {numbers.time(), numbers.time()};
  measured.queue_pairs = {numbers.time(), numbers.time(), numbers.time()};
  measured.retransmitted = {numbers.next<std::uint64_t>(), numbers.next<std::uint64_t>()};
  measured.iterations = numbers.next<std::int64_t>();
  measured.operations_per_sample = numbers.next<std::int64_t>();
  measured.wrong = numbers.next<std::uint64_t>();
  measured.wrong_ranks = numbers.next<std::uint64_t>();
  measured.first_wrong = numbers.text("first wrong ");
  measured.choice = LibraryChoice{numbers.text("algorithm "), numbers.text("protocol "), numbers.next<int>()};
  measured.iteration_times = IterationTimes{numbers.time(), numbers.time(), numbers.time(), numbers.time()};
  for (int nic = 0; nic < 2; ++nic) {
    measured.nics.push_back(
        {numbers.text("host "), numbers.text("wire "), numbers.next<std::uint64_t>(), numbers.next<std::uint64_t>()});
  }
  measured.background_rate = numbers.time();
  measured.lost = numbers.next<std::uint64_t>();
  measured.samples = {numbers.time(), numbers.time()};
  return measured;
}

Row distinct_row(Numbers& numbers) {
  Row row;
  row.size = numbers.next<Bytes>();
  row.count = numbers.next<std::uint64_t>();
  row.datatype = DataType::kF8e5m2;
  row.reduction = Reduction::kMulSum;
  row.root = numbers.next<int>();
  row.group = numbers.next<int>();
  row.traffic = {{numbers.next<Bytes>(), numbers.next<Bytes>()}, {numbers.next<Bytes>(), numbers.next<Bytes>()}};
  row.skipped = numbers.text("skipped ");
  row.out_of_place = distinct_measurement(numbers);
  row.in_place = distinct_measurement(numbers);
  row.finished = numbers.next<std::time_t>();
  return row;
}

void expect_same(const Summary& a, const Summary& b) {
  EXPECT_EQ(a.median, b.median);
  ASSERT_EQ(a.interval.has_value(), b.interval.has_value());
  if (a.interval) {
    EXPECT_EQ(a.interval->low, b.interval->low);
    EXPECT_EQ(a.interval->high, b.interval->high);
    EXPECT_EQ(a.interval->confidence, b.interval->confidence);
    EXPECT_EQ(a.interval->centre, b.interval->centre);
  }
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.standard_deviation, b.standard_deviation);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.p5, b.p5);
  EXPECT_EQ(a.p95, b.p95);
  EXPECT_EQ(a.p99, b.p99);
  EXPECT_EQ(a.p999, b.p999);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.jitter, b.jitter);
  EXPECT_EQ(a.outliers, b.outliers);
  EXPECT_EQ(a.late, b.late);
  EXPECT_EQ(a.drift, b.drift);
  EXPECT_EQ(a.autocorrelation, b.autocorrelation);
  EXPECT_EQ(a.preemptions, b.preemptions);
  EXPECT_EQ(a.most_preempted_rank, b.most_preempted_rank);
  EXPECT_EQ(a.slowest_rank, b.slowest_rank);
  EXPECT_EQ(a.slowest_share, b.slowest_share);
  ASSERT_EQ(a.times_slowest.size(), b.times_slowest.size());
  for (std::size_t i = 0; i < a.times_slowest.size(); ++i) {
    EXPECT_EQ(a.times_slowest[i].rank, b.times_slowest[i].rank);
    EXPECT_EQ(a.times_slowest[i].epoch, b.times_slowest[i].epoch);
    EXPECT_EQ(a.times_slowest[i].samples, b.times_slowest[i].samples);
  }
  EXPECT_EQ(a.clock_error, b.clock_error);
  EXPECT_EQ(a.common_start, b.common_start);
}

void expect_same(const std::optional<Measurement>& a, const std::optional<Measurement>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  expect_same(a->summary, b->summary);
  EXPECT_EQ(a->cpu_time, b->cpu_time);
  EXPECT_EQ(a->host_time, b->host_time);
  EXPECT_EQ(a->rank_times, b->rank_times);
  EXPECT_EQ(a->rank_means, b->rank_means);
  for (const auto shares : {&Measurement::stopped, &Measurement::waiting}) {
    EXPECT_EQ(((*a).*shares).by_rank, ((*b).*shares).by_rank);
    EXPECT_EQ(((*a).*shares).most_idle, ((*b).*shares).most_idle);
    EXPECT_EQ(((*a).*shares).most, ((*b).*shares).most);
  }
  EXPECT_EQ(a->processor_wait, b->processor_wait);
  EXPECT_EQ(a->algbw, b->algbw);
  EXPECT_EQ(a->busbw, b->busbw);
  EXPECT_EQ(a->message_rate, b->message_rate);
  EXPECT_EQ(a->directions, b->directions);
  EXPECT_EQ(a->retransmitted, b->retransmitted);
  EXPECT_EQ(a->iterations, b->iterations);
  EXPECT_EQ(a->operations_per_sample, b->operations_per_sample);
  EXPECT_EQ(a->wrong, b->wrong);
  EXPECT_EQ(a->wrong_ranks, b->wrong_ranks);
  EXPECT_EQ(a->first_wrong, b->first_wrong);
  ASSERT_EQ(a->choice.has_value(), b->choice.has_value());
  if (a->choice) {
    EXPECT_EQ(a->choice->algorithm, b->choice->algorithm);
    EXPECT_EQ(a->choice->protocol, b->choice->protocol);
    EXPECT_EQ(a->choice->channels, b->choice->channels);
  }
  ASSERT_EQ(a->iteration_times.has_value(), b->iteration_times.has_value());
  if (a->iteration_times) {
    EXPECT_EQ(a->iteration_times->min, b->iteration_times->min);
    EXPECT_EQ(a->iteration_times->max, b->iteration_times->max);
    EXPECT_EQ(a->iteration_times->p99, b->iteration_times->p99);
    EXPECT_EQ(a->iteration_times->variation_percent, b->iteration_times->variation_percent);
  }
  ASSERT_EQ(a->nics.size(), b->nics.size());
  for (std::size_t i = 0; i < a->nics.size(); ++i) {
    EXPECT_EQ(a->nics[i].host, b->nics[i].host);
    EXPECT_EQ(a->nics[i].name, b->nics[i].name);
    EXPECT_EQ(a->nics[i].sent, b->nics[i].sent);
    EXPECT_EQ(a->nics[i].received, b->nics[i].received);
  }
  EXPECT_EQ(a->queue_pairs, b->queue_pairs);
  EXPECT_EQ(a->background_rate, b->background_rate);
  EXPECT_EQ(a->lost, b->lost);
  EXPECT_EQ(a->samples, b->samples);
}

void expect_same(const Row& a, const Row& b) {
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.datatype, b.datatype);
  EXPECT_EQ(a.reduction, b.reduction);
  EXPECT_EQ(a.root, b.root);
  EXPECT_EQ(a.group, b.group);
  ASSERT_EQ(a.traffic.size(), b.traffic.size());
  for (std::size_t rank = 0; rank < a.traffic.size(); ++rank) {
    EXPECT_EQ(a.traffic[rank].sent, b.traffic[rank].sent);
    EXPECT_EQ(a.traffic[rank].received, b.traffic[rank].received);
  }
  EXPECT_EQ(a.skipped, b.skipped);
  expect_same(a.out_of_place, b.out_of_place);
  expect_same(a.in_place, b.in_place);
  EXPECT_EQ(a.finished, b.finished);
}

TEST(RowPacking, KeepsEveryFieldOfEveryRow) {
  Numbers numbers;
  const std::vector<Row> rows{distinct_row(numbers), distinct_row(numbers)};
  const std::vector<Row> back = record::unpack<std::vector<Row>>(record::pack(rows));
  ASSERT_EQ(back.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) expect_same(rows[i], back[i]);
}

TEST(RowPacking, KeepsWhatIsNotThere) {
  Numbers numbers;
  Row row = distinct_row(numbers);
  row.skipped.clear();
  row.in_place.reset();
  Measurement& measured = *row.out_of_place;
  measured.summary.interval.reset();
  measured.summary.p999.reset();
  measured.host_time.reset();
  measured.wrong.reset();
  measured.choice.reset();
  measured.iteration_times.reset();
  measured.background_rate.reset();
  measured.lost.reset();
  measured.directions.clear();
  measured.queue_pairs.clear();
  measured.retransmitted.clear();
  measured.nics.clear();
  measured.samples.clear();
  const std::vector<Row> back = record::unpack<std::vector<Row>>(record::pack(std::vector<Row>{row, Row{}, row}));
  ASSERT_EQ(back.size(), 3U);
  expect_same(back[0], row);
  expect_same(back[1], Row{});
  expect_same(back[2], row);
  EXPECT_FALSE(back[0].out_of_place->summary.p999);
  EXPECT_TRUE(back[0].out_of_place->summary.p99);
}

TEST(RowPacking, KeepsTextsOfAnyBytes) {
  Row row;
  row.skipped = std::string("a\0b\xff\n", 5);
  row.skipped.append(100'000, 'x');
  EXPECT_EQ(record::unpack<Row>(record::pack(row)).skipped, row.skipped);
}

TEST(RowPacking, OfNoRowsIsNone) {
  EXPECT_TRUE(record::unpack<std::vector<Row>>(record::pack(std::vector<Row>{})).empty());
}

TEST(EpochPacking, KeepsEveryField) {
  const EpochRecord epoch{1, 10, DataType::kHalf, Reduction::kMax, 2, 3, true, 4, 5.5, 8.5, 9.5, 6, 7};
  const EpochRecord back = record::unpack<EpochRecord>(record::pack(epoch));
  EXPECT_EQ(back.size, epoch.size);
  EXPECT_EQ(back.count, epoch.count);
  EXPECT_EQ(back.algbw, epoch.algbw);
  EXPECT_EQ(back.busbw, epoch.busbw);
  EXPECT_EQ(back.datatype, epoch.datatype);
  EXPECT_EQ(back.reduction, epoch.reduction);
  EXPECT_EQ(back.root, epoch.root);
  EXPECT_EQ(back.group, epoch.group);
  EXPECT_EQ(back.in_place, epoch.in_place);
  EXPECT_EQ(back.epoch, epoch.epoch);
  EXPECT_EQ(back.median, epoch.median);
  EXPECT_EQ(back.samples, epoch.samples);
  EXPECT_EQ(back.late, epoch.late);
}

}  // namespace row_packing_test
