#include "common/report/json_lines.h"

#include <array>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/core/version.h"
#include "common/report/sweep_json.h"

namespace fabricbench {
namespace {

using Json = nlohmann::ordered_json;

/// One line; text that is no UTF-8 (a host's odd name, say) is replaced, never an exception.
std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string utc(std::time_t time) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time)); }

double us(Seconds time) { return time * 1e6; }

Json optional_us(const std::optional<Seconds>& time) { return time ? Json(us(*time)) : Json(nullptr); }

const char* name_of(Figure figure) {
  constexpr std::array<const char*, 7> kNames = {"collective", "latency", "bandwidth",  "both_ways",
                                                 "sweep",      "copies",  "connections"};
  return kNames[static_cast<std::size_t>(figure)];
}

Json texts(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json object = Json::object();
  for (const auto& [key, text] : pairs) object[key] = text;
  return object;
}

Json hosts_json(const Context& context) {
  Json hosts = Json::array();
  for (const HostFacts& host : context.host_facts) {
    Json object{{"name", host.name}, {"kernel", host.kernel}};
    object.update(Json::parse(host.description_json));
    hosts.push_back(object);
  }
  return hosts;
}

Json gpu_json(const std::optional<GpuFacts>& gpu) {
  if (!gpu) return nullptr;
  return {{"device", gpu->device},
          {"model", gpu->model},
          {"pci", gpu->pci},
          {"driver", gpu->driver},
          {"numa_node", gpu->numa_node ? Json(*gpu->numa_node) : Json(nullptr)},
          {"process_on_node", gpu->process_on_node},
          {"nearest_nics", gpu->nearest_nics},
          {"uuid", gpu->uuid.empty() ? Json(nullptr) : Json(gpu->uuid)}};
}

Json ranks_json(const Context& context) {
  Json ranks = Json::array();
  for (const RankFacts& rank : context.ranks) {
    const double rate = rank.host_memory_rate;
    ranks.push_back({{"rank", rank.rank},
                     {"host", rank.host},
                     {"local_rank", rank.local_rank},
                     {"pid", rank.pid},
                     {"binding", rank.binding},
                     {"group", rank.group},
                     {"group_rank", rank.group_rank},
                     {"gpu", gpu_json(rank.gpu)},
                     {"reader_round_trip_us", optional_us(rank.reader_round_trip)},
                     {"obstacles", rank.obstacles},
                     {"host_memory_gb_per_s", rate > 0 ? Json(rate / 1e9) : Json(nullptr)}});
  }
  return ranks;
}

Json groups_json(const Context& context) {
  Json groups = Json::array();
  for (const GroupFacts& group : context.groups) {
    groups.push_back({{"ranks", group.ranks},
                      {"hosts", group.hosts},
                      {"ports", group.ports.empty() ? Json(nullptr) : Json(group.ports)},
                      {"round", group.round}});
  }
  return groups;
}

Json choice_json(const std::optional<LibraryChoice>& choice) {
  if (!choice) return nullptr;
  return {{"algorithm", choice->algorithm},
          {"protocol", choice->protocol},
          {"channels", choice->channels > 0 ? Json(choice->channels) : Json(nullptr)}};
}

Json iteration_times_json(const std::optional<IterationTimes>& times) {
  if (!times) return nullptr;
  return {{"min_us", us(times->min)},
          {"max_us", us(times->max)},
          {"p99_us", us(times->p99)},
          {"variation_percent", times->variation_percent}};
}

Json wires_json(const std::vector<WireBytes>& wires) {
  Json list = Json::array();
  for (const WireBytes& wire : wires) {
    list.push_back(
        {{"host", wire.host}, {"wire", wire.name}, {"sent_bytes", wire.sent}, {"received_bytes", wire.received}});
  }
  return list;
}

Json traffic_json(const std::vector<RankTraffic>& traffic) {
  Json list = Json::array();
  for (const RankTraffic& rank : traffic)
    list.push_back({{"sent_bytes", rank.sent}, {"received_bytes", rank.received}});
  return list;
}

Json times_json(const std::vector<Seconds>& times) {
  Json list = Json::array();
  for (const Seconds time : times) list.push_back(us(time));
  return list;
}

Json directions_json(const std::vector<double>& directions) {
  if (directions.empty()) return nullptr;
  Json list = Json::array();
  for (const double bandwidth : directions) list.push_back(bandwidth / 1e9);
  return list;
}

Json segments_json(const std::vector<std::uint64_t>& segments) {
  return segments.empty() ? Json(nullptr) : Json(segments);
}

