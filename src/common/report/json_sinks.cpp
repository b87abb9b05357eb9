#include "common/report/file_sinks.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/record/json.h"

namespace fabricbench {
namespace {

using record::json_line;
using record::to_json;

template <typename Record>
void write(OutputFile& output, const Record& record) {
  output.write(json_line(to_json(record)));
}

/// One line per step.
void write(OutputFile& output, const ConnectRow& row) {
  for (const ConnectTimes& times : row.steps) output.write(json_line(to_json(ConnectionStep{row, times})));
}

/// The readings contain the matrix.
void write(OutputFile& /*output*/, const MatrixRow& /*row*/) {}

using Json = nlohmann::ordered_json;

std::string local_time(std::time_t time) { return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(time)); }

Json devices_json(const Context& context) {
  Json devices = Json::array();
  for (const RankFacts& rank : context.ranks) {
    devices.push_back({{"rank", rank.rank},
                       {"group", rank.group},
                       {"pid", rank.pid},
                       {"hostname", rank.host},
                       {"device", rank.gpu ? rank.gpu->device : rank.local_rank},
                       {"device_hex", rank.gpu ? rank.gpu->pci : ""},
                       {"device_info", rank.gpu ? rank.gpu->model : rank.processor}});
  }
  return devices;
}

Json config_json(const Context& context) {
  const Options& options = context.options;
  const SizeRange& sizes = options.sizes;
  Json config{{"nthreads", options.nccl.threads},
              {"ngpus", options.nccl.gpus},
              {"minimum_bytes", sizes.min_bytes},
              {"maximum_bytes", sizes.max_bytes}};
  if (sizes.step_factor > 1) {
    config["step_factor"] = sizes.step_factor;
  } else {
    config["step_bytes"] = sizes.step_bytes;
  }
  config.update(Json{{"warmup_iters", options.warmup},
                     {"iterations", options.iterations.value_or(0)},
                     {"aggregated_iterations", options.aggregated},
                     {"validation", options.checks},
                     {"graph", options.nccl.graph_launches},
                     {"blocking_collectives", static_cast<int>(options.blocking)},
                     {"per_iter_timing", options.per_iteration ? "true" : "false"},
                     {"per_iter_skip", options.per_iteration_skip},
                     {"parallel_init", options.nccl.parallel_init ? 1 : 0}});
  config["devices"] = devices_json(context);
  return config;
}

Json placement_json(const std::optional<Measurement>& measured, bool cpu_time) {
  if (!measured) return nullptr;
  const std::optional<Seconds> time = cpu_time ? measured->cpu_time : measured->summary.median;
  return {{cpu_time ? "cpu_time" : "time", time ? Json(*time * 1e6) : Json(nullptr)},
          {"alg_bw", measured->algbw / 1e9},
          {"bus_bw", measured->busbw / 1e9},
          {"nwrong", measured->wrong ? Json(static_cast<double>(*measured->wrong)) : Json(nullptr)}};
}

/// Null if unknown.
Json iterations_of(const Row& row) {
  const auto& measured = row.out_of_place ? row.out_of_place : row.in_place;
  if (!measured) return 0;
  return measured->iterations ? Json(*measured->iterations) : Json(nullptr);
}

}  // namespace

void JsonLinesSink::begin(const Context& context) { write(output_, context); }

void JsonLinesSink::record(const AnyRecord& record) {
  record.visit([this](const auto& each) { write(output_, each); });
}

/// The end says that everything before it is there.
void JsonLinesSink::end(const Ending& ending) {
  output_.sync();
  write(output_, ending);
  output_.sync();
  output_.close();
}

/// Other ranks may soon end the job: the end does not wait for the storage.
void JsonLinesSink::abandon(const Ending& ending) {
  write(output_, ending);
  output_.close();
}

struct NcclTestsJsonSink::Document {
  Json json;
  bool cpu_time = false;
};

NcclTestsJsonSink::NcclTestsJsonSink(OutputFile output)
    : output_(std::move(output)), document_(std::make_unique<Document>()) {}
NcclTestsJsonSink::~NcclTestsJsonSink() = default;

void NcclTestsJsonSink::begin(const Context& context) {
  Json environment = Json::array();
  for (const auto& [key, text] : context.environment) environment.push_back(fmt::format("{}={}", key, text));
  document_->cpu_time = context.options.report_cpu_time;
  document_->json = {{"version", 3},
                     {"start_time", local_time(context.started)},
                     {"args", context.command_line},
                     {"env", environment},
                     {"nccl_version", context.nccl_version},
                     {"config", config_json(context)},
                     {"results", Json::array()}};
}

void NcclTestsJsonSink::record(const AnyRecord& record) {
  if (const auto* row = record.as<Row>()) add(*row);
}

void NcclTestsJsonSink::add(const Row& row) {
  if (!row.skipped.empty()) return;  // nccl-tests has no such rows
  document_->json["results"].push_back({{"size", row.size},
                                        {"count", row.count},
                                        {"type", facts(row.datatype).name},
                                        {"redop", name(row.reduction)},
                                        {"root", fmt::format("{:6}", row.root)},
                                        {"out_of_place", placement_json(row.out_of_place, document_->cpu_time)},
                                        {"in_place", placement_json(row.in_place, document_->cpu_time)},
                                        {"actual_iterations", iterations_of(row)},
                                        {"experiment_name", ""}});
}

void NcclTestsJsonSink::end(const Ending& ending) {
  write(ending);
  output_.sync();
  output_.close();
}

void NcclTestsJsonSink::abandon(const Ending& ending) {
  write(ending);
  output_.close();
}

void NcclTestsJsonSink::write(const Ending& ending) {
  const auto verdict = [](bool good) { return good ? "true" : "false"; };
  Json& json = document_->json;
  json["out_of_bounds"] = {{"count", ending.wrong_checks}, {"okay", verdict(ending.wrong_checks == 0)}};
  json["average_bus_bandwidth"] = {{"bandwidth", ending.average_busbw.value_or(0) / 1e9},
                                   {"okay", ending.fast_enough ? verdict(*ending.fast_enough) : "unchecked"}};
  json["errors"] = ending.exit_status == 0 ? Json::array() : Json::array({ending.reason});
  json["end_time"] = local_time(std::time(nullptr));
  output_.write(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace fabricbench
