#pragma once

#include <optional>
#include <string_view>

namespace fabricbench::cluster {

/// A line of iperf 2 or 3, `[SUM][TX-C]  0.00-10.00  sec  11.0 GBytes  9.42 Gbits/sec  0  sender`.
struct IperfRow {
  std::string_view stream;  ///< `5`, `*5` or `SUM`
  std::string_view role;    ///< `TX-C`; mostly empty
  double begin_s = 0;
  double end_s = 0;
  double rate = 0;        ///< bytes per second: bits are in powers of 1000, bytes in powers of 1024
  std::string_view rest;  ///< behind the rate
};

/// Nothing where the line is none.
[[nodiscard]] std::optional<IperfRow> iperf_row_in(std::string_view line);

}  // namespace fabricbench::cluster
