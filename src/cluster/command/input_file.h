// Files that are read from beginning to end, as bytes or lines, and standard input for `-`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// A line of a file, without its line end.
struct Line {
  std::string_view text;     ///< valid until the next line is read
  std::size_t capacity = 0;  ///< readable bytes from the beginning of `text`, including those after it
  std::int64_t number = 0;   ///< from 1
  bool complete = true;      ///< false for a last line without a line end
};

/// Whether a line has nothing but blanks.
[[nodiscard]] bool is_blank(std::string_view line);

/// The lines of a file without a byte order mark, read in blocks of a few megabytes. Lines may be longer than a block.
class LineSource {
 public:
  /// `spare` bytes after every line are readable. Throws as InputFile does.
  LineSource(const std::string& path, std::size_t spare);

  /// The next line. False at the end of the file. Throws Error with kNotJudged if the first one shows that the file is
  /// no text in UTF-8.
  [[nodiscard]] bool next(Line& line);

 private:
  [[nodiscard]] bool next_as_it_is(Line& line);
  /// Reads more data after the remaining data. Returns false at the end of the file.
  bool fill();

  InputFile file_;
  std::string name_;
  std::size_t spare_;
  std::vector<char> block_;
  std::size_t begin_ = 0;  // start of the remaining data in block_
  std::size_t end_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace fabricbench::cluster
