#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/core/units.h"

namespace fabricbench {

/// Fields of CSV: six digits, and an empty field where there is no figure.
[[nodiscard]] std::string csv_us(const std::optional<Seconds>& time);
[[nodiscard]] std::string csv_gb_per_s(double bytes_per_s);

template <typename Count>
[[nodiscard]] std::string csv_count(const std::optional<Count>& value) {
  return value ? fmt::to_string(*value) : "";
}

/// A field of RFC 4180: quoted where its text would otherwise be read as more than one.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace fabricbench
