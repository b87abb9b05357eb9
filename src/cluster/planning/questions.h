// What to measure for the questions that a verdict leaves open.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/planning/planner.h"
#include "cluster/planning/survey.h"
#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// By host, whether anything is held against it: a finding that names it, or a question about it alone. The two of a
/// slow pair are fine with everybody else.
[[nodiscard]] std::vector<std::uint8_t> suspects_of(const Verdict& verdict, std::size_t hosts);

/// The next round for the questions, without its number: suspected hosts first, each with a partner that it has met
/// least, which is no suspect itself where there are others, then pairs, each of them alone. So many pairs that the
/// rounds left would not do are first measured beside each other, without a host in common, and where leaves are known
/// without a leaf in common as long as that suffices. Where the round is `among_many`, others being measured in it
/// too, no pair is alone, and as many are measured as can be. No meetings where nothing more can be asked.
[[nodiscard]] PlannedRound round_for_questions(const Sweep& sweep, const Survey& survey, const Verdict& verdict,
                                               std::int64_t at_once, std::int64_t rounds_left, bool among_many);

/// Dead hosts with each other, where that is asked. No meetings where it is not.
[[nodiscard]] PlannedRound round_for_the_dead(const Sweep& sweep, const Survey& survey, const Verdict& verdict,
                                              std::int64_t at_once);

/// How many rounds the questions will take, about.
[[nodiscard]] std::int64_t rounds_for_questions(const Verdict& verdict, std::int64_t most);

/// Host and question in a few words each, as many as fit into a line.
[[nodiscard]] std::string text_of_questions(const Sweep& sweep, const std::vector<const Question*>& questions);

}  // namespace fabricbench::cluster
