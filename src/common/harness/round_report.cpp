#include "common/harness/round_report.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/core/clock.h"
#include "common/harness/row_packing.h"

namespace fabricbench {
namespace {

using Json = nlohmann::json;

Json binary(const std::string& bytes) { return Json::binary({bytes.begin(), bytes.end()}); }

std::string text_of(const Json& binary) {
  const auto& bytes = binary.get_binary();
  return {bytes.begin(), bytes.end()};
}

Json to_json(const RankFacts& facts) { return {facts.rank, facts.group, facts.host_memory_rate, facts.obstacles}; }

RankFacts rank_from(const Json& json) {
  RankFacts facts;
  facts.rank = json[0];
  facts.group = json[1];
  facts.host_memory_rate = json[2];
  facts.obstacles = json[3];
  return facts;
}

/// What came in by the roll call from any process but the first, which is this one.
std::optional<Ending> told_to(RollCall& roll_call) {
  roll_call.report({});
  for (const auto& [process, told] : roll_call.reports()) {
    if (process == 0) continue;
    Ending ending;
    ending.exit_status = static_cast<int>(told.steps);
    ending.reason = told.activity;
    return ending;
  }
  return std::nullopt;
}

/// An output that cannot be written does not keep the job from ending.
void write_if_possible(const std::function<void(const Ending&)>& write, const Ending& ending) {
  try {
    write(ending);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "fabricbench: {}\n", problem.what());
  }
}

}  // namespace

std::string pack(const RoundReport& report) {
  Json hosts = Json::array();
  for (const HostWires& host : report.wires.hosts) hosts.push_back(to_text(host));
  Json on_gpus = Json::array();
  for (const RankFacts& facts : report.on_gpus) on_gpus.push_back(to_json(facts));
  Json epochs = Json::array();
  for (const EpochRecord& record : report.epochs) epochs.push_back(binary(pack(record)));
  const std::vector<std::uint8_t> packed = Json::to_cbor({{"status", static_cast<int>(report.status)},
                                                          {"problem", report.problem},
                                                          {"notices", report.notices},
                                                          {"remarks", report.remarks},
                                                          {"memory_usage", report.memory_usage},
                                                          {"wires", hosts},
                                                          {"least_bytes", report.wires.least_bytes},
                                                          {"on_gpus", on_gpus},
                                                          {"epochs", epochs},
                                                          {"rows", binary(pack(report.rows))}});
  return {packed.begin(), packed.end()};
}

RoundReport unpack_round(std::string_view packed) {
  const Json json = Json::from_cbor(packed.begin(), packed.end());
  RoundReport report;
  report.status = static_cast<ExitStatus>(json["status"].get<int>());
  report.problem = json["problem"];
  report.notices = json["notices"];
  report.remarks = json["remarks"];
  report.memory_usage = json["memory_usage"];
  for (const Json& host : json["wires"]) report.wires.hosts.push_back(host_wires_from_text(host.get<std::string>()));
  report.wires.least_bytes = json["least_bytes"];
  for (const Json& facts : json["on_gpus"]) report.on_gpus.push_back(rank_from(facts));
  for (const Json& record : json["epochs"]) report.epochs.push_back(unpack_epoch(text_of(record)));
  report.rows = unpack(text_of(json["rows"]));
  return report;
}

void LastWords::tell(const Ending& ending) {
  constexpr int kTimes = 5;
  constexpr Seconds kPause = 0.1;
  for (int time = 0; time < kTimes; ++time) {
    roll_call_.report({.steps = static_cast<std::uint64_t>(ending.exit_status), .activity = ending.reason});
    sleep_for(kPause);
  }
}

LastWords::Listener::Listener(LastWords& words, std::function<void(const Ending&)> write)
    : thread_([&roll_call = words.roll_call_, write = std::move(write)](const std::stop_token& stop) {
        constexpr auto kPause = std::chrono::milliseconds(100);
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock(mutex);
        while (!stopped.wait_for(lock, stop, kPause, [&stop] { return stop.stop_requested(); })) {
          if (const auto ending = told_to(roll_call)) {
            write_if_possible(write, *ending);
            return;
          }
        }
      }) {}

}  // namespace fabricbench
