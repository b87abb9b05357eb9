#include "common/options/known_options.h"

#include <algorithm>

#include "common/core/error.h"
#include "common/options/option_sets.h"
#include "common/options/verbs_programs.h"

namespace fabricbench {
namespace {

/// Programs that together have every option, in every form.
const std::vector<Program>& programs_with_all_options() {
  static const std::vector<Program> programs = [] {
    std::vector<Program> all = one_program_of_each_kind();
    all.push_back(collective_program("alltoallv_perf", "", option_sets::traffic()));
    for (const Verb verb : {Verb::kRead, Verb::kSend, Verb::kAtomic})
      all.push_back(verbs_program("", "", {.verb = verb}));
    all.push_back(verbs_program("gpudirect_rdma_lat", "", {.latency = true, .seen_by = true}));
    return all;
  }();
  return programs;
}

/// Calls `take` with every option of this key, until it returns true.
template <typename Take>
bool any_with_key(std::string_view key, const Take& take) {
  const std::vector<Program>& programs = programs_with_all_options();
  return std::any_of(programs.begin(), programs.end(), [&](const Program& program) {
    return std::any_of(program.options.begin(), program.options.end(),
                       [&](const Option& option) { return option.key() == key && take(option); });
  });
}

}  // namespace

std::vector<Program> one_program_of_each_kind() {
  return {collective_program("all_reduce_perf", ""),
          message_program("send_recv_bw", "", true),
          tcp_program("tcp_bw", "", true),
          verbs_program("rdma_write_bw", "", {}),
          connection_program("rdma_cm_connect", ""),
          sweep_program("pairwise_bw", ""),
          copy_program("gpu_copy_bw", "")};
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
