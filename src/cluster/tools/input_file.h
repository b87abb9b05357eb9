#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// A file that is read from beginning to end, or standard input, which `-` names.
class InputFile {
 public:
  /// `what` says in messages what names it, such as `--locality`; may be empty. Throws Error with kMissing where it
  /// cannot be opened.
  InputFile(const std::string& path, std::string_view what);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// Reads as many bytes as there are, up to the size of `buffer`; 0 at the end. Throws Error with kMissing.
  [[nodiscard]] std::size_t read(std::span<char> buffer);

 private:
  /// With the reason that errno has.
  [[noreturn]] void refuse(std::string_view verb) const;

  std::string name_;  // in messages
  int descriptor_ = -1;
};

/// `standard input` for `-`, else the path.
[[nodiscard]] std::string readable_name(const std::string& path);

/// Without the three bytes that some programs put before UTF-8.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// All that a file holds, without a byte order mark. Throws Error with kMissing where it cannot be read, and UsageError
/// where it is larger than any list of hosts is.
[[nodiscard]] std::string text_of_file(const std::string& path, std::string_view what);

}  // namespace fabricbench::cluster
