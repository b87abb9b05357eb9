// Logs of other tools, each kind of which reads every input.

#include "cluster/import/import.h"

#include "readers.h"
#include "support.h"

using namespace fabricbench;

void fuzz::read_imports(std::string_view input) {
  using enum cluster::ImportKind;
  static_cast<void>(cluster::recognise(input));
  for (const cluster::ImportKind kind :
       {kNcclTests, kOsu, kPerftest, kIperf3, kIperf2, kImb, kMpiGraph, kHp2p, kClusterKit, kCsv}) {
    fuzz::tolerate([&] { static_cast<void>(cluster::import_results(kind, {"node01-node02.log", input, 0})); });
  }
}
