#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/report/file_sinks.h"
#include "report_test_support.h"

using namespace fabricbench;
using test::example_context;
using test::example_row;
using test::Written;
using Json = nlohmann::json;

namespace json_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Json> parsed_lines(const std::string& text) {
  std::vector<Json> objects;
  for (const std::string& line : test::lines_of(text)) objects.push_back(Json::parse(line));
  return objects;
}

/// Keys never go once released; new ones may come.
void expect_keys(const Json& object, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(object.contains(key)) << key;
}

const std::vector<std::string> kMeasurementKeys = {"time_us_median",
                                                   "time_us_interval",
                                                   "algbw_gb_per_s",
                                                   "busbw_gb_per_s",
                                                   "message_rate_per_s",
                                                   "directions_gb_per_s",
                                                   "retransmitted_segments",
                                                   "lost_messages",
                                                   "wrong_elements",
                                                   "epochs",
                                                   "samples",
                                                   "iterations",
                                                   "operations_per_sample",
                                                   "time_us_mean",
                                                   "time_us_stdev",
                                                   "time_us_min",
                                                   "time_us_p5",
                                                   "time_us_p95",
                                                   "time_us_p99",
                                                   "time_us_p999",
                                                   "time_us_max",
                                                   "jitter_us",
                                                   "cpu_time_us_median",
                                                   "outliers",
                                                   "late_starts",
                                                   "drift_percent",
                                                   "sign_autocorrelation",
                                                   "preemptions",
                                                   "most_preempted_rank",
                                                   "slowest_rank",
                                                   "slowest_rank_share",
                                                   "rank_times_us",
                                                   "host_time_us_median",
                                                   "choice",
                                                   "iteration_times",
                                                   "wires",
                                                   "clock_error_us",
                                                   "common_start"};

TEST(JsonLines, OfAWholeRunAreContextEpochsRowsAndEnd) {
  Written<JsonLinesSink> file;
  file->begin(example_context());
  file->record(EpochRecord{1024, 512, DataType::kHalf, Reduction::kMax, 3, 2, true, 5, 2e-6, 0.5e9, 1e9, 20, 1});
  file->record(example_row());
  Ending ending;
  ending.reason = "all is well";
  ending.average_busbw = 45.77e9;
  ending.fast_enough = true;
  ending.peak_memory_bytes = 4096;
  ending.stolen_percent = 1.5;
  ending.memory_usage = "1 GiB";
  ending.precision = "precise";
  ending.nics = {"Wires: eth0"};
  ending.processors = {"Processors: host a: rank 0 on 3 (NUMA node 0)"};
  ending.notes = {"a note"};
  file->end(ending);
  const auto lines = parsed_lines(file.text());
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["kind"], "context");
  EXPECT_EQ(lines[1], (Json{{"kind", "epoch"},
                            {"size_bytes", 1024},
                            {"count", 512},
                            {"datatype", "half"},
                            {"reduction", "max"},
                            {"root", 3},
                            {"group", 2},
                            {"in_place", true},
                            {"epoch", 5},
                            {"time_us_median", 2e-6 * 1e6},
                            {"algbw_gb_per_s", 0.5},
                            {"busbw_gb_per_s", 1.0},
                            {"samples", 20},
                            {"late_starts", 1}}));
  expect_keys(lines[2], {"kind", "size_bytes", "count", "datatype", "reduction", "root", "group", "traffic", "skipped",
                         "finished_utc", "out_of_place", "in_place"});
  EXPECT_TRUE(lines[2]["skipped"].is_null());
  EXPECT_EQ(lines[3], (Json{{"kind", "end"},
                            {"exit_status", 0},
                            {"reason", "all is well"},
                            {"wrong_checks", 0},
                            {"average_busbw_gb_per_s", 45.77},
                            {"fast_enough", true},
                            {"peak_memory_bytes", 4096},
                            {"stolen_percent", 1.5},
                            {"memory_usage", "1 GiB"},
                            {"precision", "precise"},
                            {"wires", {"Wires: eth0"}},
                            {"processors", {"Processors: host a: rank 0 on 3 (NUMA node 0)"}},
                            {"notes", {"a note"}}}));
}

