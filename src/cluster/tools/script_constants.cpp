#include "cluster/tools/script_constants.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/tools/record_file.h"
#include "cluster/tools/share.h"
#include "cluster/verdict.h"
#include "common/core/exit_status.h"
#include "common/core/host_names.h"
#include "common/core/options.h"
#include "common/core/version.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {
namespace {

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

}  // namespace

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

}  // namespace fabricbench::cluster
