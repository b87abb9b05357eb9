#include "cluster/tools/record_types.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/tools/acceptance_record.h"
#include "cluster/tools/verdict_record.h"
#include "common/record/baseline.h"
#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/expected.h"
#include "common/record/reading.h"
#include "common/record/row.h"
#include "common/record/sweep_plan.h"

namespace fabricbench::cluster {
namespace {

using record::Json;

/// A type as scripts/records.py checks it, from its JSON Schema: such as `(float, None)`, or "host" for that record.
std::string python_type(const Json& schema) {
  constexpr std::string_view kDefinitions = "#/definitions/";
  std::vector<std::string> types;
  if (schema.contains("$ref")) return fmt::format("\"{}\"", std::string(schema["$ref"]).substr(kDefinitions.size()));
  if (schema.contains("enum")) return schema["enum"].back().is_null() ? "(str, None)" : "str";
  if (schema.contains("anyOf")) {
    for (const Json& each : schema["anyOf"]) types.push_back(python_type(each));
    return fmt::format("({})", fmt::join(types, ", "));
  }
  if (schema["type"].is_array()) {
    for (const Json& each : schema["type"]) {
      Json alone = schema;
      alone["type"] = each;
      types.push_back(python_type(alone));
    }
    return fmt::format("({})", fmt::join(types, ", "));
  }
  if (schema["type"] == "array") return fmt::format("[{}]", python_type(schema["items"]));
  static const std::map<std::string, std::string> python_names = {{"integer", "int"}, {"number", "float"},
                                                                  {"string", "str"},  {"boolean", "bool"},
                                                                  {"object", "dict"}, {"null", "None"}};
  return python_names.at(schema["type"]);
}

}  // namespace

record::Descriptions record_types() {
  record::Descriptions types;
  const auto add = [&types]<typename... Records>() { (record::add_description<Records>(types), ...); };
  add.operator()<Context, EpochRecord, Row, PairReading, SweepRound, SilentEndpoints, EndpointSummary, SweepVerdict,
                 CopyRow, ConnectionStep, Ending, SweepStart, HostLocality, RecordedReading, VerdictRecord,
                 baseline::RowComparison, baseline::HistoryChange, baseline::BaselineComparison, baseline::FileStart,
                 baseline::LaunchStart, baseline::RowTimes, expected::RowExpectation, expected::Expectation,
                 expected::PresetStart, expected::PresetFigure, expected::PresetComparison, acceptance::AcceptanceStart,
                 acceptance::AcceptanceStep, acceptance::HostReason, acceptance::AcceptanceVerdict>();
  return types;
}

std::string with_tables(const std::string& page, const record::Descriptions& types) {
  constexpr std::string_view kBegin = "<!-- record: ";
  constexpr std::string_view kBeginEnd = " -->\n";
  constexpr std::string_view kEnd = "<!-- end of record -->";
  std::set<std::string> left;
  for (const record::Description& type : types) left.insert(type.name);
  std::string made;
  std::size_t done = 0;
  for (std::size_t at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, done)) {
    const std::size_t name_at = at + kBegin.size();
    const std::size_t name_end = page.find(kBeginEnd, name_at);
    const std::size_t end = page.find(kEnd, name_at);
    if (name_end == std::string::npos || end == std::string::npos) {
      throw std::invalid_argument(fmt::format("'{}' without its end", page.substr(at, 40)));
    }
    const std::string name = page.substr(name_at, name_end - name_at);
    const auto type = std::find_if(types.begin(), types.end(), [&](const auto& each) { return each.name == name; });
    if (type == types.end()) throw std::invalid_argument(fmt::format("there is no record '{}'", name));
    left.erase(name);
    made += page.substr(done, name_end + kBeginEnd.size() - done) + "\n" + record::table_of(*type) + "\n";
    done = end;
  }
  if (!left.empty()) throw std::invalid_argument(fmt::format("record '{}' has no place", *left.begin()));
  return made + page.substr(done);
}

std::string types_for_python(const record::Descriptions& types) {
  std::string text =
      "\"\"\"Written by describe_records (`make records`) from the programs' descriptions of records.\"\"\"\n\n\n"
      "class Name:\n    \"\"\"The type of a name that may also be a whole number.\"\"\"\n\n\n"
      "TYPES = {\n";
  std::map<std::string, std::vector<std::string>> kinds;
  for (const record::Description& type : types) {
    text += fmt::format("    \"{}\": {{\n", type.name);
    for (const record::Key& each : type.keys) {
      if (!type.schema["properties"].contains(each.key)) continue;
      const std::string python = each.name_or_number ? "Name" : python_type(type.schema["properties"][each.key]);
      text += fmt::format("        \"{}\": {},\n", each.key, python);
    }
    text += "    },\n";
    if (!type.kind.empty()) kinds[type.kind].push_back(type.name);
  }
  text += "}\n\nKINDS = {\n";
  for (const auto& [kind, names] : kinds) {
    text += fmt::format("    \"{}\": (\"{}\",),\n", kind, fmt::join(names, "\", \""));
  }
  return text + "}\n";
}

}  // namespace fabricbench::cluster
