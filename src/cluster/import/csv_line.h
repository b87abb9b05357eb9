#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {

/// The separator of a line's fields: comma, semicolon or tab, whichever is most frequent.
[[nodiscard]] char csv_separator(std::string_view line);

/// The fields of a line. One may stand in quotation marks, which are doubled within.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view line, char separator);

}  // namespace fabricbench::cluster
