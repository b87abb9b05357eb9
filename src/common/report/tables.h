// The tables that people read, each a sink: one for each kind of program, and perftest's for programs that read that.
#pragma once

#include <memory>

#include "common/core/options.h"
#include "common/record/context.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// The table that people read, of a run with this figure. `colour`: whether a sweep's map has colours.
[[nodiscard]] std::unique_ptr<Sink> make_table(RowKind row_kind, const Options& options, OutputFile output,
                                               bool colour);

}  // namespace fabricbench
