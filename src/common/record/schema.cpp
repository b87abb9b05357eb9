#include "common/record/schema.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::record {
namespace detail {

Type Type::or_null() const {
  Type type = *this;
  type.words += " or null";
  if (schema.contains("enum")) {
    type.schema["enum"].push_back(nullptr);
  } else if (schema.contains("type") && schema["type"].is_string()) {
    type.schema["type"] = {schema["type"], "null"};
  } else {
    type.schema = {{"anyOf", {schema, {{"type", "null"}}}}};
  }
  return type;
}

Type Type::without_null() const {
  constexpr std::string_view kOrNull = " or null";
  if (!words.ends_with(kOrNull)) return *this;
  Type type{words.substr(0, words.size() - kOrNull.size()), schema};
  if (schema.contains("anyOf")) {
    type.schema = schema["anyOf"][0];
  } else if (schema.contains("enum")) {
    type.schema["enum"].erase(type.schema["enum"].size() - 1);
  } else {
    type.schema["type"] = schema["type"][0];
  }
  return type;
}

Type Type::list() const { return {"list of " + words, {{"type", "array"}, {"items", schema}}}; }

Type Type::without_none() const {
  Type type = *this;
  const std::string kind = schema.contains("type") && schema["type"].is_string() ? schema["type"] : Json("");
  if (kind == "string") type.schema["minLength"] = 1;
  if (kind == "array") type.schema["minItems"] = 1;
  if (kind == "object") type.schema["minProperties"] = 1;
  if (kind == "integer" || kind == "number") {
    type.schema.erase("minimum");
    type.schema["exclusiveMinimum"] = 0;
  }
  return type;
}

Type type_of_number(bool whole, bool not_negative, std::string words) {
  Json schema{{"type", whole ? "integer" : "number"}};
  if (not_negative) schema["minimum"] = 0;
  if (words.empty() || words == "count") words = whole ? "whole number" : "number";
  return {std::move(words), std::move(schema)};
}

Type type_of_text() { return {"text", {{"type", "string"}}}; }
Type type_of_truth() { return {"true or false", {{"type", "boolean"}}}; }
Type type_of_texts() { return {"texts by name", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}}; }
Type type_of_time() { return {"time", {{"type", "string"}, {"pattern", R"(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$)"}}}; }
Type type_of_names(const std::vector<std::string>& names) {
  constexpr std::size_t kFew = 8;  // as many as fit in a table
  return {names.size() > kFew ? "name" : fmt::format("`{}`", fmt::join(names, "`, `")), {{"enum", names}}};
}

Type type_of_record(const Description& description) {
  return {description.name, {{"$ref", "#/definitions/" + description.name}}};
}

void SchemaVisitor::line(std::string_view kind, std::string_view meaning, std::string_view name) {
  part(name.empty() ? kind : name, meaning);
  made_.kind = kind;
  made_.schema["required"].push_back("kind");
  made_.schema["properties"]["kind"] = {{"const", kind}};
}

void SchemaVisitor::part(std::string_view name, std::string_view meaning) {
  made_.name = name;
  made_.meaning = meaning;
  made_.schema = {{"type", "object"},
                  {"additionalProperties", false},
                  {"description", meaning},
                  {"required", Json::array()},
                  {"properties", Json::object()}};
}

void SchemaVisitor::other_keys(std::string_view meaning) {
  made_.schema["additionalProperties"] = {{"type", "string"}};
  made_.keys.push_back({"...", "text", std::string(meaning)});
}

void SchemaVisitor::add(std::string_view key, const Type& type, std::string_view meaning, bool always) {
  Json schema = type.schema;
  if (!schema.contains("$ref")) schema["description"] = meaning;
  made_.schema["properties"][std::string(key)] = std::move(schema);
  if (always) made_.schema["required"].push_back(key);
  made_.keys.push_back({std::string(key), type.words, std::string(meaning)});
}

}  // namespace detail

namespace {

/// As JSON text, with one line per key of objects down to `most` levels.
std::string text_of(const Json& value, std::size_t depth, std::size_t most) {
  if (!value.is_object() || value.empty() || depth == most) return value.dump();
  const std::string indent(2 * depth, ' ');
  std::string text;
  for (const auto& [key, each] : value.items()) {
    text += fmt::format("{}{}  {}: {}", text.empty() ? "{\n" : ",\n", indent, Json(key).dump(),
                        text_of(each, depth + 1, most));
  }
  return fmt::format("{}\n{}}}", text, indent);
}

}  // namespace

Json schema_of(const Descriptions& all) {
  Json lines = Json::array();
  Json definitions = Json::object();
  for (const Description& record : all) {
    if (!record.kind.empty()) lines.push_back({{"$ref", "#/definitions/" + record.name}});
    definitions[record.name] = record.schema;
  }
  return {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "A line of the file that --json writes"},
      {"description",
       "docs/output.md explains every key. Keys never change once released; schema_version rises when one is added."},
      {"oneOf", std::move(lines)},
      {"definitions", std::move(definitions)}};
}

std::string schema_text(const Descriptions& all) {
  constexpr std::size_t kDepth = 4;  // definitions, one of them, its properties, one of these
  return text_of(schema_of(all), 0, kDepth) + "\n";
}

std::string table_of(const Description& record) {
  std::string text = "| key | type | meaning |\n|---|---|---|\n";
  for (const Key& key : record.keys) text += fmt::format("| `{}` | {} | {} |\n", key.key, key.type, key.meaning);
  return text;
}

}  // namespace fabricbench::record
