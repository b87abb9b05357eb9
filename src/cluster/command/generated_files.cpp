#include "cluster/command/generated_files.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/catalogue.h"
#include "cluster/command/record_file.h"
#include "cluster/command/tool.h"
#include "cluster/command/verdict_record.h"
#include "cluster/pairs/verdict.h"
#include "common/core/error.h"
#include "common/core/names.h"
#include "common/core/options.h"
#include "common/core/plain_text.h"
#include "common/core/version.h"
#include "common/options/other_tools.h"
#include "common/record/acceptance.h"
#include "common/record/baseline.h"
#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/expected.h"
#include "common/record/field.h"
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

constexpr std::string_view kHowMade = "Written by describe_records (`make records`) from the programs' own constants.";

/// One constant under its names in bash and in Python. `values`: one, or several.
struct Constant {
  std::string_view bash_name;
  std::string_view python_name;
  std::vector<std::string> values;
};

Constant exit_status(std::string_view bash_name, std::string_view python_name, ExitStatus status) {
  return {bash_name, python_name, {fmt::format("{}", static_cast<int>(status))}};
}

/// fault_of_host_name as a regular expression in quotes, of bash and Python.
std::string host_name_pattern() {
  const auto set = [](std::string_view others) { return fmt::format("A-Za-z0-9{}", others.substr(1)); };
  const auto name = [&](std::string_view others) { return fmt::format("[{0}][{0}-]*", set(others)); };
  static_assert(kInHostNames.front() == '-' && kInUserNames.front() == '-', "a '-' stands for itself at the end only");
  return fmt::format("'^({}@)?{}$'", name(kInUserNames), name(kInHostNames));
}

std::vector<Constant> constants() {
  std::vector<Constant> all = {exit_status("kOk", "OK", ExitStatus::kOk),
                               exit_status("kFailed", "FAILED", ExitStatus::kFailure),
                               exit_status("kUsage", "USAGE", ExitStatus::kUsage),
                               exit_status("kMissing", "MISSING", ExitStatus::kMissing),
                               exit_status("kTimeout", "TIMEOUT", ExitStatus::kTimeout),
                               exit_status("kWrongData", "WRONG_DATA", ExitStatus::kWrongData),
                               exit_status("kTooSlow", "TOO_SLOW", ExitStatus::kTooSlow),
                               exit_status("kNotJudged", "NOT_JUDGED", ExitStatus::kNotJudged),
                               {"kSchemaVersion", "SCHEMA_VERSION", {fmt::format("{}", kSchemaVersion)}},
                               {"kTolerance", "TOLERANCE", {fmt::format("{}", VerdictSettings().tolerance)}},
                               {"kPercentOfPort", "PERCENT_OF_PORT", {fmt::format("{:g}", 100 * kShareOfPort)}},
                               {"kMostGbPerSecond", "MOST_GB_PER_SECOND", {fmt::format("{:.0f}", kMostGbPerSecond)}},
                               {"kRankLimit_s", "RANK_LIMIT_S", {fmt::format("{:g}", Options().timeout)}},
                               {"kHostName", "HOST_NAME", {host_name_pattern()}}};
  Constant& statuses = all.emplace_back(Constant{"kReadingStatuses", "READING_STATUSES", {}});
  for (const std::string_view name : names_of(ReadingStatus())) statuses.values.emplace_back(name);
  return all;
}

/// What happens in programs that lack an option of the others: ". In `rdma_*_lat` refused: reason".
std::string where_lacking(const OtherOption& option) {
  std::string text;
  for (const Lack& lack : option.lacks) {
    if (lack.programs.empty()) continue;
    std::string programs;
    for (const std::string_view each : names_in(lack.programs)) {
      programs += fmt::format("{}`{}`", programs.empty() ? "" : ", ", each);
    }
    text += fmt::format(". In {} {}: {}", programs,
                        lack.reading == fabricbench::Reading::kDropped ? "left out" : "refused", lack.reason);
  }
  return text;
}

