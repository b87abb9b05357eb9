#include "common/backends/verbs/port_counters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace fabricbench::verbs {
namespace {

namespace fs = std::filesystem;

// Prefixes of words in counter names, which drivers choose freely. Congestion marks (cnp, ecn, xmit_wait) are left out:
// they also grow on a network that is merely busy and works correctly.
constexpr std::array<std::string_view, 20> kTrouble = {
    "err", "discard", "drop", "retr",    "timeout",  "out_of_", "oos",   "dup",     "nak",    "seq",
    "rnr", "down",    "over", "invalid", "mismatch", "missing", "trunc", "restart", "unresp", "impair"};

bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }

// Words begin at the start of the name, after an underscore or with a capital letter: `ack_deferred` has no word that
// begins with `err`.
bool begins_word(std::string_view name, std::size_t place) {
  return place == 0 || name[place - 1] == '_' || is_upper(name[place]);
}

bool tells_of_trouble(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower) letter = is_upper(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
  const auto has = [&](std::string_view word) {
    std::size_t place = lower.find(word);
    while (place != std::string::npos && !begins_word(name, place)) place = lower.find(word, place + 1);
    return place != std::string::npos;
  };
  return std::any_of(kTrouble.begin(), kTrouble.end(), has);
}

// Reading a counter that the device does not have fails or returns text.
void read_directory(const fs::path& directory, PortCounters& counters) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!tells_of_trouble(name)) continue;
    std::uint64_t value = 0;
    if (std::ifstream(entry->path()) >> value) counters.emplace(name, value);
  }
}

}  // namespace

PortCounters read_counters(const std::string& device, int port, const fs::path& sys) {
  const fs::path directory = sys / "class/infiniband" / device / "ports" / std::to_string(port);
  PortCounters counters;
  read_directory(directory / "counters", counters);
  read_directory(directory / "hw_counters", counters);
  return counters;
}

PortCounters growth_of(const PortCounters& before, const PortCounters& after) {
  PortCounters grown;
  for (const auto& [name, value] : after) {
    const auto earlier = before.find(name);
    if (earlier == before.end()) continue;
    const std::uint64_t growth = value < earlier->second ? value : value - earlier->second;
    if (growth > 0) grown.emplace(name, growth);
  }
  return grown;
}

std::string grown(const PortCounters& before, const PortCounters& after) {
  std::string text;
  for (const auto& [name, growth] : growth_of(before, after)) {
    text += fmt::format("{}{} +{}", text.empty() ? "" : ", ", name, growth);
  }
  return text;
}

}  // namespace fabricbench::verbs
