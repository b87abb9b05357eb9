// What tests of the readers of other tools' results share.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "cluster/import/import.h"

namespace fabricbench::cluster::test {

/// `a gpu0 > b gpu1 osu_bw 4194304 = 12.5` of every reading, in GB/s; `both` behind it where the figure is of both
/// directions, and `failed: WHY` or `wrong: WHY` where there is none.
inline std::vector<std::string> told(const Imported& found) {
  std::vector<std::string> all;
  auto reason = found.reasons.begin();
  for (std::size_t i = 0; i < found.readings.size(); ++i) {
    const Reading& reading = found.readings[i];
    const auto end = [&](std::int32_t host, std::int16_t rail) {
      const std::string& name = found.rails.names()[static_cast<std::size_t>(rail)];
      return found.hosts.names()[static_cast<std::size_t>(host)] + (name.empty() ? "" : " ") + name;
    };
    const ImportedKind& kind = found.kinds[static_cast<std::size_t>(reading.test)];
    std::string text = fmt::format("{} > {} {} {} = ", end(reading.from, reading.from_rail),
                                   end(reading.to, reading.to_rail), kind.test, kind.size_bytes);
    if (reading.outcome == Outcome::kMeasured) {
      text += fmt::format("{:.6g}", static_cast<double>(reading.rate) / 1e9);
    } else {
      text += reading.outcome == Outcome::kWrong ? "wrong: " : "failed: ";
      text += (reason != found.reasons.end() && reason->first == i ? (reason++)->second : std::string("?"));
    }
    all.push_back(text + (reading.both_ways ? " both" : ""));
  }
  return all;
}

/// `3: text` of every note.
inline std::vector<std::string> noted(const Imported& found) {
  std::vector<std::string> all;
  for (const ImportNote& note : found.notes) all.push_back(fmt::format("{}: {}", note.line, note.text));
  return all;
}

inline Imported read_as(ImportKind kind, const std::string& path, std::string_view text, double unit = 0) {
  return import_results(kind, {path, text, unit});
}

/// The text with lines that end as on Windows.
inline std::string with_carriage_returns(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2))
    text.insert(at, 1, '\r');
  return text;
}

/// Every way in which a text may be cut off, of up to some hundred lengths.
inline std::vector<std::string> cut_off(const std::string& text) {
  std::vector<std::string> all;
  const std::size_t step = text.size() / 300 + 1;
  for (std::size_t size = 0; size < text.size(); size += step) all.push_back(text.substr(0, size));
  return all;
}

}  // namespace fabricbench::cluster::test
