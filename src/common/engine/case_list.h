#pragma once

#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/engine/sessions.h"
#include "common/measure/bench.h"
#include "common/measure/test.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// A datatype, a reduction and a root, which are measured at all sizes.
struct Combination {
  DataType datatype = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  int root = -1;
};

/// The number of ranks in each group, and the number of this process's group.
struct GroupSizes {
  std::vector<int> ranks;
  int own = 0;

  [[nodiscard]] int smallest() const;
};
[[nodiscard]] GroupSizes group_sizes(const Team& team, int local_ranks);

/// Options that nccl-tests has for every collective and one of them has no use for.
struct UnusedOptions {
  std::vector<std::string_view> keys;
  std::string why;
};
[[nodiscard]] std::vector<UnusedOptions> unused_options(const TestTraits& traits);

/// Adapts the options to the test: no sizes if it carries no data, one placement if it has no in-place form. Adds a
/// notice for each option that has no effect. Throws UsageError if nothing is left to measure.
void adapt_options(const Test& test, Options& options, std::vector<std::string>& notices);

/// The datatypes, reductions and roots to run, in nccl-tests' order. Adds a notice for each combination that the
/// session does not support. Throws Error (missing) if it supports none.
[[nodiscard]] std::vector<Combination> list_combinations(const Test& test, const Options& options,
                                                         const Session& session, int ranks,
                                                         std::vector<std::string>& notices);

/// `sessions` decides which sizes it can carry.
[[nodiscard]] CaseList list_cases(const Test& test, const Sessions& sessions, const Options& options,
                                  const GroupSizes& groups, const Combination& which);

}  // namespace fabricbench
