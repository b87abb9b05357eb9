#include "common/options/option.h"

#include <algorithm>
#include <initializer_list>

namespace fabricbench {

std::string Option::long_name() const {
  const std::size_t start = names.find("--");
  return names.substr(start, names.find(',', start) - start);
}

std::string Option::first_name() const { return names.substr(0, names.find(',')); }

std::string Option::key() const {
  std::string key = long_name().substr(2);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

OptionSet join(std::initializer_list<OptionSet> sets) {
  OptionSet all;
  for (const OptionSet& set : sets) all.insert(all.end(), set.begin(), set.end());
  return all;
}

OptionSet by_long_names(OptionSet set) {
  for (Option& option : set) {
    const std::string first = option.first_name();
    if (first != "-n" && !first.starts_with("--")) option.names.erase(0, option.names.find("--"));
  }
  return set;
}

}  // namespace fabricbench
