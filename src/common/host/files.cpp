#include "common/host/files.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

namespace fabricbench::host {

std::optional<std::string> read_text(const std::filesystem::path& file) {
  std::error_code error;
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file, error)) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::optional<std::string> read_first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  const std::string_view text = without_blanks(line);
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> find_value(const std::filesystem::path& file, std::string_view key) {
  std::ifstream stream(file);
  return find_value_in(stream, key);
}

std::optional<std::string> find_value_in(std::istream& text, std::string_view key) {
  constexpr std::string_view kSeparators = " \t:";
  for (std::string line; std::getline(text, line);) {
    std::string_view rest = line;
    if (!rest.starts_with(key)) continue;
    rest.remove_prefix(key.size());
    // A longer key that starts the same way, such as `cpu0` for `cpu`, is another key.
    if (rest.empty() || kSeparators.find(rest.front()) == std::string_view::npos) continue;
    const auto start = rest.find_first_not_of(kSeparators);
    if (start == std::string_view::npos) return std::nullopt;
    return std::string(without_blanks(rest.substr(start)));
  }
  return std::nullopt;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<int> numa_node_of(const std::filesystem::path& device) {
  const auto node = read_integer<int>(device / "numa_node");
  return node && *node >= 0 ? node : std::nullopt;
}

std::vector<std::filesystem::path> installed_folders(std::string_view name) {
  constexpr int kMostLevels = 4;
  std::error_code error;
  std::filesystem::path above = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::filesystem::path> folders;
  for (int level = 0; level < kMostLevels && above != above.root_path(); ++level) {
    above = above.parent_path();
    folders.push_back(above / name);
    folders.push_back(above / "share/fabricbench" / std::filesystem::path(name).filename());
  }
  return folders;
}

}  // namespace fabricbench::host
