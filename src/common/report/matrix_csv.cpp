#include "common/report/matrix_csv.h"

#include <cmath>

#include <fmt/format.h>

#include "common/report/csv_fields.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

void MatrixCsvSink::begin(const Context& context) {
  names_ = endpoint_names(context);
  std::string line = "receiver";
  for (const std::string& name : names_) line += "," + csv_field(name);
  output_.write(line + "\n");
}

void MatrixCsvSink::matrix_row(const MatrixRow& row) {
  std::string line = csv_field(names_[static_cast<std::size_t>(row.receiver)]);
  for (const float bandwidth : row.bandwidths) {
    line += std::isnan(bandwidth) ? "," : fmt::format(",{:.6g}", double{bandwidth} / 1e9);
  }
  output_.write(line + "\n");
}

}  // namespace fabricbench
