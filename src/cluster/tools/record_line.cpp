#include "cluster/tools/record_line.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

namespace fabricbench::cluster {
namespace {

using simdjson::ondemand::value;

std::string_view text_in(value field) { return field.is_null() ? std::string_view() : field.get_string().value(); }

std::optional<std::int64_t> integer_in(value field) {
  if (field.is_null()) return std::nullopt;
  return field.get_int64().value();
}

std::optional<double> number_in(value field) {
  if (field.is_null()) return std::nullopt;
  return field.get_double().value();
}

/// A rail's name: text as it is, a number by its digits.
std::optional<std::string_view> rail_in(value field) {
  if (field.is_null()) return std::nullopt;
  if (field.type().value() == simdjson::ondemand::json_type::string) return field.get_string().value();
  const std::string_view token = field.raw_json_token();
  if (field.get_int64().error() != simdjson::SUCCESS) throw std::invalid_argument("a rail is a name or a number");
  return token.substr(0, token.find_last_of("0123456789") + 1);
}

template <typename Value, std::size_t size>
std::optional<Value> find_named(const std::array<std::pair<std::string_view, Value>, size>& names,
                                std::string_view wanted) {
  for (const auto& [name, named] : names) {
    if (name == wanted) return named;
  }
  return std::nullopt;
}

RecordStatus status_in(value field) {
  constexpr std::array<std::pair<std::string_view, RecordStatus>, 6> kStatuses = {
      {{"ok", RecordStatus::kOk},
       {"slow", RecordStatus::kSlow},
       {"failed", RecordStatus::kFailed},
       {"timeout", RecordStatus::kFailed},
       {"wrong", RecordStatus::kFailed},
       {"not_tried", RecordStatus::kNotTried}}};
  const std::string_view text = field.get_string().value();
  if (const auto status = find_named(kStatuses, text)) return *status;
  throw std::invalid_argument(
      fmt::format("status '{}' is none of ok, slow, failed, timeout, wrong and not_tried", text));
}

RecordKind kind_in(value field) {
  constexpr std::array<std::pair<std::string_view, RecordKind>, 4> kKinds = {{{"reading", RecordKind::kReading},
                                                                              {"context", RecordKind::kContext},
                                                                              {"sweep", RecordKind::kSweep},
                                                                              {"locality", RecordKind::kLocality}}};
  return find_named(kKinds, field.get_string().value()).value_or(RecordKind::kOther);
}

/// Of `hosts`, which holds names; something else of that name, as a context line has, holds objects with a `name`.
std::vector<std::string> hosts_in(value field) {
  std::vector<std::string> hosts;
  for (value each : field.get_array()) {
    if (each.type().value() != simdjson::ondemand::json_type::string) return {};
    hosts.emplace_back(each.get_string().value());
  }
  return hosts;
}

std::vector<std::string> hosts_of_ranks(value field) {
  std::vector<std::string> hosts;
  for (value rank : field.get_array()) hosts.emplace_back(rank.find_field_unordered("host").get_string().value());
  return hosts;
}

/// A key that counts, and what to do with its value.
struct Key {
  std::string_view name;
  void (*take)(Record&, value);
};

// In the order in which pairwise_bw writes them: the search begins behind the key that was found last.
constexpr std::array<Key, 33> kKeys = {{
    {"kind", [](Record& record, value field) { record.kind = kind_in(field); }},
    {"round", [](Record& record, value field) { record.round = integer_in(field); }},
    {"concurrent", [](Record& record, value field) { record.concurrent = integer_in(field); }},
    {"from", [](Record& record, value field) { record.from = integer_in(field); }},
    {"to", [](Record& record, value field) { record.to = integer_in(field); }},
    {"from_host", [](Record& record, value field) { record.from_host = text_in(field); }},
    {"to_host", [](Record& record, value field) { record.to_host = text_in(field); }},
    {"from_rail", [](Record& record, value field) { record.from_rail = rail_in(field); }},
    {"to_rail", [](Record& record, value field) { record.to_rail = rail_in(field); }},
    {"from_nic", [](Record& record, value field) { record.from_end.nic = text_in(field); }},
    {"from_nic_guid", [](Record& record, value field) { record.from_end.nic_guid = text_in(field); }},
    {"from_gpu", [](Record& record, value field) { record.from_end.gpu = text_in(field); }},
    {"from_gpu_uuid", [](Record& record, value field) { record.from_end.gpu_uuid = text_in(field); }},
    {"from_switch_port", [](Record& record, value field) { record.from_end.switch_port = text_in(field); }},
    {"from_port_gb_per_s", [](Record& record, value field) { record.from_end.port_gb_per_s = number_in(field); }},
    {"to_nic", [](Record& record, value field) { record.to_end.nic = text_in(field); }},
    {"to_nic_guid", [](Record& record, value field) { record.to_end.nic_guid = text_in(field); }},
    {"to_gpu", [](Record& record, value field) { record.to_end.gpu = text_in(field); }},
    {"to_gpu_uuid", [](Record& record, value field) { record.to_end.gpu_uuid = text_in(field); }},
    {"to_switch_port", [](Record& record, value field) { record.to_end.switch_port = text_in(field); }},
    {"to_port_gb_per_s", [](Record& record, value field) { record.to_end.port_gb_per_s = number_in(field); }},
    {"test", [](Record& record, value field) { record.test = text_in(field); }},
    {"size_bytes", [](Record& record, value field) { record.size_bytes = integer_in(field); }},
    {"status", [](Record& record, value field) { record.status = status_in(field); }},
    {"both_ways", [](Record& record, value field) { record.both_ways = !field.is_null() && field.get_bool().value(); }},
    {"bandwidth_gb_per_s", [](Record& record, value field) { record.bandwidth_gb_per_s = number_in(field); }},
    {"reason", [](Record& record, value field) { record.reason = text_in(field); }},
    {"schema_version", [](Record& record, value field) { record.schema_version = integer_in(field); }},
    {"program", [](Record& record, value field) { record.program = text_in(field); }},
    {"rank_map", [](Record& record, value field) { record.hosts = hosts_of_ranks(field); }},
    {"host", [](Record& record, value field) { record.host = text_in(field); }},
    {"leaf", [](Record& record, value field) { record.leaf = text_in(field); }},
    {"hosts",
     [](Record& record, value field) {
       if (record.hosts.empty()) record.hosts = hosts_in(field);
     }},
}};

/// Its place in kKeys, looked for from `expected` on; their number where it does not count.
std::size_t place_of(std::string_view name, std::size_t expected) {
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const std::size_t place = (expected + i) % kKeys.size();
    if (kKeys[place].name == name) return place;
  }
  return kKeys.size();
}

}  // namespace

