#include "cluster/tools/coming_from.h"

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "cluster/tools/other_programs.h"
#include "common/options/other_tools.h"

namespace fabricbench::cluster {
namespace {

/// What happens in programs that lack an option of the others: ". In `rdma_*_lat` refused: reason".
std::string where_lacking(const OtherOption& option) {
  std::string text;
  for (const Lack& lack : option.lacks) {
    if (lack.programs.empty()) continue;
    std::string programs;
    for (const std::string_view each : names_in(lack.programs)) {
      programs += fmt::format("{}`{}`", programs.empty() ? "" : ", ", each);
    }
    text += fmt::format(". In {} {}: {}", programs, lack.reading == Reading::kDropped ? "left out" : "refused",
                        lack.reason);
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
    case Reading::kSame: return "the same" + remark_on(option) + where_lacking(option);
    case Reading::kMapped: return replacement(option) + remark_on(option);
    case Reading::kDropped: return fmt::format("left out: {}", option.ours);
    case Reading::kRefused: return fmt::format("refused: {}", option.ours);
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

std::string with_tables_of_other_tools(const std::string& page) {
  std::string made = page;
  put_table(made, "programs", "programs", table_of_programs());
  for (const OtherTool& tool : other_tools()) {
    put_table(made, fmt::format("options: {}", tool.name), "options", table_of(tool));
  }
  return made;
}

}  // namespace fabricbench::cluster
