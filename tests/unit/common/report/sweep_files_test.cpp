// What --json and --csv have of a sweep over pairs.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/report/file_sinks.h"
#include "common/report/sweep_facts.h"
#include "sweep_test_support.h"

using namespace fabricbench;
using test::failed_reading;
using test::reading_of;
using test::sweep_context;
using test::Written;
using Json = nlohmann::json;

namespace sweep_files_test {

Json last_line(const std::string& text) { return Json::parse(test::lines_of(text).back()); }

PairReading with_facts(PairReading reading, const SweepFacts& facts) {
  add_facts(reading, facts);
  return reading;
}

Json line_of(const Context& context, const PairReading& reading) {
  Written<JsonLinesSink> file;
  file->begin(context);
  const SweepFacts facts = sweep_facts(context);
  file->record(with_facts(reading, facts));
  return last_line(file.text());
}

std::string csv_line_of(const Context& context, const PairReading& reading) {
  Written<CsvSink> file;
  file->begin(context);
  const SweepFacts facts = sweep_facts(context);
  file->record(with_facts(reading, facts));
  return file.lines().back();
}

PairReading wrong_reading() {
  PairReading reading = reading_of(2, 1, 8);
  reading.status = ReadingStatus::kWrong;
  reading.wrong = 12;
  reading.reason = "first at element 7: expected 3, got 0";
  return reading;
}

TEST(SweepJson, TellsOfTheSweepInTheContext) {
  Context context = sweep_context(3, 2);
  context.options.sweep.level = EndpointLevel::kRank;
  context.options.sweep.schedule = ScheduleKind::kShift;
  context.options.concurrent = 4;
  context.sweep = plan_facts(context);
  Written<JsonLinesSink> file;
  file->begin(context);
  const Json line = last_line(file.text());
  EXPECT_EQ(line["figure"], "sweep");
  EXPECT_EQ(line["sweep"], (Json{{"endpoints", 6},
                                 {"level", "rank"},
                                 {"schedule", "shift"},
                                 {"rounds", 5},
                                 {"concurrent", 4},
                                 {"size_bytes", 1048576},
                                 {"window", 64}}));
}

TEST(SweepJson, SaysWhatIsPairedWhereThatWasLeftToTheProgram) {
  EXPECT_EQ(plan_facts(sweep_context(4, 1)).level, EndpointLevel::kHost);
  EXPECT_EQ(plan_facts(sweep_context(1, 4)).level, EndpointLevel::kRank);
}

TEST(SweepJson, IsNotInTheContextOfOtherPrograms) {
  Written<JsonLinesSink> file;
  file->begin(test::example_context());
  EXPECT_FALSE(last_line(file.text()).contains("sweep"));
}

TEST(SweepJson, OfAReadingStandsByItself) {
  EXPECT_EQ(line_of(sweep_context(2, 2), reading_of(2, 1, 10)), (Json{{"kind", "reading"},
                                                                      {"round", 3},
                                                                      {"concurrent", 4},
                                                                      {"from", 2},
                                                                      {"to", 1},
                                                                      {"from_rank", 2},
                                                                      {"to_rank", 1},
                                                                      {"from_host", "node-01"},
                                                                      {"to_host", "node-00"},
                                                                      {"from_rail", "rank0"},
                                                                      {"to_rail", "rank1"},
                                                                      {"test", "pairwise_bw"},
                                                                      {"both_ways", false},
                                                                      {"size_bytes", 1048576},
                                                                      {"status", "ok"},
                                                                      {"bandwidth_gb_per_s", 10.0},
                                                                      {"bandwidth_gb_per_s_min", 9.0},
                                                                      {"bandwidth_gb_per_s_max", 11.0},
                                                                      {"windows", 9},
                                                                      {"messages_per_window", 64},
                                                                      {"latency_us", 2.0},
                                                                      {"wrong_elements", 0},
                                                                      {"reason", nullptr}}));
}

TEST(SweepJson, TellsEndpointsFromRanks) {
  Context context = sweep_context(2);
  context.ranks[0].rank = 4;
  context.ranks[1].rank = 9;
  const Json line = line_of(context, reading_of(1, 0, 10));
  EXPECT_EQ(line["from"], 1);
  EXPECT_EQ(line["from_rank"], 9);
  EXPECT_EQ(line["to_rank"], 4);
}

TEST(SweepJson, OfAFailureHasNoFiguresAndAReason) {
  const Json line = line_of(sweep_context(2), failed_reading(0, 1, ReadingStatus::kTimeout, "nothing came"));
  EXPECT_EQ(line["status"], "timeout");
  EXPECT_EQ(line["reason"], "nothing came");
  for (const char* key :
       {"bandwidth_gb_per_s", "bandwidth_gb_per_s_min", "bandwidth_gb_per_s_max", "latency_us", "wrong_elements"}) {
    EXPECT_TRUE(line[key].is_null()) << key;
  }
  EXPECT_EQ(line_of(sweep_context(2), failed_reading(0, 1, ReadingStatus::kNotTried, "earlier"))["status"],
            "not_tried");
}

TEST(SweepJson, OfWrongDataHasItsFigures) {
  const Json line = line_of(sweep_context(3), wrong_reading());
  EXPECT_EQ(line["status"], "wrong");
  EXPECT_EQ(line["wrong_elements"], 12);
  EXPECT_EQ(line["bandwidth_gb_per_s"], 8.0);
}

TEST(SweepJson, CountsNoWrongElementsWhereNothingIsChecked) {
  Context context = sweep_context(2);
  context.options.checks = 0;
  EXPECT_TRUE(line_of(context, reading_of(0, 1, 10))["wrong_elements"].is_null());
}

TEST(SweepJson, SumsUpAnEndpoint) {
  EndpointSummary summary;
  summary.endpoint = 1;
  summary.sent = {3, 11e9, 9e9, 0};
  summary.received = {2, 12e9, 10e9, 2};
  summary.failed = 2;
  Written<JsonLinesSink> file;
  file->begin(sweep_context(3));
  add_facts(summary, sweep_facts(sweep_context(3)));
  file->record(summary);
  EXPECT_EQ(last_line(file.text()), (Json{{"kind", "endpoint"},
                                          {"endpoint", 1},
                                          {"rank", 1},
                                          {"host", "node-01"},
                                          {"sent",
                                           {{"readings", 3},
                                            {"bandwidth_gb_per_s_median", 11.0},
                                            {"bandwidth_gb_per_s_min", 9.0},
                                            {"min_endpoint", 0},
                                            {"min_rank", 0},
                                            {"min_host", "node-00"}}},
                                          {"received",
                                           {{"readings", 2},
                                            {"bandwidth_gb_per_s_median", 12.0},
                                            {"bandwidth_gb_per_s_min", 10.0},
                                            {"min_endpoint", 2},
                                            {"min_rank", 2},
                                            {"min_host", "node-02"}}},
                                          {"latency_us", nullptr},
                                          {"failed_readings", 2}}));
}

TEST(SweepJson, NamesNoPartnerWhereNothingWasRead) {
  Written<JsonLinesSink> file;
  file->begin(sweep_context(2));
  file->record(EndpointSummary{});
  EXPECT_EQ(last_line(file.text())["received"], (Json{{"readings", 0},
                                                      {"bandwidth_gb_per_s_median", nullptr},
                                                      {"bandwidth_gb_per_s_min", nullptr},
                                                      {"min_endpoint", nullptr},
                                                      {"min_rank", nullptr},
                                                      {"min_host", nullptr}}));
}

TEST(SweepJson, NamesRailsOnlyWhereAHostHasSeveralEndpoints) {
  EXPECT_TRUE(line_of(sweep_context(2), reading_of(0, 1, 10))["from_rail"].is_null());
  Context context = sweep_context(2, 2);
  for (RankFacts& rank : context.ranks) {
    rank.gpu.emplace();
    rank.gpu->device = 4 + rank.local_rank;
  }
  EXPECT_EQ(line_of(context, reading_of(0, 3, 10))["from_rail"], "gpu4");
  EXPECT_EQ(line_of(context, reading_of(0, 3, 10))["to_rail"], "gpu5");
}

TEST(SweepJson, NamesTheGpusThatAReadingWentThrough) {
  EXPECT_FALSE(line_of(sweep_context(2), reading_of(0, 1, 10)).contains("from_gpu"));
  Context context = sweep_context(2);
  context.ranks[1].gpu.emplace();
  context.ranks[1].gpu->pci = "0000:42:00.0";
  context.ranks[1].gpu->uuid = "GPU-1";
  const auto line = line_of(context, reading_of(0, 1, 10));
  EXPECT_FALSE(line.contains("from_gpu"));
  EXPECT_EQ(line["to_gpu"], "0000:42:00.0");
  EXPECT_EQ(line["to_gpu_uuid"], "GPU-1");
}

TEST(SweepJson, TellsWhatARoundIsFor) {
  Written<JsonLinesSink> file;
  file->begin(sweep_context(4));
  file->record(SweepRound{5, 2, "node-01 again"});
  EXPECT_EQ(last_line(file.text()), (Json{{"kind", "plan"}, {"round", 5}, {"pairs", 2}, {"why", "node-01 again"}}));
}

TEST(SweepJson, NamesWhoIsSilent) {
  Written<JsonLinesSink> file;
  file->begin(sweep_context(4));
  file->record(SilentEndpoints{3, {1, 2}, hosts_of({1, 2}, sweep_facts(sweep_context(4)))});
  EXPECT_EQ(last_line(file.text()),
            (Json{{"kind", "silent"}, {"round", 3}, {"endpoints", {1, 2}}, {"hosts", {"node-01", "node-02"}}}));
}

TEST(SweepJson, HasTheVerdict) {
  SweepFinding dead;
  dead.blame = "dead";
  dead.direction = "both";
  dead.endpoints = {"node-03"};
  dead.readings = dead.failed = 4;
  dead.text = "node-03 does not work";
  SweepFinding slow;
  slow.blame = "host";
  slow.direction = "receives";
  slow.endpoints = {"node-01"};
  slow.ratio = 0.5;
  slow.rate = 5e9;
  slow.expected = 10e9;
  slow.readings = 7;
  slow.partners = 3;
  slow.text = "node-01 is slow";
  Written<JsonLinesSink> file;
  file->begin(sweep_context(4));
  file->record(SweepVerdict{"slow", "all is decided", {dead, slow}, {"node-02: slow once"}, {"node-00"}});
  const Json line = last_line(file.text());
  EXPECT_EQ(line["kind"], "verdict");
  EXPECT_EQ(line["judged"], "slow");
  EXPECT_EQ(line["why_over"], "all is decided");
  EXPECT_EQ(line["open"], Json({"node-02: slow once"}));
  EXPECT_EQ(line["not_judged"], Json({"node-00"}));
  ASSERT_EQ(line["findings"].size(), 2U);
  for (const char* key : {"percent_of_expected", "bandwidth_gb_per_s", "expected_gb_per_s"}) {
    EXPECT_TRUE(line["findings"][0][key].is_null()) << key;
  }
  EXPECT_EQ(line["findings"][1], (Json{{"blame", "host"},
                                       {"direction", "receives"},
                                       {"endpoints", {"node-01"}},
                                       {"percent_of_expected", 50.0},
                                       {"bandwidth_gb_per_s", 5.0},
                                       {"expected_gb_per_s", 10.0},
                                       {"readings", 7},
                                       {"failed_readings", 0},
                                       {"partners", 3},
                                       {"text", "node-01 is slow"}}));
}

TEST(SweepJson, SurvivesNamesThatAreNoUtf8) {
  Context context = sweep_context(2);
  context.ranks[0].host = "nod\xff\"\n";
  EXPECT_EQ(line_of(context, reading_of(0, 1, 10))["to_host"], "node-01");
}

TEST(SweepCsv, HasALineAReading) {
  Written<CsvSink> file;
  file->begin(sweep_context(3));
  const SweepFacts facts = sweep_facts(sweep_context(3));
  file->record(with_facts(reading_of(2, 1, 10), facts));
  file->record(with_facts(failed_reading(0, 2, ReadingStatus::kNotTried, "they timed out in round 1"), facts));
  EXPECT_EQ(file.text(),
            "round,concurrent,from,to,from_rank,to_rank,from_host,to_host,size_bytes,status,bandwidth_gb_per_s,"
            "bandwidth_gb_per_s_min,bandwidth_gb_per_s_max,windows,messages_per_window,latency_us,wrong_elements,"
            "reason,program,started_utc,ranks,processor_wait_share\n"
            "3,4,2,1,2,1,node-02,node-01,1048576,ok,10,9,11,9,64,2,0,,pairwise_bw,2026-01-01T00:00:00Z,3,\n"
            "3,4,0,2,0,2,node-00,node-02,1048576,not_tried,,,,0,0,,,they timed out in round 1,"
            "pairwise_bw,2026-01-01T00:00:00Z,3,\n");
}

TEST(SweepCsv, QuotesTextsThatNeedIt) {
  EXPECT_EQ(csv_line_of(sweep_context(3), wrong_reading()),
            "3,4,2,1,2,1,node-02,node-01,1048576,wrong,8,7.2,8.8,9,64,2,12,\"first at element 7: expected 3, got 0\","
            "pairwise_bw,2026-01-01T00:00:00Z,3,");
  Context context = sweep_context(2);
  context.ranks[0].host = "a \"b\"";
  EXPECT_EQ(csv_line_of(context, reading_of(0, 1, 10)),
            "3,4,0,1,0,1,\"a \"\"b\"\"\",node-01,1048576,ok,10,9,11,9,64,2,0,,pairwise_bw,2026-01-01T00:00:00Z,2,");
}

TEST(SweepCsv, LeavesWhatWasNotCheckedEmpty) {
  Context context = sweep_context(2);
  context.options.checks = 0;
  EXPECT_EQ(csv_line_of(context, reading_of(0, 1, 10)),
            "3,4,0,1,0,1,node-00,node-01,1048576,ok,10,9,11,9,64,2,,,pairwise_bw,2026-01-01T00:00:00Z,2,");
}

}  // namespace sweep_files_test
