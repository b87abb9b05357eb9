#include "common/report/sweep_json.h"

#include <optional>
#include <string>

namespace fabricbench {
namespace {

using Json = nlohmann::ordered_json;

Json gb_per_s(double bandwidth) { return bandwidth > 0 ? Json(bandwidth / 1e9) : Json(nullptr); }

Json us(const std::optional<Seconds>& time) { return time ? Json(*time * 1e6) : Json(nullptr); }

Json rail_json(const SweepFacts::Place& place) { return place.rail.empty() ? Json(nullptr) : Json(place.rail); }

/// Of one end of a reading, where it has a GPU.
void add_gpu(const std::string& end, const SweepFacts::Place& place, Json& reading) {
  if (!place.gpu.empty()) reading[end + "_gpu"] = place.gpu;
  if (!place.gpu_uuid.empty()) reading[end + "_gpu_uuid"] = place.gpu_uuid;
}

Json finding_json(const SweepFinding& finding) {
  return {{"blame", finding.blame},
          {"direction", finding.direction},
          {"endpoints", finding.endpoints},
          {"percent_of_expected", finding.rate > 0 ? Json(100 * finding.ratio) : Json(nullptr)},
          {"bandwidth_gb_per_s", gb_per_s(finding.rate)},
          {"expected_gb_per_s", gb_per_s(finding.expected)},
          {"readings", finding.readings},
          {"failed_readings", finding.failed},
          {"partners", finding.partners},
          {"text", finding.text}};
}

Json direction_json(const EndpointSummary::Direction& direction, const SweepFacts& facts) {
  const bool known = direction.least_partner >= 0;
  const auto partner = static_cast<std::size_t>(known ? direction.least_partner : 0);
  return {{"readings", direction.readings},
          {"bandwidth_gb_per_s_median", gb_per_s(direction.median)},
          {"bandwidth_gb_per_s_min", gb_per_s(direction.least)},
          {"min_endpoint", known ? Json(direction.least_partner) : Json(nullptr)},
          {"min_rank", known ? Json(facts.endpoints[partner].rank) : Json(nullptr)},
          {"min_host", known ? Json(facts.endpoints[partner].host) : Json(nullptr)}};
}

}  // namespace

Json sweep_json(const Context& context) {
  return {{"endpoints", context.ranks.size()},
          {"level", name(paired(context))},
          {"schedule", name(context.options.schedule)},
          {"rounds", context.rounds},
          {"concurrent", most_at_once(context)},
          {"size_bytes", context.options.sweep.max_bytes},
          {"window", context.options.window}};
}

Json reading_json(const PairReading& reading, const SweepFacts& facts) {
  const SweepFacts::Place& from = facts.endpoints[static_cast<std::size_t>(reading.from)];
  const SweepFacts::Place& to = facts.endpoints[static_cast<std::size_t>(reading.to)];
  const auto wrong = wrong_elements(reading, facts);
  Json json{{"kind", "reading"},
            {"round", reading.round},
            {"concurrent", reading.concurrent},
            {"from", reading.from},
            {"to", reading.to},
            {"from_rank", from.rank},
            {"to_rank", to.rank},
            {"from_host", from.host},
            {"to_host", to.host},
            {"from_rail", rail_json(from)},
            {"to_rail", rail_json(to)},
            {"test", facts.test},
            {"both_ways", false},
            {"size_bytes", reading.size},
            {"status", name(reading.status)},
            {"bandwidth_gb_per_s", gb_per_s(reading.bandwidth)},
            {"bandwidth_gb_per_s_min", gb_per_s(reading.least_bandwidth)},
            {"bandwidth_gb_per_s_max", gb_per_s(reading.most_bandwidth)},
            {"windows", reading.windows},
            {"messages_per_window", reading.messages},
            {"latency_us", us(reading.latency)},
            {"wrong_elements", wrong ? Json(*wrong) : Json(nullptr)},
            {"reason", reading.reason.empty() ? Json(nullptr) : Json(reading.reason)}};
  add_gpu("from", from, json);
  add_gpu("to", to, json);
  return json;
}

Json endpoint_json(const EndpointSummary& summary, const SweepFacts& facts) {
  const SweepFacts::Place& place = facts.endpoints[static_cast<std::size_t>(summary.endpoint)];
  return {{"kind", "endpoint"},
          {"endpoint", summary.endpoint},
          {"rank", place.rank},
          {"host", place.host},
          {"sent", direction_json(summary.sent, facts)},
          {"received", direction_json(summary.received, facts)},
          {"latency_us", us(summary.latency)},
          {"failed_readings", summary.failed}};
}

Json planned_json(const SweepRound& round) {
  return {{"kind", "plan"}, {"round", round.round}, {"pairs", round.pairs}, {"why", round.why}};
}

Json verdict_json(const SweepVerdict& verdict) {
  Json findings = Json::array();
  for (const SweepFinding& finding : verdict.findings) findings.push_back(finding_json(finding));
  return {{"kind", "verdict"},    {"judged", verdict.judged}, {"why_over", verdict.why_over},
          {"findings", findings}, {"open", verdict.open},     {"not_judged", verdict.not_judged}};
}

Json silent_json(const SilentEndpoints& silent, const SweepFacts& facts) {
  Json hosts = Json::array();
  for (const int endpoint : silent.endpoints) hosts.push_back(facts.endpoints[static_cast<std::size_t>(endpoint)].host);
  return {{"kind", "silent"}, {"round", silent.round}, {"endpoints", silent.endpoints}, {"hosts", hosts}};
}

}  // namespace fabricbench
