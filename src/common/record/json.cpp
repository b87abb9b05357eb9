#include "common/record/json.h"

#include <utility>

#include "common/record/row.h"

namespace fabricbench::record {

std::vector<Json> placements(const Row& row) {
  Json of_row = to_json(row);
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

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace fabricbench::record
