// judge_fabric [fabric|counters|slurm] FILE...: prints what is wrong in saved texts of ibnetdiscover or ibqueryerrors,
// a line each, or the locality of Slurm's topology. For tests and bench/fabric.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "cluster/fabric/counters.h"
#include "cluster/fabric/discover_text.h"
#include "cluster/fabric/findings.h"
#include "cluster/fabric/locality.h"
#include "cluster/fabric/shape.h"

namespace {

using namespace fabricbench::fabric;  // NOLINT(google-build-using-namespace): a program of one page

void judge_fabric(const std::string& text, const std::string& path) {
  const Fabric fabric = read_discovered(text, path);
  const Shape shape = shape_of(fabric);
  fmt::print("{}: {} nodes, {} cables, {} leaves, {} and {} switches above, {}\n", path, fabric.nodes.size(),
             fabric.cables.size(), shape.count_of_tier(1), shape.count_of_tier(2), shape.count_of_tier(3),
             shape.is_rail_aligned ? "rail-aligned" : "no rails");
  for (const Finding& finding : findings_of(fabric, shape)) {
    fmt::print("{}{}\n", finding.level == FindingLevel::kNote ? "note: " : "warn: ", line_of(finding));
  }
}

void judge_counters(const std::string& text, const std::string& path) {
  for (const CounterFinding& finding : counter_findings(read_counters(text, path))) {
    const bool is_cable = finding.kind == CounterKind::kPhysical;
    fmt::print("{}: {} port {}: {}\n", is_cable ? "warn" : "note", finding.node, finding.port, finding.text);
  }
}

void judge(const std::string& what, const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (what == "counters") return judge_counters(text, path);
  if (what == "slurm") return fmt::print("{}", text_of(read_slurm_topology(text, path)));
  judge_fabric(text, path);
}

}  // namespace

int main(int count, char** arguments) {
  int status = 0;
  const std::string what = count > 1 ? arguments[1] : "";
  const bool is_said = what == "fabric" || what == "counters" || what == "slurm";
  for (int i = is_said ? 2 : 1; i < count; ++i) {
    try {
      judge(what, arguments[i]);
    } catch (const std::exception& error) {
      fmt::print("error: {}\n", error.what());
      status = 1;
    }
  }
  return status;
}
