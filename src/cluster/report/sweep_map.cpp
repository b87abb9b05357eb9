#include "cluster/report/sweep_map.h"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "cluster/report/map_layout.h"
#include "cluster/report/share_matrix.h"
#include "common/core/heat_map.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kMostDrawnHosts = 64;

std::vector<MatrixRow> rows_of(const ShareMatrix& matrix) {
  std::vector<MatrixRow> rows;
  for (std::size_t receiver = 0; receiver < matrix.hosts; ++receiver) {
    MatrixRow row{static_cast<int>(receiver), {}};
    for (std::size_t sender = 0; sender < matrix.hosts; ++sender) {
      row.bandwidths.push_back(static_cast<float>(matrix.at(receiver, sender) * matrix.usual));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour) {
  if (sweep.hosts.size() > kMostDrawnHosts) {
    return fmt::format("# Map: not drawn for more than {} hosts; fabricbench report draws them\n", kMostDrawnHosts);
  }
  const ShareMatrix matrix = share_matrix(sweep, verdict);
  if (matrix.usual <= 0) return "# Map: there is no figure to draw\n";
  const std::vector<MatrixRow> rows = rows_of(matrix);
  const HeatMap map = {sweep.hosts, rows, matrix.usual, colour, map_layout(sweep, verdict), "usual"};
  std::string text = "# Map: a line for each receiving host, a column for each sending host\n";
  for (const std::string& line : matrix.left_out) text += fmt::format("# Not in the map: {}\n", line);
  return text + "#\n" + heat_map_lines(map) + "#\n" + heat_legend_lines(map);
}

}  // namespace fabricbench::cluster
