#include "cluster/pairs/name_index.h"

#include <utility>

namespace fabricbench::cluster {

std::int32_t NameIndex::number_of(std::string_view name) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::int32_t>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(name, number);
  return number;
}

std::vector<std::string> NameIndex::take() {
  numbers_.clear();
  return std::exchange(names_, {});
}

}  // namespace fabricbench::cluster
