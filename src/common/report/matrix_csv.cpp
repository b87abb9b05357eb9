#include "common/report/matrix_csv.h"

#include <cmath>

#include <fmt/format.h>

#include "common/record/csv.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

using record::csv_text;

void MatrixCsvSink::begin(const Context& context) {
  names_ = endpoint_names(context);
  std::string line = "receiver";
  for (const std::string& name : names_) line += "," + csv_text(name);
  output_.write(line + "\n");
}

void MatrixCsvSink::record(const AnyRecord& record) {
  const auto* row = record.as<MatrixRow>();
  if (row == nullptr) return;
  std::string line = csv_text(names_[static_cast<std::size_t>(row->receiver)]);
  for (const float bandwidth : row->bandwidths) {
    line += std::isnan(bandwidth) ? "," : fmt::format(",{:.6g}", double{bandwidth} / 1e9);
  }
  output_.write(line + "\n");
}

}  // namespace fabricbench
