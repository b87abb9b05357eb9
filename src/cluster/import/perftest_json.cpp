#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/import/json_documents.h"
#include "cluster/import/pair_runs.h"
#include "cluster/import/perftest_test.h"
#include "cluster/import/rate_units.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

using nlohmann::json;

/// With --raw_qos, one key has no quotation marks.
json parse_perftest(std::string_view text) {
  std::string repaired(text);
  if (const std::size_t at = repaired.find("\nsl: "); at != std::string::npos) repaired.replace(at, 5, "\n\"sl\": ");
  return json::parse(repaired, nullptr, false);
}

json value_of(const json& root, const char* object, const char* key) {
  const auto found = root.find(object);
  return found != root.end() && found->is_object() ? found->value(key, json()) : json();
}

std::string text_of(const json& root, const char* object, const char* key) {
  const json value = value_of(root, object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// The file names no unit, but also has the number of messages: of the two units, that in which both agree.
std::optional<double> unit_of(double average, double million_messages, double size) {
  const double rate = million_messages * 1e6 * size;
  for (const double unit : {kMebibyte, kGigabit}) {
    if (rate > 0 && std::abs(std::log(average * unit / rate)) < 1) return unit;
  }
  return std::nullopt;
}

class PerftestJsonReader {
 public:
  explicit PerftestJsonReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (const JsonDocument& document : json_documents(source_.text)) take(document);
    if (!runs_.empty()) add_pair_runs(found_, source_, runs_);
    return std::move(found_);
  }

 private:
  void take(const JsonDocument& document) {
    const auto lines = std::count(source_.text.data(), document.text.data(), '\n');
    const json root = parse_perftest(document.text);
    if (root.is_discarded()) return found_.note(lines + 1, "the JSON is broken or cut off");
    const std::string title = text_of(root, "test_info", "test");
    const std::string test = perftest_test_of(title);
    if (test.empty() || !has(title, "BW_Test")) {
      return found_.note(lines + 1, fmt::format("'{}' is not ib_write_bw, ib_read_bw or ib_send_bw", one_line(title)));
    }
    const json average = value_of(root, "results", "BW_average");
    const json size = value_of(root, "results", "MsgSize");
    const json messages = value_of(root, "results", "MsgRate");
    if (!average.is_number() || !size.is_number_integer()) {
      return found_.note(lines + 1, "it has no size and average bandwidth");
    }
    const auto bytes = size.get<std::int64_t>();
    const double rate = messages.is_number() ? messages.get<double>() : 0;
    const double unit = unit_of(average.get<double>(), rate, static_cast<double>(bytes)).value_or(source_.unit);
    if (unit == 0) {
      throw UsageError(
          fmt::format("{}:{}: neither BW_average nor MsgRate tells its unit; give --unit, such as "
                      "--unit Gb/s where it ran with --report_gbits",
                      source_.path, lines + 1));
    }
    PairRun run;
    run.test = test;
    run.both_ways = has(title, "Bidirectional");
    run.backwards = test == "ib_read_bw" && !run.both_ways;
    run.has_ended = true;
    run.rail = text_of(root, "test_info", "Device");
    run.rows = {{bytes, lines + 1, average.get<double>() * unit, ""}};
    run.begin = document.begin;
    add(std::move(run));
  }

  /// The sizes of one run may be in a document each.
  void add(PairRun run) {
    const bool goes_on = !runs_.empty() && runs_.back().test == run.test && runs_.back().both_ways == run.both_ways &&
                         runs_.back().rail == run.rail &&
                         runs_.back().rows.back().size_bytes < run.rows.front().size_bytes;
    if (goes_on) {
      runs_.back().rows.push_back(run.rows.front());
    } else {
      runs_.push_back(std::move(run));
    }
  }

  const ImportSource& source_;
  Imported found_;
  std::vector<PairRun> runs_;
};

}  // namespace

Imported read_perftest_json(const ImportSource& source) { return PerftestJsonReader(source).read(); }

}  // namespace fabricbench::cluster
