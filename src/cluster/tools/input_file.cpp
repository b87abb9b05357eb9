#include "cluster/tools/input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

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

}  // namespace fabricbench::cluster