struct RecordLineReader::Parser {
  simdjson::ondemand::parser parser;
  Record record;
};

const std::size_t RecordLineReader::kSpare = simdjson::SIMDJSON_PADDING;

RecordLineReader::RecordLineReader() : parser_(std::make_unique<Parser>()) {}
RecordLineReader::~RecordLineReader() = default;

const Record& RecordLineReader::read(std::string_view line, std::size_t capacity) {
  Record& record = parser_->record;
  record = {};
  std::string_view key;
  std::string wrong_type;  // the first key whose value is of another type than readings have
  try {
    simdjson::ondemand::document document = parser_->parser.iterate(line.data(), line.size(), capacity);
    std::size_t expected = 0;
    for (auto field : document.get_object()) {
      key = field.unescaped_key().value();
      const std::size_t place = place_of(key, expected);
      if (place == kKeys.size()) continue;
      try {
        kKeys[place].take(record, field.value());
      } catch (const simdjson::simdjson_error& problem) {
        // Other kinds of lines may have keys of the same names.
        if (problem.error() != simdjson::INCORRECT_TYPE) throw;
        if (wrong_type.empty()) wrong_type = key;
      }
      expected = place + 1;
    }
    key = {};
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      throw std::invalid_argument("something follows behind the closing brace");
    }
  } catch (const simdjson::simdjson_error& problem) {
    if (key.empty() && problem.error() == simdjson::INCORRECT_TYPE) throw std::invalid_argument("not a JSON object");
    throw std::invalid_argument(key.empty() ? problem.what() : fmt::format("at key '{}': {}", key, problem.what()));
  }
  const bool matters = record.kind == RecordKind::kReading || record.kind == RecordKind::kLocality ||
                       wrong_type == "hosts" || wrong_type == "rank_map";
  if (!wrong_type.empty() && matters) {
    throw std::invalid_argument(fmt::format("key '{}' has a value of the wrong type", wrong_type));
  }
  return record;
}

}  // namespace fabricbench::cluster