std::string remark_on(const OtherOption& option) {
  return option.remark.empty() ? "" : fmt::format("; {}", option.remark);
}

std::string replacement(const OtherOption& option) {
  std::string text = fmt::format("`{}`", option.ours);
  if (!option.usual.empty()) text += fmt::format(", and where no size is given `{}`", option.usual);
  if (option.allowed.values.empty()) return text;
  return text + fmt::format(". Other values than {} are refused: {}", option.allowed.values, option.allowed.otherwise);
}

std::string what_happens(const OtherOption& option) {
  switch (option.reading) {
    case fabricbench::Reading::kSame: return "the same" + remark_on(option) + where_lacking(option);
    case fabricbench::Reading::kMapped: return replacement(option) + remark_on(option);
    case fabricbench::Reading::kDropped: return fmt::format("left out: {}", option.ours);
    case fabricbench::Reading::kRefused: return fmt::format("refused: {}", option.ours);
  }
  return "";
}

std::string table_of(const OtherTool& tool) {
  std::string text = fmt::format("| {} | here |\n|---|---|\n", tool.name);
  for (const OtherOption& option : tool.options) {
    std::string names;
    for (const std::string_view name : names_in(option.names)) {
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
    }
    std::string value(option.value_name);
    for (std::size_t at = 0; (at = value.find('|', at)) != std::string::npos; at += 2) value.insert(at, 1, '\\');
    text += fmt::format("| {}{}{} | {} |\n", names, value.empty() ? "" : " ", value, what_happens(option));
  }
  return text;
}

std::string table_of_programs() {
  std::string text = "| tool | program | here |\n|---|---|---|\n";
  for (const OtherProgram& program : other_programs()) {
    text += fmt::format("| {} | `{}` | `{}`{} |\n", program.tool, program.name, program.ours, of_test(program));
  }
  return text;
}

/// Replaces what is between the lines `<!-- WHAT -->` and `<!-- end of KIND -->`. Throws std::invalid_argument where
/// they are missing.
void put_table(std::string& page, std::string_view what, std::string_view kind, const std::string& table) {
  const std::string begin = fmt::format("<!-- {} -->\n", what);
  const std::size_t at = page.find(begin);
  const std::size_t end = page.find(fmt::format("<!-- end of {} -->", kind), at);
  if (at == std::string::npos || end == std::string::npos) {
    throw std::invalid_argument(fmt::format("there is no place for: {}", what));
  }
  page.replace(at + begin.size(), end - at - begin.size(), "\n" + table + "\n");
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

std::string constants_for_bash() {
  std::string text = fmt::format(
      "# shellcheck shell=bash\n# shellcheck disable=SC2034  # read by the scripts that source this one\n# {}\n",
      kHowMade);
  for (const Constant& constant : constants()) {
    const std::string values = fmt::format("{}", fmt::join(constant.values, " "));
    const bool several = constant.values.size() > 1;
    text += fmt::format("readonly {}={}{}{}\n", constant.bash_name, several ? "(" : "", values, several ? ")" : "");
  }
  return text;
}

std::string constants_for_python() {
  std::string text = fmt::format("\"\"\"{}\"\"\"\n\n", kHowMade);
  for (const Constant& constant : constants()) {
    const bool several = constant.values.size() > 1;
    text += fmt::format("{} = {}\n", constant.python_name,
                        several ? fmt::format("(\"{}\")", fmt::join(constant.values, "\", \"")) : constant.values[0]);
  }
  return text;
}

std::string with_tables_of_other_tools(const std::string& page) {
  std::string made = page;
  put_table(made, "programs", "programs", table_of_programs());
  for (const OtherTool& tool : other_tools()) {
    put_table(made, fmt::format("options: {}", tool.name), "options", table_of(tool));
  }
  return made;
}

}  // namespace fabricbench::cluster
