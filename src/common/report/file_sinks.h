#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/record/columns.h"
#include "common/record/json.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Writes the matrix of a sweep over pairs as CSV (RFC 4180): a header with the senders' names, then a line per
/// receiver with its name and the bandwidth from each sender in GB/s. A field is empty if nothing was measured, and 0
/// if the measurement failed.
class MatrixCsvSink final : public Sink {
 public:
  explicit MatrixCsvSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& /*ending*/) override {
    output_.sync();
    output_.close();
  }
  void abandon(const Ending& /*ending*/) override { output_.close(); }

 private:
  OutputFile output_;
  std::vector<std::string> names_;  // of the endpoints
};

/// Writes comma-separated values (RFC 4180): a header, then one line for each row and placement, copy, or reading. Each
/// line names the run. A missing figure is an empty field.
class CsvSink final : public Sink {
 public:
  explicit CsvSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& /*ending*/) override {
    output_.sync();
    output_.close();
  }
  void abandon(const Ending& /*ending*/) override { output_.close(); }

 private:
  void add(const Row& row);
  void add(record::Json record);

  OutputFile output_;
  record::Json run_;  // facts of the run, for every line
  std::vector<std::int64_t> ranks_of_groups_;
  bool of_messages_ = false;  // which have no reduction, root or placement
  std::vector<std::string> hosts_of_groups_;
  std::optional<record::CsvTable> table_;
};

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
