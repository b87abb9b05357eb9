#include "cluster/command/input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

constexpr std::size_t kBlockBytes = std::size_t{4} << 20;

}  // namespace

std::string readable_name(const std::string& path) { return path == "-" ? "standard input" : path; }

InputFile::InputFile(const std::string& path, std::string_view what)
    : name_(what.empty() ? fmt::format("'{}'", path) : fmt::format("{} '{}'", what, path)),
      descriptor_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) refuse("open");
}

InputFile::~InputFile() {
  if (descriptor_ > STDIN_FILENO) close(descriptor_);
}

std::size_t InputFile::read(std::span<char> buffer) {
  for (;;) {
    const ssize_t bytes = ::read(descriptor_, buffer.data(), buffer.size());
    if (bytes >= 0) return static_cast<std::size_t>(bytes);
    if (errno != EINTR) refuse("read");
  }
}

void InputFile::refuse(std::string_view verb) const {
  throw Error(ExitStatus::kMissing, fmt::format("cannot {} {}: {}; check the path and its permissions", verb, name_,
                                                std::system_category().message(errno)));
}

std::string text_of_file(const std::string& path, std::string_view what) {
  InputFile file(path, what);
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    const std::size_t bytes = file.read(std::span(text).subspan(before));
    text.resize(before + bytes);
    if (bytes == 0) return text.erase(0, text.size() - without_byte_order_mark(text).size());
    if (text.size() > kMostText) {
      throw UsageError(
          fmt::format("'{}' has more than {} MiB, which is more than is read of a list or log", path, kMostText >> 20));
    }
  }
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

LineSource::LineSource(const std::string& path, std::size_t spare)
    : file_(path, ""), name_(readable_name(path)), spare_(spare), block_(kBlockBytes + spare) {}

bool LineSource::fill() {
  std::copy(block_.begin() + static_cast<std::ptrdiff_t>(begin_), block_.begin() + static_cast<std::ptrdiff_t>(end_),
            block_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (end_ + spare_ == block_.size()) block_.resize(2 * end_ + spare_);  // one line fills all of it
  const std::size_t bytes = file_.read(std::span(block_).subspan(end_, block_.size() - spare_ - end_));
  end_ += bytes;
  return bytes > 0;
}

bool LineSource::next(Line& line) {
  if (!next_as_it_is(line)) return false;
  if (line.number == 1) {
    const std::string fault = fault_of_encoding(line.text);
    if (!fault.empty()) throw Error(ExitStatus::kNotJudged, fmt::format("{}: the file {}", name_, fault));
    const std::string_view text = without_byte_order_mark(line.text);
    line.capacity -= line.text.size() - text.size();
    line.text = text;
  }
  return true;
}

bool LineSource::next_as_it_is(Line& line) {
  std::size_t searched = 0;  // bytes of this line without a line end
  for (;;) {
    const char* text = block_.data() + begin_;
    const void* found = std::memchr(text + searched, '\n', end_ - begin_ - searched);
    if (found != nullptr) {
      const auto bytes = static_cast<std::size_t>(static_cast<const char*>(found) - text);
      line = {{text, bytes}, block_.size() - begin_, ++number_, true};
      begin_ += bytes + 1;
      return true;
    }
    searched = end_ - begin_;
    if (fill()) continue;
    if (searched == 0) return false;
    line = {{block_.data() + begin_, searched}, block_.size() - begin_, ++number_, false};
    begin_ = end_;
    return true;
  }
}

}  // namespace fabricbench::cluster
