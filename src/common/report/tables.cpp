#include "common/report/tables.h"

#include <utility>

#include "common/report/connect_table.h"
#include "common/report/copy_table.h"
#include "common/report/pair_table.h"
#include "common/report/perftest_table.h"
#include "common/report/sweep_table.h"
#include "common/report/table.h"

namespace fabricbench {

std::unique_ptr<Sink> make_table(Figure figure, const Options& options, OutputFile output, bool colour) {
  if (figure == Figure::kCollective) return std::make_unique<TableSink>(std::move(output));
  if (figure == Figure::kSweep) return std::make_unique<SweepTableSink>(std::move(output), colour);
  if (figure == Figure::kCopies) return std::make_unique<CopyTableSink>(std::move(output));
  if (figure == Figure::kConnections) return std::make_unique<ConnectTableSink>(std::move(output));
  if (options.rdma.perftest_table) return std::make_unique<PerftestTableSink>(std::move(output));
  return std::make_unique<PairTableSink>(std::move(output));
}

}  // namespace fabricbench
