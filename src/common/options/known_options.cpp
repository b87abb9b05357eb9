#include "common/options/known_options.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "common/core/error.h"
#include "common/options/option_sets.h"
#include "common/options/verbs_programs.h"

namespace fabricbench {
namespace {

/// The options of programs that together have every one, in every form, by key.
std::multimap<std::string, Option, std::less<>> options_of_all_programs() {
  std::vector<Program> programs = one_program_of_each_kind();
  programs.push_back(collective_program("alltoallv_perf", "", option_sets::traffic()));
  for (const Verb verb : {Verb::kRead, Verb::kSend, Verb::kAtomic}) {
    programs.push_back(verbs_program("", "", {.verb = verb}));
  }
  programs.push_back(verbs_program("gpudirect_rdma_lat", "", {.latency = true, .seen_by = true}));
  std::multimap<std::string, Option, std::less<>> options;
  for (const Program& program : programs) {
    for (const Option& option : program.options) options.emplace(option.key(), option);
  }
  return options;
}

/// Calls `take` with every option of this key, until it returns true.
template <typename Take>
bool any_with_key(std::string_view key, const Take& take) {
  static const std::multimap<std::string, Option, std::less<>> options = options_of_all_programs();
  const auto [first, last] = options.equal_range(key);
  return std::any_of(first, last, [&](const auto& each) { return take(each.second); });
}

}  // namespace

std::vector<Program> one_program_of_each_kind() {
  return {collective_program("all_reduce_perf", ""), message_program("send_recv_bw", "", true),
          tcp_program("tcp_bw", "", true),           verbs_program("rdma_write_bw", "", {}),
          connection_program("rdma_cm_connect", ""), sweep_program("pairwise_bw", ""),
          copy_program("gpu_copy_bw", ""),           preflight_program("preflight", "")};
}

bool is_comparable(std::string_view key) {
  return any_with_key(key, [](const Option& option) { return option.comparable; });
}

void set_if_it_shapes_tables(std::string_view key, std::string_view value, Options& options) {
  any_with_key(key, [&](const Option& option) {
    if (!option.shapes_tables) return false;
    try {
      option.set(options, value);
      return true;
    } catch (const UsageError&) {
      return false;
    }
  });
}

}  // namespace fabricbench
