#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/report/banner.h"
#include "common/report/file_sinks.h"
#include "copy_row_examples.h"
#include "report_test_support.h"

using namespace fabricbench;
using test::example_both_ways;
using test::example_copy;
using test::example_peer_copy;
using test::Written;
using Json = nlohmann::json;

namespace copy_output_test {

Context copy_context() {
  Context context = test::example_context();
  context.program = "gpu_copy_bw";
  context.row_kind = RowKind::kCopies;
  return context;
}

std::vector<std::string> table_of(const std::vector<CopyRow>& rows, bool quiet = true) {
  Context context = copy_context();
  context.options.output.quiet = quiet;
  test::WrittenTable<RowKind::kCopies> table;
  table->begin(context);
  for (const CopyRow& row : rows) table->record(row);
  table->end({});
  return table.lines();
}

TEST(CopyTable, IsReadableLineByLine) {
  const std::vector<std::string> lines = table_of({example_copy(), example_both_ways(), example_peer_copy()});
  EXPECT_EQ(lines[1],
            "#       size              host  GPU           PCI   copy      with       time      GB/s       low      "
            "high        ->        <-     bound  %bound  %others  #wrong");
  EXPECT_EQ(lines[3],
            "   268435456             node1    3  0000:13:00.0   H->D    node 1    5000.00     50.00     31.25     "
            "62.50         -         -     63.00      79       50       0");
  EXPECT_EQ(lines[4],
            "   268435456             node1    3  0000:13:00.0  H<->D    node 1    5000.00    100.00     62.50    "
            "125.00     60.00     40.00    126.00      79      100       7");
  EXPECT_EQ(lines[5],
            "   268435456             node1    3  0000:13:00.0   peer    GPU 0*    5000.00     50.00         -         "
            "-         -         -       N/A     N/A      N/A     N/A");
  EXPECT_EQ(lines[6], "# Out of bounds values : 0 OK");
  EXPECT_EQ(lines[7], "# Odd GPUs             : GPU 3 (0000:13:00.0) of host node1");
  EXPECT_EQ(lines.size(), 8U);
}

/// The closing line about odd GPUs.
std::string odd_line(const std::vector<CopyRow>& rows) { return table_of(rows).back().substr(25); }

CopyRow with_status(OutlierStatus status) {
  CopyRow row = example_copy();
  row.comparison.status = status;
  return row;
}

TEST(CopyTable, SaysWhichGpuIsOddOrWhyNobodyKnows) {
  EXPECT_EQ(odd_line({with_status(OutlierStatus::kUsual)}), "none");
  EXPECT_EQ(odd_line({with_status(OutlierStatus::kAlone)}), "cannot tell: there is no other to compare with");
  EXPECT_EQ(odd_line({with_status(OutlierStatus::kUndecided), with_status(OutlierStatus::kUsual)}),
            "cannot tell: two differ, and there is no third");
  EXPECT_EQ(odd_line({with_status(OutlierStatus::kUndecided), with_status(OutlierStatus::kSlow),
                      with_status(OutlierStatus::kSlow)}),
            "GPU 3 (0000:13:00.0) of host node1");
  CopyRow receiving = example_peer_copy();
  receiving.peer_comparison->status = OutlierStatus::kSlow;
  EXPECT_EQ(odd_line({with_status(OutlierStatus::kSlow), receiving}),
            "GPU 3 (0000:13:00.0) of host node1, GPU 0 (0000:10:00.0) of host node1");
}

TEST(CopyTable, SaysHowItMeasured) {
  const std::vector<std::string> lines = table_of({}, false);
  EXPECT_EQ(lines[1], "# Copy test starting: gpu_copy_bw");
  EXPECT_EQ(lines[4].rfind("# Method: ", 0), 0U);
  EXPECT_EQ(lines[lines.size() - 3], "# Copy test concluded: gpu_copy_bw");
}

TEST(CopyJson, HasEveryFigure) {
  Written<JsonLinesSink> file;
  file->record(example_copy());
  EXPECT_EQ(Json::parse(file.text()), Json::parse(R"({
    "kind": "copy", "host": "node1", "copy": "host_to_device", "memory_node": 1, "peer": null, "over_host": false,
    "gpu": {"device": 3, "pci": "0000:13:00.0", "model": "H200", "numa_node": 0}, "size_bytes": 268435456,
    "time_us_median": 5000.0, "time_us_min": 3000.0, "time_us_max": 9000.0, "epochs": 9, "samples": 27,
    "time_us_interval": {"low_us": 4000.0, "high_us": 8000.0, "confidence": 0.96, "half_width_percent": 40.0},
    "bandwidth_gb_per_s": 50.0, "directions_gb_per_s": null, "bound_gb_per_s": 63.0, "bound_by": "PCIe 32 GT/s x16",
    "others_gb_per_s": 100.0, "across_hosts": true, "standing": "slow", "peer_standing": null, "wrong_elements": 0})"));
}

TEST(CopyJson, HasNullForWhatIsNotKnown) {
  Written<JsonLinesSink> file;
  file->record(example_peer_copy());
  const Json json = Json::parse(file.text());
  for (const char* key : {"memory_node", "time_us_interval", "directions_gb_per_s", "bound_gb_per_s", "bound_by",
                          "others_gb_per_s", "wrong_elements"}) {
    EXPECT_TRUE(json.at(key).is_null()) << key;
  }
  EXPECT_EQ(json["copy"], "peer");
  EXPECT_EQ(json["peer"]["pci"], "0000:10:00.0");
  EXPECT_EQ(json["over_host"], true);
  EXPECT_EQ(json["standing"], "alone");
  EXPECT_EQ(json["peer_standing"], "undecided");
}

TEST(CopyCsv, HasAHeaderAndAsManyFields) {
  Written<CsvSink> file;
  file->begin(copy_context());
  for (const CopyRow& row : {example_copy(), example_both_ways(), example_peer_copy()}) file->record(row);
  EXPECT_EQ(file.lines(),
            (std::vector<std::string>{
                "host,device,pci,numa_node,copy,memory_node,peer_device,peer_pci,over_host,size_bytes,time_us_median,"
                "time_us_low,time_us_high,time_us_min,time_us_max,bandwidth_gb_per_s,host_to_device_gb_per_s,"
                "device_to_host_gb_per_s,bound_gb_per_s,bound_by,others_gb_per_s,across_hosts,standing,peer_standing,"
                "wrong_elements,epochs,samples,program,started_utc,ranks,cut_short",
                "node1,3,0000:13:00.0,0,host_to_device,1,,,0,268435456,5000,4000,8000,3000,9000,50,,,63,PCIe 32 GT/s "
                "x16,100,1,slow,,0,9,27,gpu_copy_bw,2026-01-01T00:00:00Z,2,",
                "node1,3,0000:13:00.0,0,both_ways,1,,,0,268435456,5000,4000,8000,3000,9000,100,60,40,126,PCIe 32 GT/s "
                "x16,100,0,usual,,7,9,27,gpu_copy_bw,2026-01-01T00:00:00Z,2,",
                "node1,3,0000:13:00.0,,peer,,0,0000:10:00.0,1,268435456,5000,,,3000,9000,50,,,,,,0,alone,undecided,,9,"
                "27,gpu_copy_bw,2026-01-01T00:00:00Z,2,"}));
}

}  // namespace copy_output_test
