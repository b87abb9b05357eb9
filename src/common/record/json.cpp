#include "common/record/json.h"

namespace fabricbench::record {

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace fabricbench::record
