#include "common/harness/round_report.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "common/harness/row_packing.h"

namespace fabricbench {
namespace {

using Json = nlohmann::json;

Json binary(const std::string& bytes) { return Json::binary({bytes.begin(), bytes.end()}); }

std::string text_of(const Json& binary) {
  const auto& bytes = binary.get_binary();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string pack(const RoundReport& report) {
  Json hosts = Json::array();
  for (const HostWires& host : report.wires.hosts) hosts.push_back(to_text(host));
  Json epochs = Json::array();
  for (const EpochRecord& record : report.epochs) epochs.push_back(binary(pack(record)));
  const std::vector<std::uint8_t> packed = Json::to_cbor({{"status", static_cast<int>(report.status)},
                                                          {"problem", report.problem},
                                                          {"notices", report.notices},
                                                          {"remarks", report.remarks},
                                                          {"memory_usage", report.memory_usage},
                                                          {"wires", hosts},
                                                          {"least_bytes", report.wires.least_bytes},
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
  for (const Json& record : json["epochs"]) report.epochs.push_back(unpack_epoch(text_of(record)));
  report.rows = unpack(text_of(json["rows"]));
  return report;
}

}  // namespace fabricbench
