#include "cluster/sweep/steps.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::sweep {
namespace {

constexpr std::size_t kMostFields = 6;

/// The fields of a line. If there are too many, it has one more than any valid line.
struct MeasuredLine {
  std::array<std::string_view, kMostFields + 1> fields;
  std::size_t count = 0;
};

MeasuredLine taken_apart(std::string_view text) {
  MeasuredLine line;
  while (line.count < line.fields.size()) {
    const std::size_t tab = text.find('\t');
    line.fields[line.count++] = text.substr(0, tab);
    if (tab == std::string_view::npos) break;
    text.remove_prefix(tab + 1);
  }
  return line;
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class MeasuredReader {
 public:
  /// Returns false if the text is not a line of such a file.
  [[nodiscard]] bool take(std::string_view text) {
    const MeasuredLine line = taken_apart(text);
    if (line.count == 2 && line.fields[0] == "host") {
      places_.try_emplace(std::string(line.fields[1]), static_cast<std::int32_t>(measured_.hosts.size()));
      measured_.hosts.emplace_back(line.fields[1]);
      return places_.size() == measured_.hosts.size();
    }
    return line.count == kMostFields && line.fields[0] == "reading" && take_reading(line);
  }

  [[nodiscard]] Measured finish() { return std::move(measured_); }

 private:
  bool take_reading(const MeasuredLine& line) {
    const auto round = number_of<std::int32_t>(line.fields[1]);
    const auto concurrent = number_of<std::int32_t>(line.fields[2]);
    const auto from = places_.find(std::string(line.fields[3]));
    const auto to = places_.find(std::string(line.fields[4]));
    if (!round || *round < 0 || !concurrent || *concurrent < 0 || from == places_.end() || to == places_.end()) {
      return false;
    }
    cluster::Reading reading{from->second, to->second};
    reading.round = *round;
    reading.concurrent = *concurrent;
    if (!take_outcome(line.fields[5], reading)) return false;
    measured_.readings.push_back(reading);
    return true;
  }

  static bool take_outcome(std::string_view text, cluster::Reading& reading) {
    using cluster::Outcome;
    for (const auto& [name, outcome] :
         {std::pair("failed", Outcome::kFailed), {"wrong", Outcome::kWrong}, {"not_tried", Outcome::kNotTried}}) {
      if (text != name) continue;
      reading.outcome = outcome;
      return true;
    }
    const auto rate = number_of<float>(text);
    if (!rate || !std::isfinite(*rate) || *rate < 0) return false;
    reading.rate = *rate;
    return true;
  }

  Measured measured_;
  std::unordered_map<std::string, std::int32_t> places_;
};

}  // namespace

Measured read_measured(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw Error(ExitStatus::kMissing,
                fmt::format("--measured {}: it cannot be read; write it with plan_sweep --list-readings", path));
  }
  MeasuredReader reader;
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (reader.take(line)) continue;
    throw UsageError(fmt::format(
        "--measured {}: line {}, '{}', is not in the format of plan_sweep --list-readings; write the file again", path,
        number, line.substr(0, 80)));
  }
  return reader.finish();
}

}  // namespace fabricbench::sweep
