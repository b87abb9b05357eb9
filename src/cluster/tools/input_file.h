#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// A file, or standard input for `-`, read from beginning to end.
class InputFile {
 public:
  /// `what` is the source of the name in messages, such as `--locality`; may be empty. Throws Error with kMissing if it
  /// cannot be opened.
  InputFile(const std::string& path, std::string_view what);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// Reads the available bytes, up to the size of `buffer`; 0 at the end. Throws Error with kMissing.
  [[nodiscard]] std::size_t read(std::span<char> buffer);

 private:
  /// Adds the reason from errno.
  [[noreturn]] void refuse(std::string_view verb) const;

  std::string name_;  // for messages
  int descriptor_ = -1;
};

/// `standard input` for `-`, else the path.
[[nodiscard]] std::string readable_name(const std::string& path);

/// Bytes of the largest text, the matrix of 5,000 hosts.
inline constexpr std::size_t kMostText = std::size_t{256} << 20;

/// The contents of a file without a byte order mark. Throws Error with kMissing if it cannot be read, and UsageError if
/// it is too large for a list of hosts.
[[nodiscard]] std::string text_of_file(const std::string& path, std::string_view what);

}  // namespace fabricbench::cluster
