// A run beside what its links allow.
#pragma once

#include <vector>

#include "cluster/baseline/identity.h"
#include "cluster/expected/measured_row.h"
#include "common/record/expected.h"

namespace fabricbench::expected {

struct ExpectationSettings {
  double required = 0;   ///< share of the expected bus bandwidth that the best row of each series has to reach; 0: none
  double line_rate = 0;  ///< of each NIC in bytes per second; 0: as the system reports
};

/// `bytes`: what the NICs of each host moved during these rows. Rows of different sizes that are otherwise alike are a
/// series.
[[nodiscard]] Expectation expect(const Context& context, const std::vector<MeasuredRow>& rows,
                                 const baseline::DeviceBytes& bytes, const ExpectationSettings& settings);

/// For the end of the run, a line each: all rows if something is required.
[[nodiscard]] std::vector<std::string> lines_of(const Expectation& expectation);

/// A warning about rows that are faster than their links, if there are any; else nothing.
[[nodiscard]] std::vector<std::string> warnings_of(const Expectation& expectation);

}  // namespace fabricbench::expected
