#include "common/report/copy_csv.h"

#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "common/report/csv_fields.h"

namespace fabricbench {
namespace {

std::string us_of(const std::optional<Interval>& interval, Seconds Interval::*end) {
  return interval ? csv_us((*interval).*end) : "";
}

std::string direction_field(const CopyRow& row, std::size_t which) {
  return which < row.directions.size() ? csv_gb_per_s(row.directions[which]) : "";
}

}  // namespace

std::string copy_csv_header() {
  return "host,device,pci,numa_node,copy,memory_node,peer_device,peer_pci,over_host,size_bytes,time_us_median,"
         "time_us_low,time_us_high,time_us_min,time_us_max,bandwidth_gb_per_s,host_to_device_gb_per_s,"
         "device_to_host_gb_per_s,bound_gb_per_s,bound_by,others_gb_per_s,across_hosts,standing,peer_standing,wrong_"
         "elements,epochs,"
         "samples\n";
}

std::string copy_csv_line(const CopyRow& row) {
  const Summary& summary = row.summary;
  return fmt::format("{},{},{},{},{},{},{},{},{},", row.host, row.gpu.device, row.gpu.pci, csv_count(row.gpu.numa_node),
                     name(row.kind), csv_count(row.memory_node), row.peer ? fmt::to_string(row.peer->device) : "",
                     row.peer ? row.peer->pci : "", row.over_host ? 1 : 0) +
         fmt::format("{},{},{},{},{},{},{},{},{},", row.size, csv_us(summary.median),
                     us_of(summary.interval, &Interval::low), us_of(summary.interval, &Interval::high),
                     csv_us(summary.min), csv_us(summary.max), csv_gb_per_s(row.bandwidth), direction_field(row, 0),
                     direction_field(row, 1)) +
         fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_gb_per_s(row.bound ? row.bound->bytes_per_s : 0),
                     row.bound ? row.bound->by : "", csv_gb_per_s(row.comparison.others),
                     row.comparison.across_hosts ? 1 : 0, name(row.comparison.standing),
                     row.peer_comparison ? name(row.peer_comparison->standing) : "",
                     row.wrong ? fmt::to_string(*row.wrong) : "", summary.epochs, summary.samples);
}

}  // namespace fabricbench
