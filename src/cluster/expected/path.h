// The paths between the hosts of a job.
#pragma once

#include <map>
#include <string_view>

#include "cluster/expected/link_rate.h"
#include "common/record/context.h"

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

}  // namespace fabricbench::expected
