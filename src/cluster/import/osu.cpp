#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cluster/import/rate_units.h"
#include "cluster/import/readers.h"
#include "cluster/import/size_rows.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

/// The program by its title, `# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.4`; empty where it is another one.
std::string osu_test_of(std::string_view title) {
  if (has(title, "Bi-Directional Bandwidth Test")) return "osu_bibw";
  const bool several_pairs = has(title, "Multiple Bandwidth");
  return has(title, " Bandwidth Test") && !several_pairs ? "osu_bw" : "";
}

/// `# Size      Bandwidth (MB/s)`: the unit has to be the one that is expected.
void check_unit(const ImportSource& source, const TextLines& lines) {
  if (has(lines.line(), "(MB/s)") || has(lines.line(), " MB/s")) return;
  throw UsageError(fmt::format("{}:{}: '{}' does not name MB/s as the unit; make a CSV of it, and give --unit",
                               source.path, lines.number(), one_line(lines.line())));
}

class OsuReader {
 public:
  explicit OsuReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) take(lines);
    if (other_test_) return std::move(found_);
    add_pair_log(found_, source_, log_);
    return std::move(found_);
  }

 private:
  void take(const TextLines& lines) {
    const std::string_view line = trimmed(without_label(lines.line()));
    if (line.starts_with("# OSU ")) {
      log_.test = osu_test_of(line);
      log_.both_ways = log_.test == "osu_bibw";
      other_test_ = log_.test.empty();
      if (other_test_) found_.note(lines.number(), fmt::format("'{}' is neither osu_bw nor osu_bibw", one_line(line)));
    } else if (line.starts_with("# Size") && lines.is_whole() && !other_test_) {
      check_unit(source_, lines);
      in_table_ = true;
    } else if (in_table_ && !line.starts_with('#')) {
      take_row(lines, words_of(line));
    }
  }

  void take_row(const TextLines& lines, const std::vector<std::string_view>& words) {
    const auto size = words.empty() ? std::nullopt : integer_in(words[0]);
    if (!size) return;  // what the launcher says
    const auto rate = words.size() < 2 ? std::nullopt : number_in(words[1]);
    if (!rate) {
      found_.note(lines.number(), "a row of the table has no bandwidth, and is left out");
      return;
    }
    const bool wrong = words.back() == "Fail";
    log_.add_row({*size, lines.number(), *rate * kMegabyte, wrong ? "the data was wrong" : ""}, lines.end());
  }

  const ImportSource& source_;
  Imported found_;
  PairLog log_;
  bool in_table_ = false;
  bool other_test_ = false;
};

}  // namespace

Imported read_osu(const ImportSource& source) { return OsuReader(source).read(); }

}  // namespace fabricbench::cluster
