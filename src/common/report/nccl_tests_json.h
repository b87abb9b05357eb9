#pragma once

#include <memory>

#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Writes the JSON file of nccl-tests' -J, layout version 3, for programs that read that layout. The file is one
/// document, written at the end of the run. The environment is filtered by a whitelist: nccl-tests writes all of it,
/// including secrets.
class NcclTestsJsonSink final : public Sink {
 public:
  explicit NcclTestsJsonSink(OutputFile output);
  ~NcclTestsJsonSink() override;

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  void add(const Row& row);
  void write(const Ending& ending);
  struct Document;

  OutputFile output_;
  std::unique_ptr<Document> document_;
};

}  // namespace fabricbench
