#include "cluster/tools/line_source.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{4} << 20;

}  // namespace

bool is_blank(const Line& line) { return line.text.find_first_not_of(" \t\r") == std::string_view::npos; }

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
