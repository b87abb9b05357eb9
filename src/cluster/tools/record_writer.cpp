#include "cluster/tools/record_writer.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabricbench::cluster {
namespace {

/// A name with quotation marks, or null for the rail that stands for all.
std::string quoted(const std::string& name) { return name.empty() ? "null" : nlohmann::json(name).dump(); }

std::vector<std::string> all_quoted(const std::vector<std::string>& names) {
  std::vector<std::string> quoted_names;
  std::transform(names.begin(), names.end(), std::back_inserter(quoted_names), quoted);
  return quoted_names;
}

const char* status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMeasured: return "ok";
    case Outcome::kFailed: return "failed";
    case Outcome::kNotTried: break;
  }
  return "not_tried";
}

}  // namespace

std::string records_of(const Sweep& sweep, std::int64_t size_bytes) {
  const std::vector<std::string> hosts = all_quoted(sweep.hosts);
  const std::vector<std::string> rails = all_quoted(sweep.rails);
  std::vector<std::string> tests;  // a kind is a test's name and the size
  for (const std::string& kind : sweep.kinds) tests.push_back(quoted(kind.substr(0, kind.find(' '))));
  std::string text = fmt::format("{{\"kind\":\"sweep\",\"hosts\":[{}]}}\n", fmt::join(hosts, ","));
  for (std::size_t host = 0; host < sweep.leaf_of.size(); ++host) {
    if (sweep.leaf_of[host] == Sweep::kNoLeaf) continue;
    fmt::format_to(std::back_inserter(text), "{{\"kind\":\"locality\",\"host\":{},\"leaf\":{}}}\n", hosts[host],
                   quoted(sweep.leaves[static_cast<std::size_t>(sweep.leaf_of[host])]));
  }
  const auto name = [](const std::vector<std::string>& names, std::int32_t place) {
    return names[static_cast<std::size_t>(place)];
  };
  auto reason = sweep.reasons.begin();
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    const bool measured = reading.outcome == Outcome::kMeasured;
    std::string why = "null";
    if (reason != sweep.reasons.end() && reason->first == i) why = quoted((reason++)->second);
    fmt::format_to(std::back_inserter(text),
                   "{{\"kind\":\"reading\",\"round\":{},\"concurrent\":{},\"from_host\":{},\"to_host\":{},"
                   "\"from_rail\":{},\"to_rail\":{},\"test\":{},\"size_bytes\":{},\"status\":\"{}\",\"both_ways\":{},"
                   "\"bandwidth_gb_per_s\":{},\"latency_us\":null,\"reason\":{},\"log\":null}}\n",
                   reading.round, reading.concurrent, name(hosts, reading.from), name(hosts, reading.to),
                   name(rails, reading.from_rail), name(rails, reading.to_rail), name(tests, reading.kind), size_bytes,
                   status_of(reading.outcome), reading.both_ways,
                   measured ? fmt::format("{:.6g}", static_cast<double>(reading.rate) / 1e9) : "null", why);
  }
  return text;
}

}  // namespace fabricbench::cluster
