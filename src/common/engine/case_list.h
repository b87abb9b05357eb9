#pragma once

#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/engine/sessions.h"
#include "common/measure/operation.h"
#include "common/measure/test.h"
#include "common/ranks/team.h"
#include "common/record/row.h"

namespace fabricbench {

/// One run of the sizes.
struct Combination {
  DataType datatype = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  int root = -1;
};

/// How many ranks each group has, and which group is this process's.
struct GroupSizes {
  std::vector<int> ranks;
  int own = 0;

  [[nodiscard]] int smallest() const;
};
[[nodiscard]] GroupSizes group_sizes(const Team& team, int local_ranks);

/// What a run measures of one combination. Every group has as many cases.
struct CaseList {
  std::vector<Case> cases;
  std::vector<Row> skipped;  ///< sizes of which nothing is left for some group, and why
};

/// Changes the options to what the collective can use: no sizes where it carries no data, one placement where it has
/// no other. Adds a notice for what was given in vain. Throws UsageError where nothing is left.
void adapt_options(const Test& test, Options& options, std::vector<std::string>& notices);

/// The datatypes, reductions and roots to run, in nccl-tests' order. Adds a notice for what `all` leaves out. Throws
/// Error (missing) where the session cannot do what was asked for.
[[nodiscard]] std::vector<Combination> list_combinations(const Test& test, const Options& options,
                                                         const Session& session, int ranks,
                                                         std::vector<std::string>& notices);

/// `sessions` may carry some sizes and others not.
[[nodiscard]] CaseList list_cases(const Test& test, const Sessions& sessions, const Options& options,
                                  const GroupSizes& groups, const Combination& which);

}  // namespace fabricbench
