#pragma once

#include <string>
#include <vector>

#include "common/record/text_table.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Prints copies: a row for each, GPU by GPU, and all other lines marked with `#`.
class CopyTableSink final : public Sink {
 public:
  explicit CopyTableSink(OutputFile output);

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  void add(const CopyRow& row);
  void note_status(const std::string& host, const CopyGpu& gpu, OutlierStatus status);
  [[nodiscard]] std::string odd_line() const;

  OutputFile output_;
  record::TextTable table_;
  Context context_;
  std::vector<std::string> odd_;  // names of GPUs that are slower than others
  bool is_cut_short_ = false;
  bool compared_ = false;
  bool undecided_ = false;
};

}  // namespace fabricbench
