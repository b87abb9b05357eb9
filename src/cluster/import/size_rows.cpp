#include "cluster/import/size_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "cluster/import/failure.h"
#include "cluster/import/pair_name.h"

namespace fabricbench::cluster {

void add_pair_log(Imported& found, const ImportSource& source, const PairLog& log) {
  auto pair = pair_in_name(source.path);
  if (!pair) {
    found.note(0, fmt::format("its name does not contain the pair; {}", kHowToName));
    return;
  }
  if (log.backwards) std::swap(pair->from, pair->to);
  const auto by_size = [](const SizeRow& a, const SizeRow& b) { return a.size_bytes < b.size_bytes; };
  const auto largest = std::max_element(log.rows.begin(), log.rows.end(), by_size);
  Reading reading =
      found.between(pair->from, pair->to, {log.test, log.rows.empty() ? ImportedKind::kNoSize : largest->size_bytes});
  reading.both_ways = log.both_ways;
  if (log.rows.empty()) {
    found.by_name_only = log.test.empty();
    found.add_failed(reading, why_it_failed(source.text));
    return;
  }
  if (std::string end = how_it_broke_off(source.text.substr(log.behind_rows)); !end.empty()) {
    found.add_failed(reading, std::move(end));
    return;
  }
  for (const SizeRow& row : log.rows) {
    if (row.size_bytes != largest->size_bytes) {
      ++found.smaller_sizes;
    } else if (row.reason.empty()) {
      found.add(reading, row.rate, row.line);
    } else {
      found.add_failed(reading, row.reason);
    }
  }
}

}  // namespace fabricbench::cluster