template <typename Value>
Json optional_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json copy_gpu_json(const CopyGpu& gpu) {
  return {{"device", gpu.device}, {"pci", gpu.pci}, {"model", gpu.model}, {"numa_node", optional_json(gpu.numa_node)}};
}

Json interval_json(const Summary& summary) {
  if (!summary.interval) return nullptr;
  return {{"low_us", us(summary.interval->low)},
          {"high_us", us(summary.interval->high)},
          {"confidence", summary.interval->confidence},
          {"half_width_percent", summary.interval->half_width(summary.median) * 100}};
}

Json measurement_json(const std::optional<Measurement>& measured, bool samples) {
  if (!measured) return nullptr;
  const Summary& summary = measured->summary;
  Json json{{"time_us_median", us(summary.median)},
            {"time_us_interval", interval_json(summary)},
            {"algbw_gb_per_s", measured->algbw / 1e9},
            {"busbw_gb_per_s", measured->busbw / 1e9},
            {"message_rate_per_s", measured->message_rate > 0 ? Json(measured->message_rate) : Json(nullptr)},
            {"directions_gb_per_s", directions_json(measured->directions)},
            {"retransmitted_segments", segments_json(measured->retransmitted)},
            {"lost_messages", optional_json(measured->lost)},
            {"wrong_elements", measured->wrong ? Json(*measured->wrong) : Json(nullptr)},
            {"epochs", summary.epochs},
            {"samples", summary.samples},
            {"iterations", measured->iterations},
            {"operations_per_sample", measured->operations_per_sample},
            {"time_us_mean", us(summary.mean)},
            {"time_us_stdev", us(summary.standard_deviation)},
            {"time_us_min", us(summary.min)},
            {"time_us_p5", us(summary.p5)},
            {"time_us_p95", us(summary.p95)},
            {"time_us_p99", optional_us(summary.p99)},
            {"time_us_p999", optional_us(summary.p999)},
            {"time_us_max", us(summary.max)},
            {"jitter_us", us(summary.jitter)},
            {"cpu_time_us_median", us(measured->cpu_time)},
            {"outliers", summary.outliers},
            {"late_starts", summary.late},
            {"drift_percent", summary.drift * 100},
            {"sign_autocorrelation", summary.autocorrelation},
            {"preemptions", summary.preemptions},
            {"most_preempted_rank", summary.most_preempted_rank},
            {"slowest_rank", summary.slowest_rank},
            {"slowest_rank_share", summary.slowest_share},
            {"rank_times_us", times_json(measured->rank_times)},
            {"host_time_us_median", optional_us(measured->host_time)},
            {"choice", choice_json(measured->choice)},
            {"iteration_times", iteration_times_json(measured->iteration_times)},
            {"wires", wires_json(measured->wires)},
            {"clock_error_us", us(summary.clock_error)},
            {"common_start", summary.common_start}};
  if (samples) json["samples_us"] = times_json(measured->samples);
  return json;
}

}  // namespace

void JsonLinesSink::begin(const Context& context) {
  samples_ = context.options.samples;
  sweep_ = sweep_facts(context);
  Json json{{"kind", "context"},
            {"schema_version", kSchemaVersion},
            {"program", context.program},
            {"figure", name_of(context.figure)},
            {"fabricbench_version", kVersion},
            {"compiler", __VERSION__},
            {"started_utc", utc(context.started)},
            {"command_line", context.command_line},
            {"options", texts(context.option_values)},
            {"backend", context.backend},
            {"backend_reason", context.backend_reason},
            {"library", context.library},
            {"launcher", context.launcher},
            {"ranks", context.ranks.size()},
            {"hosts", hosts_json(context)},
            {"rank_map", ranks_json(context)},
            {"groups", groups_json(context)},
            {"timing", name(context.options.timing)},
            {"time_means", context.time_means.empty() ? Json(nullptr) : Json(context.time_means)},
            {"wire_rate_gb_per_s", context.wire_rate > 0 ? Json(context.wire_rate / 1e9) : Json(nullptr)},
            {"seed", context.seed},
            {"timer_cost_us", us(context.timer_cost)},
            {"clock_error_us", us(context.clock_error)},
            {"environment", texts(context.environment)},
            {"notices", context.notices}};
  if (context.figure == Figure::kSweep) json["sweep"] = sweep_json(context);
  output_.write(line(json));
}

void JsonLinesSink::epoch(const EpochRecord& record) {
  output_.write(line({{"kind", "epoch"},
                      {"size_bytes", record.size},
                      {"datatype", facts(record.datatype).name},
                      {"reduction", name(record.reduction)},
                      {"root", record.root},
                      {"group", record.group},
                      {"in_place", record.in_place},
                      {"epoch", record.epoch},
                      {"time_us_median", us(record.median)},
                      {"samples", record.samples},
                      {"late_starts", record.late}}));
}