TEST(JsonLines, OfTheContextSayWhereAndHowItRan) {
  Written<JsonLinesSink> file;
  file->begin(example_context());
  const auto lines = parsed_lines(file.text());
  expect_keys(lines[0], {"kind",
                         "schema_version",
                         "program",
                         "fabricbench_version",
                         "compiler",
                         "started_utc",
                         "command_line",
                         "options",
                         "backend",
                         "backend_reason",
                         "library",
                         "launcher",
                         "ranks",
                         "hosts",
                         "rank_map",
                         "timing",
                         "seed",
                         "timer_cost_us",
                         "clock_error_us",
                         "environment",
                         "notices",
                         "groups",
                         "figure",
                         "time_means",
                         "wire_rate_gb_per_s"});
  EXPECT_EQ(lines[0]["kind"], "context");
  EXPECT_EQ(lines[0]["started_utc"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(lines[0]["ranks"], 2);
  EXPECT_EQ(lines[0]["options"]["maxbytes"], "128M");
  EXPECT_EQ(lines[0]["hosts"][1]["name"], "node-02");
  EXPECT_EQ(lines[0]["hosts"][1]["sockets"], 1);
  EXPECT_EQ(lines[0]["rank_map"][1], (Json{{"rank", 1},
                                           {"host", "node-02"},
                                           {"local_rank", 0},
                                           {"pid", 202},
                                           {"binding", "0-7"},
                                           {"group", 0},
                                           {"group_rank", 1},
                                           {"gpu", nullptr},
                                           {"reader_round_trip_us", nullptr},
                                           {"obstacles", Json::array()},
                                           {"host_memory_gb_per_s", nullptr}}));
  EXPECT_EQ(lines[0]["groups"],
            (Json{{{"ranks", "0-1"}, {"hosts", "node-01, node-02"}, {"ports", nullptr}, {"round", 0}}}));
  EXPECT_EQ(lines[0]["environment"], (Json{{"UCX_TLS", "rc"}}));
}

TEST(JsonLines, OfTheContextSayWhatTheRowsAreAbout) {
  const struct {
    RowKind row_kind;
    const char* name;
  } cases[] = {{RowKind::kCollective, "collective"},
               {RowKind::kLatency, "latency"},
               {RowKind::kBandwidth, "bandwidth"},
               {RowKind::kBothWays, "both_ways"},
               {RowKind::kSweep, "sweep"}};
  for (const auto& [row_kind, name] : cases) {
    Written<JsonLinesSink> file;
    Context context = example_context();
    context.row_kind = row_kind;
    file->begin(context);
    EXPECT_EQ(parsed_lines(file.text())[0]["figure"], name);
  }
}

TEST(JsonLines, OfTheContextTellWhatPortsCanDoAndWhatATimeIs) {
  Context context = example_context();
  Written<JsonLinesSink> silent;
  silent->begin(context);
  EXPECT_TRUE(parsed_lines(silent.text())[0]["wire_rate_gb_per_s"].is_null());
  EXPECT_TRUE(parsed_lines(silent.text())[0]["time_means"].is_null());
  EXPECT_FALSE(parsed_lines(silent.text())[0].contains("left_out_pairs"));
  context.wire_rate = 50e9;
  context.left_out_pairs = 2;
  context.time_means = "from posting to completion";
  Written<JsonLinesSink> file;
  file->begin(context);
  EXPECT_EQ(parsed_lines(file.text())[0]["wire_rate_gb_per_s"], 50.0);
  EXPECT_EQ(parsed_lines(file.text())[0]["time_means"], "from posting to completion");
  EXPECT_EQ(parsed_lines(file.text())[0]["left_out_pairs"], 2);
}

TEST(JsonLines, OfTheContextDescribeEveryRanksGpuAndGroup) {
  Written<JsonLinesSink> file;
  Context context = example_context();
  context.ranks[1].group = 1;
  context.ranks[1].group_rank = 0;
  context.ranks[1].gpu = GpuFacts{3, "H200", "0000:42:00.0", "570.1", 1, "no", {"mlx5_0", "mlx5_1"}, "GPU-1"};
  context.ranks[0].gpu = GpuFacts{2, "H200", "0000:41:00.0", "570.1", std::nullopt, "unknown", {}};
  context.groups = {{"0", "node-01"}, {"1", "node-02"}};
  file->begin(context);
  const Json line = parsed_lines(file.text())[0];
  EXPECT_EQ(line["rank_map"][1]["group"], 1);
  EXPECT_EQ(line["rank_map"][1]["group_rank"], 0);
  EXPECT_EQ(line["rank_map"][1]["gpu"], (Json{{"device", 3},
                                              {"model", "H200"},
                                              {"pci", "0000:42:00.0"},
                                              {"driver", "570.1"},
                                              {"numa_node", 1},
                                              {"process_on_node", "no"},
                                              {"nearest_nics", {"mlx5_0", "mlx5_1"}},
                                              {"uuid", "GPU-1"},
                                              {"nvlink_gb_per_s", nullptr}}));
  EXPECT_TRUE(line["rank_map"][0]["gpu"]["numa_node"].is_null());
  EXPECT_TRUE(line["rank_map"][0]["gpu"]["uuid"].is_null());
  EXPECT_EQ(line["groups"][1], (Json{{"ranks", "1"}, {"hosts", "node-02"}, {"ports", nullptr}, {"round", 0}}));
}

TEST(JsonLines, OfARowHoldWhatTheLibraryChoseAndTheWiresCarried) {
  Written<JsonLinesSink> file;
  Row row = example_row();
  row.group = 2;
  row.traffic = {{100, 200}, {300, 0}};
  row.out_of_place->rank_times = {1e-6, 2e-6};
  row.out_of_place->host_time = 3e-6;
  row.out_of_place->choice = LibraryChoice{"RING", "SIMPLE", 16};
  row.in_place->choice = LibraryChoice{"TREE", "LL", 0};
  row.out_of_place->iteration_times = IterationTimes{1e-6, 2e-6, 4e-6, 25};
  row.out_of_place->nics = {{"node-01", "mlx5_0:1", 100, 200}};
  file->record(row);
  const Json line = parsed_lines(file.text())[0];
  const Json& measured = line["out_of_place"];
  EXPECT_EQ(line["group"], 2);
  EXPECT_EQ(line["traffic"].size(), 2U) << "by rank";
  EXPECT_EQ(measured["rank_times_us"], (Json{1.0, 2.0}));
  EXPECT_DOUBLE_EQ(measured["host_time_us_median"].get<double>(), 3);
  EXPECT_EQ(measured["choice"], (Json{{"algorithm", "RING"}, {"protocol", "SIMPLE"}, {"channels", 16}}));
  EXPECT_TRUE(line["in_place"]["choice"]["channels"].is_null()) << "not known";
  EXPECT_EQ(measured["iteration_times"],
            (Json{{"min_us", 1.0}, {"max_us", 2.0}, {"p99_us", 4.0}, {"variation_percent", 25.0}}));
  EXPECT_EQ(measured["wires"],
            (Json{{{"host", "node-01"}, {"wire", "mlx5_0:1"}, {"sent_bytes", 100}, {"received_bytes", 200}}}));
}

TEST(JsonLines, OfARowHoldTheFiguresOfMessagesWhereThereAreAny) {
  Written<JsonLinesSink> file;
  Row row = example_row();
  row.out_of_place->message_rate = 0.25;  // one takes 4 s
  row.out_of_place->queue_pairs = {22e9, 1.5e9};
  row.out_of_place->directions = {12e9, 11.5e9};
  row.out_of_place->retransmitted = {7, 0};
  row.out_of_place->summary.jitter = 3e-6;
  row.out_of_place->summary.standard_deviation = 4e-6;
  row.out_of_place->lost = 11;
  row.out_of_place->background_rate = 24.5e9;
  file->record(row);
  const Json line = parsed_lines(file.text())[0];
  EXPECT_DOUBLE_EQ(line["out_of_place"]["time_us_stdev"].get<double>(), 4);
  EXPECT_EQ(line["out_of_place"]["lost_messages"], 11);
  EXPECT_TRUE(line["in_place"]["lost_messages"].is_null());
  EXPECT_DOUBLE_EQ(line["out_of_place"]["background_gb_per_s"].get<double>(), 24.5);
  EXPECT_TRUE(line["in_place"]["background_gb_per_s"].is_null());
  EXPECT_EQ(line["out_of_place"]["message_rate_per_s"], 0.25);
  EXPECT_EQ(line["out_of_place"]["directions_gb_per_s"], (Json{12.0, 11.5}));
  EXPECT_DOUBLE_EQ(line["out_of_place"]["jitter_us"].get<double>(), 3);
  EXPECT_TRUE(line["in_place"]["message_rate_per_s"].is_null());
  EXPECT_TRUE(line["in_place"]["directions_gb_per_s"].is_null());
  EXPECT_EQ(line["out_of_place"]["queue_pairs_gb_per_s"], (Json{22.0, 1.5}));
  EXPECT_TRUE(line["in_place"]["queue_pairs_gb_per_s"].is_null());
  EXPECT_EQ(line["out_of_place"]["retransmitted_segments"], (Json{7, 0}));
  EXPECT_TRUE(line["in_place"]["retransmitted_segments"].is_null());
}

TEST(JsonLines, OfASkippedRowSayWhy) {
  Written<JsonLinesSink> file;
  Row row;
  row.size = 16;
  row.skipped = "4 ranks share it";
  file->record(row);
  const Json line = parsed_lines(file.text())[0];
  EXPECT_EQ(line["skipped"], "4 ranks share it");
  EXPECT_TRUE(line["out_of_place"].is_null() && line["in_place"].is_null());
}

TEST(JsonLines, OfARowHoldEveryFigure) {
  Written<JsonLinesSink> file;
  file->begin(example_context());
  Row row = example_row();
  row.out_of_place->summary.p99 = 5e-3;
  row.out_of_place->wrong.reset();
  row.in_place->wrong = 7;
  file->record(row);
  const Json line = parsed_lines(file.text())[1];
  expect_keys(line["out_of_place"], kMeasurementKeys);
  expect_keys(line["in_place"], kMeasurementKeys);
  EXPECT_DOUBLE_EQ(line["out_of_place"]["time_us_median"].get<double>(), 44023.0);
  EXPECT_DOUBLE_EQ(line["out_of_place"]["time_us_p99"].get<double>(), 5000.0);
  EXPECT_TRUE(line["out_of_place"]["time_us_p999"].is_null());
  EXPECT_TRUE(line["out_of_place"]["wrong_elements"].is_null());
  EXPECT_EQ(line["in_place"]["wrong_elements"], 7);
  expect_keys(line["in_place"]["time_us_interval"], {"low_us", "high_us", "confidence", "half_width_percent"});
  EXPECT_NEAR(line["in_place"]["time_us_interval"]["half_width_percent"].get<double>(), 1, 1e-9);
}

TEST(JsonLines, LeaveWhatWasNotMeasuredNull) {
  Written<JsonLinesSink> file;
  Row row = example_row();
  row.in_place.reset();
  row.out_of_place->summary.interval.reset();
  file->record(row);
  const Json line = parsed_lines(file.text())[0];
  EXPECT_TRUE(line["in_place"].is_null());
  EXPECT_TRUE(line["out_of_place"]["time_us_interval"].is_null());
}

TEST(JsonLines, HoldTheSamplesWhereAskedFor) {
  Written<JsonLinesSink> file;
  Row row = example_row();
  row.out_of_place->samples = {44023.0e-6, 44023.0e-6 * 1.5};
  file->record(row);
  const Json samples = parsed_lines(file.text())[0]["out_of_place"]["samples_us"];
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_DOUBLE_EQ(samples[1].get<double>(), 44023.0 * 1.5);
}

TEST(JsonLines, AreValidWhateverTheNumbersAre) {
  Written<JsonLinesSink> file;
  Row row = example_row();
  row.out_of_place->algbw = kInfinity;
  row.out_of_place->busbw = std::nan("");
  row.out_of_place->summary.drift = -kInfinity;
  file->record(row);
  Ending ending;
  ending.average_busbw = std::nan("");
  file->end(ending);
  const auto lines = parsed_lines(file.text());
  EXPECT_TRUE(lines[0]["out_of_place"]["algbw_gb_per_s"].is_null());
  EXPECT_TRUE(lines[0]["out_of_place"]["busbw_gb_per_s"].is_null());
  EXPECT_TRUE(lines[1]["average_busbw_gb_per_s"].is_null());
}

TEST(JsonLines, SurviveTextThatIsNoUtf8AndStayOneLineEach) {
  Written<JsonLinesSink> file;
  Context context = example_context();
  context.ranks[0].host = "nod\xff\xfe\"\n";
  context.host_facts[0].name = "caf\xe9";
  context.notices = {"two\nlines"};
  context.environment = {{"UCX_NET\xff", "\x80"}};
  context.command_line = {"\xc3\x28"};
  file->begin(context);
  ASSERT_EQ(file.lines().size(), 1U);
  EXPECT_NE(parsed_lines(file.text())[0]["rank_map"][0]["host"].get<std::string>().find("nod"), std::string::npos);
}

TEST(JsonLines, SayWhyARunBrokeOff) {
  Written<JsonLinesSink> file;
  Ending ending;
  ending.exit_status = 4;
  ending.reason = "no progress";
  file->abandon(ending);
  const Json line = parsed_lines(file.text())[0];
  EXPECT_EQ(line["kind"], "end");
  EXPECT_EQ(line["exit_status"], 4);
  EXPECT_TRUE(line["fast_enough"].is_null());
}

TEST(Csv, HasAsManyFieldsInEachLineAsInTheHeader) {
  Written<CsvSink> file;
  file->begin(example_context());
  Row row = example_row();
  file->record(row);
  row.out_of_place->summary.interval.reset();
  row.out_of_place->wrong.reset();
  row.in_place.reset();
  file->record(row);
  file->end({});
  const auto lines = file.lines();
  ASSERT_EQ(lines.size(), 4U);
  const auto commas = [](const std::string& line) {
    bool quoted = false;
    return std::count_if(line.begin(), line.end(), [&](char character) {
      if (character == '"') quoted = !quoted;
      return character == ',' && !quoted;
    });
  };
  for (const std::string& line : lines) EXPECT_EQ(commas(line), commas(lines[0])) << line;
  EXPECT_EQ(lines[1].rfind("1073741824,268435456,float,sum,-1,out,44023,43582.8,44463.2,24.39,45.73,0,9,180,", 0), 0U)
      << lines[1];
  EXPECT_EQ(lines[2].rfind("1073741824,268435456,float,sum,-1,in,43947,", 0), 0U) << lines[2];
  EXPECT_EQ(lines[3].rfind("1073741824,268435456,float,sum,-1,out,44023,,,24.39,45.73,,9,180,", 0), 0U) << lines[3];
}

TEST(Csv, HasTheFiguresOfMessagesInTheLastColumns) {
  Written<CsvSink> file;
  file->begin(example_context());
  Row row = example_row();
  row.out_of_place->message_rate = 2.5e6;
  row.out_of_place->directions = {12e9, 11.5e9};
  row.out_of_place->retransmitted = {7, 0};
  row.out_of_place->summary.jitter = 3e-6;
  row.out_of_place->summary.mean = 0.5;
  row.out_of_place->summary.standard_deviation = 4e-6;
  row.out_of_place->lost = 11;
  file->record(row);
  EXPECT_TRUE(file.lines()[0].ends_with(
      ",channels,message_rate_per_s,jitter_us,first_to_second_gb_per_s,second_to_first_gb_per_s,"
      "first_to_second_retransmitted_segments,second_to_first_retransmitted_segments,time_us_mean,time_us_stdev,"
      "lost_messages,program,started_utc,ranks,hosts,cut_short,processor_wait_share"))
      << file.lines()[0];
  const std::string run = ",all_reduce_perf,2026-01-01T00:00:00Z,2,\"node-01, node-02\",,";
  EXPECT_TRUE(file.lines()[1].ends_with(",,,,2.5e+06,3,12,11.5,7,0,500000,4,11" + run)) << file.lines()[1];
  EXPECT_TRUE(file.lines()[2].ends_with(",,,,,0,,,,,0,0," + run)) << file.lines()[2];
}

Json nccl_tests_document(const Context& context, const std::vector<Row>& rows, const Ending& ending) {
  Written<NcclTestsJsonSink> file;
  file->begin(context);
  for (const Row& row : rows) file->record(row);
  EXPECT_EQ(file.text(), "") << "one document, written at the end";
  file->end(ending);
  return Json::parse(file.text());
}

TEST(NcclTestsJson, HasTheKeysOfVersionThree) {
  Ending ending;
  ending.average_busbw = 45.77e9;
  const Json json = nccl_tests_document(example_context(), {example_row()}, ending);
  expect_keys(json, {"version", "start_time", "args", "env", "nccl_version", "config", "results", "out_of_bounds",
                     "average_bus_bandwidth", "errors", "end_time"});
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(json["env"], (Json{"UCX_TLS=rc"}));
  for (const std::string key : {"nthreads", "ngpus", "minimum_bytes", "maximum_bytes", "step_factor", "warmup_iters",
                                "iterations", "aggregated_iterations", "validation", "graph", "blocking_collectives",
                                "per_iter_timing", "per_iter_skip", "parallel_init", "devices"}) {
    EXPECT_TRUE(json["config"].contains(key)) << key;
  }
  expect_keys(json["config"]["devices"][1],
              {"rank", "group", "pid", "hostname", "device", "device_hex", "device_info"});
  EXPECT_EQ(json["out_of_bounds"], (Json{{"count", 0}, {"okay", "true"}}));
  EXPECT_EQ(json["average_bus_bandwidth"], (Json{{"bandwidth", 45.77}, {"okay", "unchecked"}}));
  EXPECT_EQ(json["errors"], Json::array());
}

TEST(NcclTestsJson, HasTheResultsOfARow) {
  const Json result = nccl_tests_document(example_context(), {example_row()}, {})["results"][0];
  for (const std::string key :
       {"size", "count", "type", "redop", "root", "out_of_place", "in_place", "actual_iterations", "experiment_name"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(result["size"], 1073741824);
  EXPECT_EQ(result["type"], "float");
  EXPECT_EQ(result["redop"], "sum");
  EXPECT_EQ(result["root"], "    -1");
  EXPECT_DOUBLE_EQ(result["out_of_place"]["time"].get<double>(), 44023.0);
  EXPECT_DOUBLE_EQ(result["in_place"]["bus_bw"].get<double>(), 45.81);
  EXPECT_DOUBLE_EQ(result["in_place"]["alg_bw"].get<double>(), 24.43);
  EXPECT_EQ(result["in_place"]["nwrong"], 0.0);
  expect_keys(result["out_of_place"], {"time", "alg_bw", "bus_bw", "nwrong"});
}

TEST(NcclTestsJson, HasNoRowForASkippedSize) {
  Row skipped = example_row();
  skipped.skipped = "too small";
  EXPECT_EQ(nccl_tests_document(example_context(), {skipped, example_row()}, {})["results"].size(), 1U);
}

TEST(NcclTestsJson, TellsAFactorFromAStepAndCpuTimeFromTime) {
  Context context = example_context();
  context.options.sizes.step_factor = 2;
  context.options.report_cpu_time = true;
  const Json json = nccl_tests_document(context, {example_row()}, {});
  EXPECT_EQ(json["config"]["step_factor"], 2);
  EXPECT_FALSE(json["config"].contains("step_bytes"));
  EXPECT_TRUE(json["results"][0]["in_place"].contains("cpu_time"));
  context.options.sizes.step_factor = 1;
  const Json with_step = nccl_tests_document(context, {example_row()}, {});
  EXPECT_TRUE(with_step["config"].contains("step_bytes"));
  EXPECT_FALSE(with_step["config"].contains("step_factor"));
}

TEST(NcclTestsJson, SaysWhatWentWrong) {
  Ending ending;
  ending.exit_status = 5;
  ending.reason = "wrong data";
  ending.wrong_checks = 2;
  ending.fast_enough = false;
  ending.average_busbw = kInfinity;
  Context context = example_context();
  context.ranks[0].host = "\xff";
  const Json json = nccl_tests_document(context, {}, ending);
  EXPECT_EQ(json["out_of_bounds"], (Json{{"count", 2}, {"okay", "false"}}));
  EXPECT_EQ(json["average_bus_bandwidth"]["okay"], "false");
  EXPECT_TRUE(json["average_bus_bandwidth"]["bandwidth"].is_null());
  EXPECT_EQ(json["errors"], (Json{"wrong data"}));
}

}  // namespace json_test
