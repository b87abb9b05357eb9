#include "common/host/own_interfaces.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/core/directory.h"
#include "common/host/files.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

/// `eth0: 1 2 3 ...`: eight numbers on what it received, of which the first is bytes, then as many on what it sent.
/// Empty for the two lines of titles.
std::optional<InterfaceBytes> parse_line(const std::string& line) {
  constexpr std::size_t kReceived = 0;
  constexpr std::size_t kSent = 8;
  const std::size_t colon = line.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(colon + 1));
  std::vector<std::string> numbers;
  for (std::string word; words >> word;) numbers.push_back(word);
  if (numbers.size() <= kSent) return std::nullopt;
  const auto received = parse_integer<std::uint64_t>(numbers[kReceived]);
  const auto sent = parse_integer<std::uint64_t>(numbers[kSent]);
  if (!received || !sent) return std::nullopt;
  return InterfaceBytes{std::string(without_blanks(std::string_view(line).substr(0, colon))), *sent, *received};
}

}  // namespace

std::vector<InterfaceBytes> interface_bytes(const fs::path& root) {
  std::vector<InterfaceBytes> found;
  for (const std::string& line : read_lines(root / "proc/self/net/dev")) {
    if (auto interface = parse_line(line)) found.push_back(*std::move(interface));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

bool has_foreign_sysfs(const fs::path& root) {
  const std::vector<InterfaceBytes> own = interface_bytes(root);
  if (own.empty()) return false;
  std::vector<std::string> listed;
  for (const std::string& name : names_in(root / "sys/class/net")) {
    std::error_code error;
    if (fs::is_directory(root / "sys/class/net" / name, error)) listed.push_back(name);  // not bonding_masters
  }
  return !std::equal(own.begin(), own.end(), listed.begin(), listed.end(),
                     [](const InterfaceBytes& interface, const std::string& name) { return interface.name == name; });
}

}  // namespace fabricbench::host
