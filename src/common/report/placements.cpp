#include "common/report/placements.h"

#include <utility>

namespace fabricbench {

using record::Json;

std::vector<Json> placements(const Row& row) {
  Json of_row = record::to_json(row);
  Json out_of_place = std::exchange(of_row["out_of_place"], nullptr);
  Json in_place = std::exchange(of_row["in_place"], nullptr);
  std::vector<Json> measurements;
  for (auto& [measured, placement] : {std::pair(&out_of_place, "out"), std::pair(&in_place, "in")}) {
    if (measured->is_null()) continue;
    (*measured)["row"] = of_row;
    (*measured)["placement"] = placement;
    measurements.push_back(std::move(*measured));
  }
  return measurements;
}

}  // namespace fabricbench
