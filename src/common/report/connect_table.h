#pragma once

#include "common/record/text_table.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Prints connections: a row for each pair and step, and all other lines marked with `#`.
class ConnectTableSink final : public Sink {
 public:
  explicit ConnectTableSink(OutputFile output);

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  OutputFile output_;
  record::TextTable table_;
  Context context_;
};

}  // namespace fabricbench
