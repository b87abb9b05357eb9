// Judges jobs of programs: how they ended, whether their figures are whole, and which network devices carried their
// data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/acceptance/run_folder.h"

namespace fabricbench::acceptance {

/// A job that has ended.
struct EndedJob {
  std::string program;
  std::vector<std::string> hosts;
  int status = 0;
  int limit_s = 0;
  std::string output;
  std::string errors;
};

/// How it ended, what its rows say, and the lines of its records to keep.
struct JudgedJob {
  Judged judged;
  std::string kept;
};
[[nodiscard]] JudgedJob judge_job(const EndedJob& job);

/// Hosts whose data went over other network devices than those of most others, by host; and a difference of which no
/// host is the exception.
struct UnusualNics {
  std::map<std::string, std::string> of_hosts;
  std::string split;
};
/// By all collectives between hosts.
[[nodiscard]] UnusualNics unusual_nics(const RunFolder& folder);

}  // namespace fabricbench::acceptance
