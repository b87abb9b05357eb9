#pragma once

#include <memory>
#include <utility>

#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Writes one JSON object per line: context, records and end, each with its `kind`. Each line is written whole and
/// flushed, so the file is always valid. docs/output.md documents every key, and docs/output.schema.json is their
/// schema.
class JsonLinesSink final : public Sink {
 public:
  explicit JsonLinesSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  OutputFile output_;
};

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