void JsonLinesSink::row(const Row& row) {
  output_.write(line({{"kind", "row"},
                      {"size_bytes", row.size},
                      {"count", row.count},
                      {"datatype", facts(row.datatype).name},
                      {"reduction", name(row.reduction)},
                      {"root", row.root},
                      {"group", row.group},
                      {"traffic", traffic_json(row.traffic)},
                      {"skipped", row.skipped.empty() ? Json(nullptr) : Json(row.skipped)},
                      {"finished_utc", utc(row.finished)},
                      {"out_of_place", measurement_json(row.out_of_place, samples_)},
                      {"in_place", measurement_json(row.in_place, samples_)}}));
}

void JsonLinesSink::copied(const CopyRow& row) {
  const Summary& summary = row.summary;
  const Comparison& comparison = row.comparison;
  output_.write(
      line({{"kind", "copy"},
            {"host", row.host},
            {"gpu", copy_gpu_json(row.gpu)},
            {"copy", name(row.kind)},
            {"memory_node", optional_json(row.memory_node)},
            {"peer", row.peer ? copy_gpu_json(*row.peer) : Json(nullptr)},
            {"over_host", row.over_host},
            {"size_bytes", row.size},
            {"time_us_median", us(summary.median)},
            {"time_us_interval", interval_json(summary)},
            {"time_us_min", us(summary.min)},
            {"time_us_max", us(summary.max)},
            {"epochs", summary.epochs},
            {"samples", summary.samples},
            {"bandwidth_gb_per_s", row.bandwidth / 1e9},
            {"directions_gb_per_s", directions_json(row.directions)},
            {"bound_gb_per_s", row.bound ? Json(row.bound->bytes_per_s / 1e9) : Json(nullptr)},
            {"bound_by", row.bound ? Json(row.bound->by) : Json(nullptr)},
            {"others_gb_per_s", comparison.others > 0 ? Json(comparison.others / 1e9) : Json(nullptr)},
            {"across_hosts", comparison.across_hosts},
            {"standing", name(comparison.standing)},
            {"peer_standing", row.peer_comparison ? Json(name(row.peer_comparison->standing)) : Json(nullptr)},
            {"wrong_elements", optional_json(row.wrong)}}));
}

void JsonLinesSink::connected(const ConnectRow& row) {
  for (const ConnectTimes& times : row.steps) {
    const auto time = [&](Seconds value) { return times.samples > 0 ? Json(us(value)) : Json(nullptr); };
    output_.write(line({{"kind", "connection_step"},
                        {"pair", row.pair},
                        {"step", name(times.step)},
                        {"samples", times.samples},
                        {"time_us_min", time(times.min)},
                        {"time_us_median", time(times.median)},
                        {"time_us_p99", optional_us(times.p99)},
                        {"time_us_max", time(times.max)},
                        {"connections", row.connections},
                        {"failed_connections", row.failed},
                        {"connections_per_s", row.rate},
                        {"messages", row.messages},
                        {"lost_messages", row.lost},
                        {"wrong_messages", row.wrong},
                        {"problem", row.problem.empty() ? Json(nullptr) : Json(row.problem)}}));
  }
}

void JsonLinesSink::reading(const PairReading& reading) { output_.write(line(reading_json(reading, sweep_))); }

void JsonLinesSink::endpoint(const EndpointSummary& summary) { output_.write(line(endpoint_json(summary, sweep_))); }

void JsonLinesSink::planned(const SweepRound& round) { output_.write(line(planned_json(round))); }

void JsonLinesSink::verdict(const SweepVerdict& verdict) { output_.write(line(verdict_json(verdict))); }

void JsonLinesSink::silent(const SilentEndpoints& endpoints) { output_.write(line(silent_json(endpoints, sweep_))); }

void JsonLinesSink::end(const Ending& ending) {
  output_.write(line({{"kind", "end"},
                      {"exit_status", ending.exit_status},
                      {"reason", ending.reason},
                      {"wrong_checks", ending.wrong_checks},
                      {"average_busbw_gb_per_s", ending.average_busbw / 1e9},
                      {"fast_enough", ending.fast_enough ? Json(*ending.fast_enough) : Json(nullptr)},
                      {"peak_memory_bytes", ending.peak_memory_bytes},
                      {"stolen_percent", ending.stolen_percent},
                      {"memory_usage", ending.memory_usage},
                      {"precision", ending.precision},
                      {"wires", ending.wires},
                      {"notes", ending.notes}}));
}

}  // namespace fabricbench
