#include "common/report/pair_rows.h"

#include <algorithm>
#include <utility>

namespace fabricbench {
namespace {

bool of_one_case(const Row& a, const Row& b) {
  return a.size == b.size && a.count == b.count && a.datatype == b.datatype && a.reduction == b.reduction &&
         a.root == b.root;
}

bool has_pair(const std::vector<Row>& rows, int pair) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.group == pair; });
}

void sort_by_pair(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.group < b.group; });
}

}  // namespace

std::vector<Row> PairRows::add(Row row) {
  row.out_of_place->samples = {};  // no table needs them, and there may be many
  auto rows = std::find_if(pending_.begin(), pending_.end(), [&](const std::vector<Row>& others) {
    return of_one_case(others.front(), row) && !has_pair(others, row.group);
  });
  if (rows == pending_.end()) rows = pending_.insert(rows, std::vector<Row>());
  rows->push_back(std::move(row));
  if (rows->size() < pairs_) return {};
  std::vector<Row> complete = std::move(*rows);
  pending_.erase(rows);
  sort_by_pair(complete);
  return complete;
}

std::vector<std::vector<Row>> PairRows::take_rest() {
  for (std::vector<Row>& rows : pending_) sort_by_pair(rows);
  return std::exchange(pending_, {});
}

}  // namespace fabricbench
