// Rules and files of pairs: the rule is the first line, and the rest the file.

#include "common/core/pairs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_pairs(std::string_view input) {
  static const std::vector<std::string> hosts = {"a", "a", "b", "b", "b", "c", "fe80::1", "d"};  // of each rank
  const std::string_view rule = input.substr(0, input.find('\n'));
  fuzz::tolerate(
      [&] { static_cast<void>(choose_pairs(rule, hosts, input.substr(std::min(rule.size() + 1, input.size())))); });
}
