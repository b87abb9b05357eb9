#include "common/engine/case_list.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

/// The options among `keys` that the user gave, as typed.
std::string given_of(const Options& options, const std::vector<std::string_view>& keys) {
  std::vector<std::string> names;
  for (const GivenOption& given : options.given) {
    if (std::find(keys.begin(), keys.end(), given.key) != keys.end()) names.push_back(given.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<Reduction> reductions_of(const Test& test, const Options& options) {
  return test.traits().reduces ? options.reductions : std::vector{Reduction::kNone};
}

std::vector<int> roots_of(const Test& test, const Options& options, int ranks) {
  if (!test.traits().has_root) return {-1};
  if (options.root != kAllRoots) return {options.root};
  std::vector<int> roots(static_cast<std::size_t>(ranks));
  std::iota(roots.begin(), roots.end(), 0);
  return roots;
}

/// Operations of one window. A stream's window is enlarged later, when the time of an operation is known.
std::int64_t first_window(const Test& test, const Options& options) {
  if (!test.windows()->are_stream()) return options.window;
  if (options.iterations) return *options.iterations;
  return 2 * depth_of(options.rdma, false) * options.rdma.queue_pairs;
}

bool is_empty(const Layout& layout) { return layout.send_count == 0 && layout.recv_count == 0; }

std::uint64_t largest(const Layout& layout) { return std::max(layout.send_count, layout.recv_count); }

/// The elements of a request after rounding, by group.
std::vector<std::uint64_t> rounded_in_each(const Test& test, Request request, const GroupSizes& groups) {
  std::vector<std::uint64_t> counts;
  for (const int ranks : groups.ranks) counts.push_back(largest(test.layout(request, ranks)));
  return counts;
}

/// Why a size has no element left for the ranks of some group; empty if every group has some.
std::string why_empty(const Test& test, Request request, const GroupSizes& groups) {
  for (const int ranks : groups.ranks) {
    if (!is_empty(test.layout(request, ranks))) continue;
    return fmt::format("{} ranks share it in parts of 16 bytes, which takes {} bytes at least", ranks, 16 * ranks);
  }
  return "";
}

}  // namespace

int GroupSizes::smallest() const { return *std::min_element(ranks.begin(), ranks.end()); }

GroupSizes group_sizes(const Team& team, int local_ranks) {
  GroupSizes sizes{{}, team.group_number()};
  for (int group = 0; group < team.groups(); ++group) {
    sizes.ranks.push_back(static_cast<int>(team.processes_of(group).size()) * local_ranks);
  }
  return sizes;
}

std::vector<UnusedOptions> unused_options(const TestTraits& traits) {
  std::vector<UnusedOptions> unused;
  if (!traits.moves_data) {
    unused.push_back({{"minbytes", "maxbytes", "stepbytes", "stepfactor", "datatype"},
                      fmt::format("a {} carries no data", traits.name)});
  }
  if (!traits.reduces) unused.push_back({{"op"}, fmt::format("{} reduces nothing", traits.name)});
  if (!traits.has_root) unused.push_back({{"root"}, fmt::format("{} has no root", traits.name)});
  return unused;
}

/// Says how sizes follow each other if the user may expect other ones.
void note_steps(const Test& test, const Options& options, std::vector<std::string>& notices) {
  const SizeRange& sizes = options.sizes;
  const bool has_step = options.has_given({"stepbytes"});
  const bool has_factor = options.has_given({"stepfactor"});
  if (has_step && sizes.step_factor > 1) {
    notices.push_back(fmt::format("Not used: {}, since {} gives a factor between sizes",
                                  given_of(options, {"stepbytes"}), given_of(options, {"stepfactor"})));
  }
  if (has_step && sizes.step_factor <= 1 && sizes.min_bytes == sizes.max_bytes) {
    notices.push_back(fmt::format("Not used: {}, since there is one size", given_of(options, {"stepbytes"})));
  }
  const bool may_expect_steps = test.traits().row_kind == RowKind::kCollective && !has_step && !has_factor;
  if (may_expect_steps && sizes.step_factor > 1 && sizes.max_bytes > sizes.min_bytes) {
    notices.push_back(fmt::format("Sizes double; for nccl-tests' steps of {} add -i {}",
                                  readable_bytes(sizes.step_bytes), exact_bytes(sizes.step_bytes)));
  }
}

void adapt_options(const Test& test, Options& options, std::vector<std::string>& notices) {
  const std::string& name = test.traits().name;
  for (const UnusedOptions& unused : unused_options(test.traits())) {
    const std::string given = given_of(options, unused.keys);
    if (!given.empty()) notices.push_back(fmt::format("Not used: {}, since {}", given, unused.why));
  }
  for (const GivenOption& given : options.given) {
    const std::string why = given.why_unused ? given.why_unused(options) : "";
    if (!why.empty()) notices.push_back(fmt::format("Not used: {}, since {}", given.name, why));
  }
  if (!test.traits().moves_data) {
    options.sizes = {0, 0, 0, 1};
    options.datatypes = {DataType::kFloat};
  } else {
    note_steps(test, options, notices);
  }
  if (!test.traits().has_root) options.root = 0;
  if (is_of_pairs(test.traits().row_kind)) {
    options.split = options.gpus > 1 ? "DIV 1" : "DIV 2";  // members are ordered pair by pair
    if (test.windows() != nullptr) options.aggregated = first_window(test, options);
    // The first rank times latencies and one-way windows, as in OSU and perftest.
    if (test.traits().row_kind != RowKind::kBothWays) options.average = RankAggregate::kRank0;
  }
  if (test.in_place({}, {})) return;
  if (options.placement == Placement::kIn) {
    throw UsageError(fmt::format("{} has no in-place form; leave out --placement in", name));
  }
  options.placement = Placement::kOut;
}

std::vector<Combination> list_combinations(const Test& test, const Options& options, const Session& session, int ranks,
                                           std::vector<std::string>& notices) {
  std::vector<Combination> combinations;
  std::vector<std::string> reasons;
  for (const DataType type : options.datatypes) {
    for (const Reduction reduction : reductions_of(test, options)) {
      const std::string why_not = session.why_not(type, reduction);
      if (why_not.empty()) {
        for (const int root : roots_of(test, options, ranks)) combinations.push_back({type, reduction, root});
      } else if (std::find(reasons.begin(), reasons.end(), why_not) == reasons.end()) {
        reasons.push_back(why_not);
      }
    }
  }
  if (combinations.empty()) {
    throw Error(ExitStatus::kMissing,
                fmt::format("{}; choose another with --datatype or --op", fmt::join(reasons, "; ")));
  }
  for (const std::string& reason : reasons) notices.push_back(fmt::format("Left out: {}", reason));
  return combinations;
}

CaseList list_cases(const Test& test, const Sessions& sessions, const Options& options, const GroupSizes& groups,
                    const Combination& which) {
  CaseList list;
  std::vector<std::uint64_t> last;
  const std::size_t element = facts(which.datatype).size;
  for (const Bytes size : list_sizes(options.sizes, element).sizes) {
    const Request request{size / element, element};
    std::string why = size > 0 ? why_empty(test, request, groups) : "";
    if (why.empty()) why = sessions.why_not_size(size);
    if (why.empty()) why = test.why_not_size(size);
    if (!why.empty()) {
      Row row;
      row.size = size;
      row.datatype = which.datatype;
      row.reduction = which.reduction;
      row.root = which.root;
      row.skipped = why;
      row.finished = std::time(nullptr);
      list.skipped.push_back(std::move(row));
      continue;
    }
    std::vector<std::uint64_t> rounded = rounded_in_each(test, request, groups);
    if (rounded == last) continue;  // in every group the same elements as the size before
    last = std::move(rounded);
    const Layout layout = test.layout(request, groups.ranks[static_cast<std::size_t>(groups.own)]);
    const Bytes bytes = largest(layout) * element;
    for (const bool in_place : {false, true}) {
      if (options.placement != (in_place ? Placement::kOut : Placement::kIn)) {
        list.cases.push_back({bytes, layout, which.datatype, which.reduction, which.root, in_place});
      }
    }
  }
  return list;
}

}  // namespace fabricbench
