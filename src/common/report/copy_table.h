#pragma once

#include <string>
#include <vector>

#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Prints copies: a row for each, GPU by GPU, and all other lines marked with `#`.
class CopyTableSink final : public Sink {
 public:
  explicit CopyTableSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;

 private:
  void add(const CopyRow& row);
  void note_status(const std::string& host, const CopyGpu& gpu, OutlierStatus status);
  [[nodiscard]] std::string odd_line() const;

  OutputFile output_;
  Context context_;
  std::vector<std::string> odd_;  // names of GPUs that are slower than others
  bool compared_ = false;
  bool undecided_ = false;
};

}  // namespace fabricbench
