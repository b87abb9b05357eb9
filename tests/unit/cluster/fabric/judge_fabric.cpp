// judge_fabric FILE...: prints what is wrong in saved ibnetdiscover texts, a line each. For tests and bench/fabric.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "cluster/fabric/discover_text.h"
#include "cluster/fabric/findings.h"
#include "cluster/fabric/shape.h"

namespace {

using namespace fabricbench::fabric;  // NOLINT(google-build-using-namespace): a program of one page

void judge(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Fabric fabric = read_discovered(text, path);
  const Shape shape = shape_of(fabric);
  fmt::print("{}: {} nodes, {} cables, {} leaves, {} and {} switches above, {}\n", path, fabric.nodes.size(),
             fabric.cables.size(), shape.count_of_tier(1), shape.count_of_tier(2), shape.count_of_tier(3),
             shape.is_rail_aligned ? "rail-aligned" : "no rails");
  for (const Finding& finding : findings_of(fabric, shape)) {
    fmt::print("{}{}\n", finding.is_note ? "note: " : "warn: ", line_of(finding));
  }
}

}  // namespace

int main(int count, char** arguments) {
  int status = 0;
  for (int i = 1; i < count; ++i) {
    try {
      judge(arguments[i]);
    } catch (const std::exception& error) {
      fmt::print("error: {}\n", error.what());
      status = 1;
    }
  }
  return status;
}
