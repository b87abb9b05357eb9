#include "cluster/command/generated_files.h"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/catalogue.h"
#include "cluster/command/verdict_record.h"
#include "cluster/pairs/verdict.h"
#include "common/core/names.h"
#include "common/host/checks/checks.h"
#include "common/options/other_tools.h"
#include "common/record/acceptance.h"
#include "common/record/baseline.h"
#include "common/record/connect_row.h"
#include "common/record/context.h"
#include "common/record/copy_row.h"
#include "common/record/expected.h"
#include "common/record/field.h"
#include "common/record/preflight.h"
#include "common/record/reading.h"
#include "common/record/row.h"
#include "common/record/sweep_plan.h"

namespace fabricbench::cluster {
namespace {

using record::Json;

/// What happens in programs that lack an option of the others: ". In `rdma_*_lat` refused: reason".
std::string where_lacking(const OtherOption& option) {
  std::string text;
  for (const Unsupported& unsupported : option.unsupported) {
    if (unsupported.programs.empty()) continue;
    std::string programs;
    for (const std::string_view each : names_in(unsupported.programs)) {
      programs += fmt::format("{}`{}`", programs.empty() ? "" : ", ", each);
    }
    text += fmt::format(". In {} {}: {}", programs,
                        unsupported.treatment == fabricbench::Treatment::kDropped ? "left out" : "refused",
                        unsupported.reason);
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
  switch (option.treatment) {
    case fabricbench::Treatment::kSame: return "the same" + remark_on(option) + where_lacking(option);
    case fabricbench::Treatment::kMapped: return replacement(option) + remark_on(option);
    case fabricbench::Treatment::kDropped: return fmt::format("left out: {}", option.ours);
    case fabricbench::Treatment::kRefused: return fmt::format("refused: {}", option.ours);
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
                 CopyRow, ConnectionStep, PreflightCheck, PreflightFinding, PreflightUnseen, PreflightTraffic, Ending,
                 SweepStart, HostLocality, RecordedReading, VerdictRecord, baseline::RowComparison,
                 baseline::HistoryChange, baseline::BaselineComparison, baseline::FileStart, baseline::LaunchStart,
                 baseline::RowTimes, expected::RowExpectation, expected::Expectation, expected::PresetStart,
                 expected::PresetFigure, expected::PresetComparison, acceptance::AcceptanceStart,
                 acceptance::AcceptanceStep, acceptance::HostReason, acceptance::AcceptanceVerdict>();
  return types;
}

std::string with_tables(const std::string& page, const record::Descriptions& types) {
  std::string made = page;
  std::size_t places = 0;
  for (std::size_t at = 0; (at = page.find("<!-- record: ", at)) != std::string::npos; ++at) ++places;
  for (const record::Description& type : types) {
    put_table(made, fmt::format("record: {}", type.name), "record", record::table_of(type));
  }
  if (places > types.size()) throw std::invalid_argument("there is a place for a record that does not exist");
  return made;
}

std::string with_checks(const std::string& page) {
  std::string made = page;
  std::string table =
      "| check | what is so on a host that is well | read from | compared between hosts |\n|---|---|---|---|\n";
  for (const host::Check& check : host::all_checks()) {
    std::vector<std::string> titles;
    for (const host::Compared& compared : check.compared) {
      titles.push_back(fmt::format("{} (`{}`)", compared.title, compared.key));
    }
    table += fmt::format("| `{}`{} | {} | {} | {} |\n", check.name, check.is_required ? ", required" : "", check.what,
                         check.reads, fmt::join(titles, "; "));
  }
  put_table(made, "checks", "checks", table);
  return made;
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
