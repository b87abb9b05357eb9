// A run beside what its links allow.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "cluster/baseline/identity.h"
#include "cluster/expected/link_rate.h"
#include "cluster/expected/preset.h"
#include "common/record/context.h"
#include "common/record/expected.h"

namespace fabricbench::expected {

/// How far messages go between the hosts of a job.
class Paths {
 public:
  /// `context` is kept by reference.
  explicit Paths(const Context& context);

  /// The switches on the longest path between two hosts of a group, from what the scheduler knows of them; 0: unknown.
  [[nodiscard]] int most_switches(const GroupFacts& group) const;

  /// The time of the short messages that one operation of a group has to wait for, one after the other, if nothing
  /// delays them: log2(h) of them between h hosts, of which one takes the longest path and the others pass one switch.
  /// Where the switches are unknown, one is counted. 0: unknown, or several operations were under way at the same time.
  /// Source: Chan et al., Collective communication: theory, practice, and experience (2007), for their number.
  [[nodiscard]] Seconds path_latency(const GroupFacts& group, const Latency& latency) const;

 private:
  const Context& context_;
  std::map<std::string_view, std::string_view> switches_of_;  // by host
};

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
