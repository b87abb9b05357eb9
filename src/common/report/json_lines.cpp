#include "common/report/json_lines.h"

#include "common/record/json.h"

namespace fabricbench {
namespace {

using record::json_line;
using record::to_json;

template <typename Record>
void write(OutputFile& output, const Record& record) {
  output.write(json_line(to_json(record)));
}

/// One line per step.
void write(OutputFile& output, const ConnectRow& row) {
  for (const ConnectTimes& times : row.steps) output.write(json_line(to_json(ConnectionStep{row, times})));
}

/// The readings contain the matrix.
void write(OutputFile& /*output*/, const MatrixRow& /*row*/) {}

}  // namespace

void JsonLinesSink::begin(const Context& context) { write(output_, context); }

void JsonLinesSink::record(const AnyRecord& record) {
  record.visit([this](const auto& each) { write(output_, each); });
}

/// The end says that everything before it is there.
void JsonLinesSink::end(const Ending& ending) {
  output_.sync();
  write(output_, ending);
  output_.sync();
  output_.close();
}

/// Other ranks may soon end the job: the end does not wait for the storage.
void JsonLinesSink::abandon(const Ending& ending) {
  write(output_, ending);
  output_.close();
}

}  // namespace fabricbench
