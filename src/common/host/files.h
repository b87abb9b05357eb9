// Small text files, such as those below /proc and /sys, and where files are that come with the programs.
#pragma once

#include <charconv>
#include <concepts>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace fabricbench::host {

// The whole text of a file; empty if it cannot be opened.
[[nodiscard]] std::optional<std::string> read_text(const std::filesystem::path& file);

// Writes all of the text to a descriptor. 0, or the number of the error.
[[nodiscard]] int write_all(int descriptor, std::string_view text);

// Every line of a file without its line end; none where the file cannot be read. Many files below
// /sys open but refuse to be read (EINVAL), which reads the same as a file that is not there.
[[nodiscard]] std::vector<std::string> read_lines(const std::filesystem::path& file);

// The first line of a file without surrounding blanks, or nothing where the file cannot be read or
// that line is empty.
[[nodiscard]] std::optional<std::string> read_first_line(const std::filesystem::path& file);

// What follows `key` on the first line that starts with it, without the blanks and the colon
// between them: `8 kB` for the key `MemFree` and the line `MemFree:   8 kB`.
[[nodiscard]] std::optional<std::string> find_value(const std::filesystem::path& file, std::string_view key);
// The same in a text that was read already.
[[nodiscard]] std::optional<std::string> find_value_in(std::istream& text, std::string_view key);

// `text` without leading and trailing blanks.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

// The integer that `text` spells in decimal, or nothing where anything else stands beside it or
// the value does not fit.
template <std::integral Integer>
[[nodiscard]] std::optional<Integer> parse_integer(std::string_view text) {
  Integer value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// The integer on the first line of a file, or nothing where it holds none.
template <std::integral Integer>
[[nodiscard]] std::optional<Integer> read_integer(const std::filesystem::path& file) {
  const auto line = read_first_line(file);
  return line ? parse_integer<Integer>(*line) : std::nullopt;
}

// The NUMA node that the PCI device behind a directory of /sys belongs to. The kernel writes -1 where it belongs to
// none; hwloc puts such a device beside all nodes, which on a host with one node looks as if it belonged to that.
[[nodiscard]] std::optional<int> numa_node_of(const std::filesystem::path& device);

// Folders that may have files that come with the programs, nearest first: `name` in each folder above the program, as
// in the sources with their `build`, and `share/fabricbench/` and the last part of `name`, as in an installation.
[[nodiscard]] std::vector<std::filesystem::path> installed_folders(std::string_view name);

}  // namespace fabricbench::host
