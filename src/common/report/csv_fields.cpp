#include "common/report/csv_fields.h"

namespace fabricbench {

std::string csv_us(const std::optional<Seconds>& time) { return time ? fmt::format("{:.6g}", *time * 1e6) : ""; }

std::string csv_gb_per_s(double bytes_per_s) { return bytes_per_s > 0 ? fmt::format("{:.6g}", bytes_per_s / 1e9) : ""; }

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

}  // namespace fabricbench
