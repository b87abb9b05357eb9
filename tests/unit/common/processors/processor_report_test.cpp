#include "common/processors/processor_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/record/packing.h"

using namespace fabricbench;

namespace processor_report_test {

using Lines = std::vector<std::string>;

ProcessAffinity place(int rank, const std::string& host, std::vector<SeenOn> seen) {
  return {rank, host, std::move(seen)};
}

ProcessorSamples readings(int rank, std::uint64_t host_id, std::vector<int> processors) {
  return {rank, "a", host_id, std::move(processors)};
}

TEST(ProcessorLines, NameEachHostsRanksInTheirOrder) {
  const std::vector<ProcessAffinity> places = {
      place(0, "b", {{3, 0, 10}}), place(2, "a", {{0, 0, 1}, {1, 0, 1}, {2, 0, 2}}),
      place(1, "b", {{4, 0, 1}, {64, 1, 2}}), place(3, "a", {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {3, 0, 1}, {4, 1, 1}}),
      place(4, "c", {})};
  EXPECT_EQ(processor_lines(places),
            (Lines{"Processors: host b: rank 0 on 3 (NUMA node 0), rank 1 on 4 and 64 (NUMA nodes 0 and 1)",
                   "Processors: host a: rank 2 on 0, 1 and 2 (NUMA node 0), rank 3 on 5 different ones (NUMA nodes 0 "
                   "and 1)"}));
}

TEST(SharedProcessor, IsWhereBothWereAtTheSameTime) {
  const auto shared = shared_processor(7, readings(0, 1, {3, 3, 4, 5, 3}), readings(1, 1, {3, 3, 4, 6, 3}));
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->pair, 7);
  EXPECT_EQ(shared->processor, 3);
  EXPECT_EQ(shared->shared, 4);
  EXPECT_EQ(shared->readings, 5);
}

TEST(SharedProcessor, IsNoneIfTheyOnlySwappedPlaces) {
  EXPECT_FALSE(shared_processor(0, readings(0, 1, {0, 1, 0, 1}), readings(1, 1, {1, 0, 1, 0})));
}

TEST(SharedProcessor, IsNoneInHalfOfTheReadings) {
  EXPECT_FALSE(shared_processor(0, readings(0, 1, {0, 1}), readings(1, 1, {0, 0})));
}

TEST(SharedProcessor, IsNoneOnTwoHosts) {
  EXPECT_FALSE(shared_processor(0, readings(0, 1, {3, 3}), readings(1, 2, {3, 3})));
}

TEST(SharedProcessor, IsNoneWithoutReadings) {
  EXPECT_FALSE(shared_processor(0, readings(0, 1, {}), readings(1, 1, {})));
}

TEST(ProcessorWarnings, TellOfSharedProcessorsAndInterrupts) {
  ProcessorReport report;
  report.processes = {place(0, "a", {{0, 0, 9}, {1, 0, 1}}), place(1, "a", {{0, 0, 10}}), place(2, "b", {{0, 0, 10}}),
                      place(3, "b", {{1, 0, 5}, {2, 0, 5}})};
  report.shared = {{0, 0, 1, "a", 0, 9, 10}};
  report.interrupts = {{"b", "eth0", 0, 52341.4}, {"b", "eth1", 1, 2000}};
  EXPECT_EQ(processor_warnings(report),
            (Lines{"Both ends of pair 0, ranks 0 and 1 of host a, ran on processor 0 in 9 of 10 readings and took "
                   "turns: figures differ from those with a processor each, which mpirun --bind-to core or srun "
                   "--cpu-bind=cores give if the job may use enough processors",
                   "Rank 2 of host b ran on processor 0, which also handled 52341 interrupts of eth0 a second: bind "
                   "the rank to another processor, or change smp_affinity_list of these interrupts"}));
}

TEST(ProcessorWarnings, OfManyPairsAreCounted) {
  ProcessorReport report;
  for (int pair = 0; pair < 12; ++pair) report.shared.push_back({pair, 2 * pair, 2 * pair + 1, "a", pair, 5, 5});
  const Lines warnings = processor_warnings(report);
  ASSERT_EQ(warnings.size(), 9U);
  EXPECT_EQ(warnings.back(), "and 4 more processors that were shared");
}

TEST(ProcessorReport, AddsUpTheReadingsOfRounds) {
  ProcessorReport whole;
  whole.processes = {place(0, "a", {{1, 0, 2}})};
  whole.shared = {{0, 0, 1, "a", 1, 2, 2}};
  ProcessorReport later;
  later.processes = {place(0, "a", {{0, 0, 1}, {1, 0, 3}}), place(5, "c", {{2, 0, 1}})};
  later.shared = {{0, 0, 1, "a", 1, 2, 2}, {3, 0, 5, "a", 1, 2, 2}};
  whole.add(record::unpack<ProcessorReport>(record::pack(later)));
  Ending ending;
  whole.add_to(ending);
  EXPECT_EQ(ending.processors, (Lines{"Processors: host a: rank 0 on 0 and 1 (NUMA node 0)",
                                      "Processors: host c: rank 5 on 2 (NUMA node 0)"}));
  EXPECT_EQ(whole.processes[0].seen[1].readings, 5);
  EXPECT_EQ(ending.notes.size(), 2U);
}

}  // namespace processor_report_test
